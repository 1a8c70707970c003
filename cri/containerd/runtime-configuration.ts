// What containerd says of its configuration: CRI's own answer where there is one (containerd 2), else what the verbose status
// shows, which has one form for files of versions 2 and 3. Other runtimes show other forms, or nothing.
import type { RuntimeConfiguration } from "../runtime-features.ts";
import { RuntimeError } from "../runtime.ts";
import type * as cri from "./cri-v1-types.ts";
import type { Connection } from "./connection.ts";

type Fields = Readonly<Record<string, unknown>>;

/** CRI's numbers. */
const drivers = ["systemd", "cgroupfs"] as const;

const fields = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

function shown({ info }: Pick<cri.StatusResponse, "info">): Fields {
  try {
    return fields(JSON.parse(info["config"] ?? "{}"));
  } catch {
    return {};
  }
}

/** Of the handler that pods without a RuntimeClass get. */
function shownDriver(config: Fields): RuntimeConfiguration["cgroupDriver"] {
  const { defaultRuntimeName, runtimes } = fields(config["containerd"]);
  const handler = fields(runtimes)[text(defaultRuntimeName) ?? "runc"];
  const { SystemdCgroup } = fields(fields(handler)["options"]);
  if (typeof SystemdCgroup !== "boolean") return undefined;
  return SystemdCgroup ? "systemd" : "cgroupfs";
}

/** undefined: the runtime does not know the call. */
async function answeredDriver(
  connection: Connection,
): Promise<RuntimeConfiguration["cgroupDriver"]> {
  try {
    const { linux } = await connection.call("RuntimeConfig", {});
    return linux && drivers[linux.cgroup_driver];
  } catch (error) {
    if (error instanceof RuntimeError && error.code === "unsupported")
      return undefined;
    throw error;
  }
}

/** The image that sandboxes run, where containerd says so (before 2.0). */
export async function sandboxImageName(
  connection: Connection,
): Promise<string | undefined> {
  const status = await connection.call("Status", { verbose: true });
  return text(shown(status)["sandboxImage"]);
}

export async function runtimeConfiguration(
  connection: Connection,
): Promise<RuntimeConfiguration> {
  const [answered, status] = await Promise.all([
    answeredDriver(connection),
    connection.call("Status", { verbose: true }),
  ]);
  const config = shown(status);
  const { confDir, binDir, binDirs } = fields(config["cni"]);
  const cgroupDriver = answered ?? shownDriver(config);
  const cdi = config["enableCDI"];
  const networkDirectory = text(confDir);
  // A file of version 2 names one directory, which containerd 2.1 and later still take in the place of the list.
  const named = (
    Array.isArray(binDirs) && binDirs.length > 0 ? binDirs : [binDir]
  ).flatMap((each) => text(each) ?? []);
  return {
    ...(cgroupDriver === undefined ? {} : { cgroupDriver }),
    ...(typeof cdi === "boolean" ? { cdi } : {}),
    ...(networkDirectory === undefined ? {} : { networkDirectory }),
    ...(named.length > 0 ? { networkPluginDirectories: named } : {}),
  };
}
