// Access to what a private containerd has mounted for containers: their first process, which is no root of the host when
// the pod has a user namespace of its own, has to reach it.
import { chmod, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { socketPath } from "../../../cri/endpoint.ts";

/** To pass through; neither to list nor to read. */
const passage = 0o011;

/** Opens the socket's directory and those above it up to the data directory; what lies in them keeps its own rights. */
export async function letMappedUsersThrough(
  dataDirectory: string,
  endpoint: string,
): Promise<void> {
  let directory = dirname(socketPath(endpoint));
  for (;;) {
    const { mode } = await stat(directory);
    if ((mode & passage) !== passage)
      await chmod(directory, (mode & 0o7777) | passage);
    if (!directory.startsWith(`${dataDirectory}/`)) return;
    directory = dirname(directory);
  }
}
