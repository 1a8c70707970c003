// The file of our network configuration: written only where no other program's takes its place.
import { randomBytes } from "node:crypto";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../directories.ts";
import {
  cniConfiguration,
  cniFileName,
  type CniOptions,
} from "./configuration.ts";
import { isReplaced } from "./other-configurations.ts";

/**
 * Writes the configuration atomically when the directory holds none, or brings ours up to date while it is in use.
 * Resolves to true when a file was written.
 */
export async function writeCniConfiguration(
  options: CniOptions,
): Promise<boolean> {
  await makeDirectory(options.directory, 0o755);
  if (await isReplaced(options.directory, options.name)) return false;
  const path = join(options.directory, cniFileName);
  const text = `${JSON.stringify(cniConfiguration(options), undefined, 2)}\n`;
  if ((await fs.readFile(path, "utf8").catch(() => "")) === text) return false;
  const temporary = join(
    options.directory,
    `.${cniFileName}.${randomBytes(6).toString("hex")}`,
  );
  try {
    await fs.writeFile(temporary, text, { mode: 0o644, flag: "wx" });
    await fs.rename(temporary, path);
  } catch (error) {
    await fs.rm(temporary, { force: true });
    throw error;
  }
  return true;
}
