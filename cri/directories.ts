// Directories of the program's own on the host, with those above them. Node's asynchronous recursive mkdir reports a file
// system that is full or read-only as ENOENT, and never returns where nothing can be made (/proc); here each directory is
// made by a plain mkdir, whose error says what is wrong. Followed by cli/parts/directories.ts for those that users name.
// Example: for /a/b/c below an empty /a: /a/b/c fails with ENOENT, /a/b is made, then /a/b/c.
import * as promises from "node:fs/promises";
import { dirname } from "node:path";

/** How the calls are made; `node:fs/promises`, or another form of it. */
interface DirectoryCalls {
  mkdir(path: string, options: { mode: number }): Promise<unknown>;
  stat(path: string): Promise<{ isDirectory(): boolean }>;
}

async function isDirectory(
  path: string,
  { stat }: DirectoryCalls,
): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** It is there afterwards; `mode` is of what is made. Rejects with the error of the first one that can't be made. */
export async function makeDirectory(
  directory: string,
  mode = 0o777,
  calls: DirectoryCalls = promises,
): Promise<void> {
  try {
    await calls.mkdir(directory, { mode });
    return;
  } catch (error) {
    const above = dirname(directory);
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" || above === directory) {
      if (await isDirectory(directory, calls)) return;
      throw error;
    }
    await makeDirectory(above, mode, calls);
  }
  try {
    await calls.mkdir(directory, { mode });
  } catch (error) {
    // Another call may have made it meanwhile.
    if (!(await isDirectory(directory, calls))) throw error;
  }
}
