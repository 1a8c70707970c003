// What libcni, which containerd uses, keeps of each attachment of a sandbox: NETWORK-SANDBOX-INTERFACE, JSON. It writes
// these files in place: one of a runtime that was killed meanwhile is cut, and every stop of its sandbox fails from then
// on, although without the file the plug-ins would detach it all the same.
import * as fs from "node:fs/promises";
import * as path from "node:path";

/** libcni's directory, which containerd does not change. */
const resultsDirectory = "/var/lib/cni/results";

/** Whether a runtime's failure is that it can't read what it kept. */
export function isCutResult(message: string): boolean {
  return /cached result: (decoding|unmarshal)/.test(message);
}

/** Removes the sandbox's files that are not JSON; returns how many. Those that can be read stay. */
export async function removeCutResults(
  sandboxId: string,
  directory = resultsDirectory,
): Promise<number> {
  const names = (await fs.readdir(directory)).filter((name) =>
    name.includes(`-${sandboxId}-`),
  );
  let removed = 0;
  for (const name of names) {
    const file = path.join(directory, name);
    try {
      JSON.parse(await fs.readFile(file, "utf8"));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      await fs.rm(file);
      removed++;
    }
  }
  return removed;
}
