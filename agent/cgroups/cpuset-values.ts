// cgroup v1: a cpuset takes no process before its CPUs and memory nodes are set.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "./removal.ts";

/** Those that are empty get the values of the cgroup above. Rejects where they can't be written. */
export async function fillCpuset(directory: string): Promise<void> {
  for (const file of ["cpuset.cpus", "cpuset.mems"]) {
    // One that is not there is none of version 1's.
    if ((await textOf(join(directory, file))) !== "") continue;
    const inherited = await textOf(join(directory, "..", file));
    if (inherited)
      await writeFile(join(directory, file), inherited, { flag: "r+" });
  }
}

async function textOf(file: string): Promise<string | undefined> {
  return await readFile(file, "utf8").then(
    (text) => text.trim(),
    (error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    },
  );
}
