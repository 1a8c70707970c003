// Which volumes of a pod have been given their owner and rights. What its containers made of them since is theirs: an agent
// that starts again must not open a key to the group again that its container had closed. A mark is an empty directory in
// the pod's own, made before the first container starts.
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../../cri/directories.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { setUpMarksDirectory } from "./volume-paths.ts";

type Directories = Pick<AgentConfig, "rootDirectory" | "memoryDirectory">;

export async function isSetUp(
  config: Directories,
  uid: string,
  name: string,
): Promise<boolean> {
  return await stat(join(setUpMarksDirectory(config, uid), name)).then(
    () => true,
    () => false,
  );
}

export async function markSetUp(
  config: Directories,
  uid: string,
  name: string,
): Promise<void> {
  await makeDirectory(join(setUpMarksDirectory(config, uid), name), 0o750);
}

/** Before the volumes go: a static pod may come back with the same uid. */
export async function removeSetUpMarks(
  config: Directories,
  uid: string,
): Promise<void> {
  await rm(setUpMarksDirectory(config, uid), { recursive: true, force: true });
}
