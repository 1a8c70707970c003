// Files with secrets: written whole or not at all (a new file takes the old one's name), mode 0600 from the beginning.
import type { PrivateKeyPem } from "../../api/pki/keys.ts";
import * as fs from "node:fs";
import * as path from "node:path";
import { randomBytes } from "node:crypto";

export function writePrivateFile(file: string, content: string | Buffer): void {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomBytes(6).toString("hex")}`;
  const handle = fs.openSync(temporary, "wx", 0o600);
  try {
    fs.writeFileSync(handle, content);
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
  fs.renameSync(temporary, file);
}

/** Undefined when there is no such file. */
export function readFileIfAny(file: string): string | undefined {
  return readKeyIfAny(file)?.toString("utf8");
}

/** The same for a private key, which never becomes a string. */
export function readKeyIfAny(file: string): PrivateKeyPem | undefined {
  try {
    return fs.readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
