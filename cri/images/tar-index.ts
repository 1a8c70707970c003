// Finds the members of a tar file on disk without reading their contents: name → where its bytes lie. Understands
// ustar, GNU long names and pax headers (path, linkpath, size); links between members are followed on lookup.
// Hostile archives: the numbers of headers and of their records and the sizes of headers and names are bounded, of each and
// in all, for names stay in memory; members past the end of the file are refused.
import { trimEnd, trimStart } from "../../api/patterns/trim.ts";
import type { FileHandle } from "node:fs/promises";
import { posix } from "node:path";

export interface TarMember {
  name: string;
  offset: number;
  sizeBytes: number;
}

export interface TarIndex {
  /** Follows links; undefined when there is no such regular member. */
  find(name: string): TarMember | undefined;
  readonly names: readonly string[];
}

const block = 512;
/** Directories and what names the next member count as well: each costs a look at the file. */
const maxHeaders = 100_000;
/** A pax header larger than this is refused. */
const maxHeaderBytes = 1024 * 1024;
const maxPaxRecords = 4096;
/** The kernel's longest path. */
const maxNameLength = 4096;
const maxNamesLength = 16 * 1024 * 1024;
const maxLinks = 16;
/** Read at a time, for headers that follow each other closely. */
const windowBytes = 64 * 1024;

function text(bytes: Buffer, start: number, length: number): string {
  const end = bytes.indexOf(0, start);
  return bytes.toString(
    "utf8",
    start,
    end === -1 || end > start + length ? start + length : end,
  );
}

function number(bytes: Buffer, start: number, length: number): number {
  if ((bytes[start]! & 0x80) !== 0) {
    // Base 256, of GNU tar, for files over 8 GiB.
    let value = bytes[start]! & 0x7f;
    for (let at = start + 1; at < start + length; at++)
      value = value * 256 + bytes[at]!;
    return value;
  }
  const digits = text(bytes, start, length).trim();
  if (!/^[0-7]*$/.test(digits)) throw new Error("bad number in a tar header");
  return digits === "" ? 0 : parseInt(digits, 8);
}

function checkSum(header: Buffer): boolean {
  let sum = 0;
  for (let at = 0; at < block; at++)
    sum += at >= 148 && at < 156 ? 32 : header[at]!;
  return sum === number(header, 148, 8);
}

function normal(name: string): string {
  const relative = trimStart(posix.normalize(name), "/").replace(/^\.\//, "");
  return trimEnd(relative, "/");
}

/** Records of a pax header: `<length> <key>=<value>\n`. */
function paxRecords(bytes: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  let at = 0;
  for (let count = 1; at < bytes.length; count++) {
    if (count > maxPaxRecords)
      throw new Error("a pax header in the tar file has too many records");
    const blank = bytes.indexOf(0x20, at);
    const length =
      blank === -1 ? NaN : Number(bytes.toString("latin1", at, blank));
    if (
      !Number.isInteger(length) ||
      length <= blank - at ||
      at + length > bytes.length
    )
      throw new Error("bad pax header in a tar file");
    const record = bytes.toString("utf8", blank + 1, at + length - 1);
    const equals = record.indexOf("=");
    if (equals > 0)
      records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}

/** Rejects with an Error on anything that is not a tar file, or a truncated one. */
export async function indexTar(file: FileHandle): Promise<TarIndex> {
  const total = (await file.stat()).size;
  const members = new Map<string, TarMember>();
  const links = new Map<string, string>();
  let offset = 0;
  let longName: string | undefined;
  let longLink: string | undefined;
  let pax = new Map<string, string>();
  let ended = false;
  let headers = 0;
  let namesLength = 0;

  const content = async (at: number, size: number): Promise<Buffer> => {
    if (size > maxHeaderBytes)
      throw new Error("a header in the tar file is too large");
    const bytes = Buffer.alloc(size);
    await file.read(bytes, 0, size, at);
    return bytes;
  };

  const window = Buffer.alloc(windowBytes);
  let windowAt = -windowBytes;
  const headerAt = async (at: number): Promise<Buffer> => {
    if (at < windowAt || at + block > windowAt + windowBytes) {
      await file.read(window, 0, windowBytes, at);
      windowAt = at;
    }
    return window.subarray(at - windowAt, at - windowAt + block);
  };
  const counted = (name: string): string => {
    namesLength += name.length;
    if (name.length > maxNameLength || namesLength > maxNamesLength)
      throw new Error("names in the tar file are too long");
    return name;
  };

  while (offset + block <= total) {
    const header = await headerAt(offset);
    if (header.every((byte) => byte === 0)) {
      ended = true;
      break;
    }
    if (!checkSum(header))
      throw new Error(
        offset === 0
          ? "this is not a tar file"
          : `bad header in the tar file at byte ${offset}`,
      );
    if (++headers > maxHeaders)
      throw new Error("the tar file has too many members");
    const type = String.fromCharCode(header[156]!);
    const start = offset + block;
    const sizeBytes =
      pax.has("size") && type !== "x" && type !== "g"
        ? Number(pax.get("size"))
        : number(header, 124, 12);
    if (!Number.isSafeInteger(sizeBytes) || start + sizeBytes > total)
      throw new Error("the tar file is truncated");
    offset = start + Math.ceil(sizeBytes / block) * block;
    if (type === "L")
      longName = text(await content(start, sizeBytes), 0, sizeBytes);
    else if (type === "K")
      longLink = text(await content(start, sizeBytes), 0, sizeBytes);
    else if (type === "x") pax = paxRecords(await content(start, sizeBytes));
    else if (type !== "g") {
      const prefix =
        text(header, 257, 5) === "ustar" && header[263] === 0x30
          ? text(header, 345, 155)
          : "";
      const short = text(header, 0, 100);
      const name = normal(
        counted(
          pax.get("path") ??
            longName ??
            (prefix === "" ? short : `${prefix}/${short}`),
        ),
      );
      const link = counted(
        pax.get("linkpath") ?? longLink ?? text(header, 157, 100),
      );
      if (type === "0" || type === "\0" || type === "7")
        members.set(name, { name, offset: start, sizeBytes });
      else if (type === "1") links.set(name, normal(link));
      else if (type === "2")
        links.set(name, normal(posix.join(posix.dirname(name), link)));
      longName = longLink = undefined;
      pax = new Map();
    }
  }
  if (!ended && offset < total) throw new Error("the tar file is truncated");
  if (members.size === 0) throw new Error("the tar file is empty");

  return {
    find(wanted) {
      let name = normal(wanted);
      for (let hops = 0; hops < maxLinks; hops++) {
        const member = members.get(name);
        if (member !== undefined) return member;
        const target = links.get(name);
        if (target === undefined) return undefined;
        name = target;
      }
      return undefined;
    },
    names: [...members.keys()],
  };
}
