// Directories the user names. Made one by one: where nothing can be made (/proc), Node's recursive mkdir never returns.
import * as path from "node:path";
import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { UsageError } from "../options/table.ts";

function make(directory: string, mode: number): void {
  const entry = statSync(directory, { throwIfNoEntry: false });
  if (entry?.isDirectory()) return;
  if (entry) throw new Error(`${directory} is not a directory`);
  make(path.dirname(directory), mode);
  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    // Another process may have made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** The directory is there and can be written to; else a UsageError naming the option. */
export function makeDirectory(
  optionName: string,
  directory: string,
  mode: number,
): void {
  const resolved = path.resolve(directory);
  try {
    make(resolved, mode);
    accessSync(resolved, constants.W_OK);
  } catch (error) {
    throw new UsageError(`--${optionName}: ${(error as Error).message}`);
  }
}
