// Writes small ustar archives in memory: regular files and directories, fixed owner and time, so that the same
// content gives the same bytes on every machine.

interface TarFile {
  /** At most 100 bytes. */
  name: string;
  mode: number;
  /** undefined: a directory. */
  content?: Buffer;
}

const block = 512;

/** `sizeBytes` undefined: a directory. */
export function tarHeader(
  name: string,
  mode: number,
  sizeBytes: number | undefined,
): Buffer {
  const bytes = Buffer.alloc(block);
  if (Buffer.byteLength(name) > 100)
    throw new RangeError(`tar member name ${name} is too long`);
  const octal = (value: number, width: number): string =>
    `${value.toString(8).padStart(width - 1, "0")}\0`;
  bytes.write(name, 0);
  bytes.write(octal(mode, 8), 100);
  bytes.write(octal(0, 8), 108); // uid
  bytes.write(octal(0, 8), 116); // gid
  bytes.write(octal(sizeBytes ?? 0, 12), 124);
  bytes.write(octal(0, 12), 136); // time
  bytes.write("        ", 148); // the sum is taken with blanks here
  bytes.write(sizeBytes === undefined ? "5" : "0", 156);
  bytes.write("ustar\x0000", 257);
  let sum = 0;
  for (const byte of bytes) sum += byte;
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return bytes;
}

/** After the content of a member. */
export function tarPadding(sizeBytes: number): Buffer {
  return Buffer.alloc((block - (sizeBytes % block)) % block);
}

/** After the last member. */
export const tarEnd = Buffer.alloc(2 * block);

/** The archive, ended by two empty blocks. */
export function writeTar(files: readonly TarFile[]): Buffer {
  const parts: Buffer[] = [];
  for (const file of files) {
    parts.push(tarHeader(file.name, file.mode, file.content?.length));
    if (file.content !== undefined)
      parts.push(file.content, tarPadding(file.content.length));
  }
  parts.push(tarEnd);
  return Buffer.concat(parts);
}
