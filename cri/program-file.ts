// Shell scripts and small programs that the container runtime runs in place of programs of the machine: written whole, and
// tried before anybody relies on them.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs/promises";
import { promisify } from "node:util";

const checkTimeoutMs = 5_000;

/** The text as one word of a shell. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * Writes the script, or the machine code, unless it is there already. Resolves to false where it can't run (no shell, a file
 * system without programs). It ends with success when its argument is `check`.
 */
export async function installProgram(
  path: string,
  content: string | Buffer,
): Promise<boolean> {
  const bytes = Buffer.from(content);
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    const present = await fs.readFile(path).catch(() => undefined);
    if (!present?.equals(bytes)) {
      // Who runs it meanwhile, or writes the same, must not see half of it.
      await fs.writeFile(temporary, bytes, { mode: 0o755, flag: "wx" });
      await fs.rename(temporary, path);
    }
    await promisify(execFile)(path, ["check"], { timeout: checkTimeoutMs });
    return true;
  } catch {
    await fs.rm(temporary, { force: true }).catch(() => undefined);
    return false;
  }
}
