// Where the programs of network plug-ins are.
import * as fs from "node:fs/promises";
import { join } from "node:path";

/** Whether the directory has the plug-in, and it can be run. */
export function holdsPlugin(directory: string, type: string): Promise<boolean> {
  return fs.access(join(directory, type), fs.constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Its path in the first directory that has it. */
export async function findPlugin(
  directories: readonly string[],
  type: string,
): Promise<string | undefined> {
  for (const directory of directories)
    if (await holdsPlugin(directory, type)) return join(directory, type);
  return undefined;
}
