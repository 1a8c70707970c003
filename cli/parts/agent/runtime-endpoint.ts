// Where a cluster's container runtime listens, and the record of it: DATA/runtime-endpoint, one line, written before the
// first pod is started in a runtime. Other commands (image, stop-pods, uninstall.sh) find the runtime by it, and the
// server keeps to it: see runtime.ts.
import * as fs from "node:fs/promises";
import * as net from "node:net";
import * as path from "node:path";
import type { RuntimeConfiguration } from "../../../cri/runtime-features.ts";

export const defaultEndpoint = "unix:///run/containerd/containerd.sock";

/** Given as --container-runtime-endpoint: a containerd of the cluster's own, below its data directory. */
export const privateRuntime = "private";

export const endpointFile = (dataDirectory: string): string =>
  path.join(dataDirectory, "runtime-endpoint");

export const privateRuntimeDirectory = (dataDirectory: string): string =>
  path.join(dataDirectory, "containerd");

/** What has to be kept about pods in Docker that Docker does not keep: their networks. */
export const dockerDirectory = (dataDirectory: string): string =>
  path.join(dataDirectory, "docker");

/** A path means its unix: URL. */
export function normalEndpoint(endpoint: string): string {
  return endpoint.startsWith("/") ? `unix://${endpoint}` : endpoint;
}

/** undefined when this data directory has had no runtime yet. */
export async function readEndpoint(
  dataDirectory: string,
): Promise<string | undefined> {
  try {
    const text = await fs.readFile(endpointFile(dataDirectory), "utf8");
    return normalEndpoint(text.trim()) || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Durable and whole: a record lost or cut in half would let the next start choose another runtime. */
export function writeEndpoint(
  dataDirectory: string,
  endpoint: string,
): Promise<void> {
  return writeRecord(dataDirectory, endpointFile(dataDirectory), endpoint);
}

const driverFile = (dataDirectory: string): string =>
  path.join(dataDirectory, "runtime-cgroup-driver");

/** What the runtime said when it was asked last: who makes the cgroups of containers. */
export async function readCgroupDriver(
  dataDirectory: string,
): Promise<RuntimeConfiguration["cgroupDriver"]> {
  const text = await fs
    .readFile(driverFile(dataDirectory), "utf8")
    .catch(() => "");
  return (["cgroupfs", "systemd"] as const).find(
    (each) => each === text.trim(),
  );
}

export async function writeCgroupDriver(
  dataDirectory: string,
  driver: NonNullable<RuntimeConfiguration["cgroupDriver"]>,
): Promise<void> {
  if ((await readCgroupDriver(dataDirectory)) !== driver)
    await writeRecord(dataDirectory, driverFile(dataDirectory), driver);
}

/**
 * Records in DATA/agent-directory, one line, that the server's agent has its root directory elsewhere, before anything is
 * made there: uninstall.sh finds pods and mounts by it.
 */
export async function recordAgentDirectory(
  dataDirectory: string,
  rootDirectory: string,
): Promise<void> {
  if (
    [dataDirectory, path.join(dataDirectory, "agent")].includes(rootDirectory)
  )
    return;
  const file = path.join(dataDirectory, "agent-directory");
  const known = await fs.readFile(file, "utf8").catch(() => "");
  if (known !== `${rootDirectory}\n`)
    await writeRecord(dataDirectory, file, rootDirectory);
}

async function writeRecord(
  dataDirectory: string,
  file: string,
  line: string,
): Promise<void> {
  await fs.mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const handle = await fs.open(`${file}.new`, "w", 0o600);
  try {
    await handle.writeFile(`${line}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await fs.rename(`${file}.new`, file);
  const directory = await fs.open(dataDirectory, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Whether something accepts connections on a unix socket. */
export function socketAnswers(
  endpoint: string,
  timeoutMs = 1000,
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(endpoint.replace(/^unix:\/\//, ""));
    const done = (answer: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => done(false), timeoutMs);
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
  });
}
