// The version of the OCI runtime specification that an installed containerd writes into its containers' bundles. A crun
// before 1.14.3 makes no container of a version after 1.0, as containerd 1.7 and later write it.
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** What a containerd is taken to write that can't be asked: a crun that takes this one takes every 1.x. */
const newestVersion = "1.2.1";

/** By its own client, which is built with it. @param containerd absolute path */
export async function specVersion(
  containerd: string | undefined,
  timeoutMs: number,
): Promise<string> {
  if (containerd === undefined) return newestVersion;
  try {
    const { stdout } = await promisify(execFile)(
      join(dirname(containerd), "ctr"),
      ["oci", "spec"],
      { timeout: timeoutMs, killSignal: "SIGKILL" },
    );
    const { ociVersion } = JSON.parse(stdout) as { ociVersion?: unknown };
    return typeof ociVersion === "string" ? ociVersion : newestVersion;
  } catch {
    return newestVersion;
  }
}
