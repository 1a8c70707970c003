// An archive as plain tar: gzip and zstd are unpacked into a temporary file that has no name any more once it is open, so
// that nothing of it stays, even of a process that is killed. A part of the file system stays free (disk-room.ts). Node unpacks
// zstd from 22.15 on; before, the program zstd does.
import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as zlib from "node:zlib";
import { diskRoom, keptFree, type DiskRoom } from "./disk-room.ts";

interface PlainArchive {
  readonly file: fs.FileHandle;
  /** The temporary file goes with it. */
  close(): Promise<void>;
}

const gzipMagic = Buffer.from([0x1f, 0x8b]);
const zstdMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const bytesBetweenLooks = 16 * 1024 * 1024;

/** @param unpackInto where its plain form lies until it is closed; throws before too little of its file system is free */
export async function openPlainArchive(
  path: string,
  unpackInto = tmpdir(),
): Promise<PlainArchive> {
  const file = await fs.open(path, "r");
  let unpack: ((from: string, to: Unpacked) => Promise<void>) | undefined;
  try {
    const magic = Buffer.alloc(4);
    await file.read(magic, 0, 4, 0);
    if (magic.subarray(0, 2).equals(gzipMagic)) unpack = unpackGzip;
    else if (magic.equals(zstdMagic)) unpack = unpackZstd;
  } catch (error) {
    await file.close();
    throw error;
  }
  if (!unpack) return { file, close: () => file.close() };
  await file.close();
  const { file: plain, out } = await namelessFile(unpackInto);
  try {
    await unpack(path, { out, room: await diskRoom(unpackInto) });
    return { file: plain, close: () => plain.close() };
  } catch (error) {
    out.destroy();
    await plain.close();
    throw error;
  }
}

/** To be read and to be written by; `out` closes itself, also when it is destroyed. */
async function namelessFile(
  directory: string,
): Promise<{ file: fs.FileHandle; out: Writable }> {
  const parent = await fs.mkdtemp(join(directory, "orbit-image-"));
  try {
    const name = join(parent, "image.tar");
    const written = await fs.open(name, "wx", 0o600);
    const file = await fs.open(name, "r").catch(async (error: unknown) => {
      await written.close();
      throw error;
    });
    return { file, out: written.createWriteStream() };
  } finally {
    await fs.rm(parent, { recursive: true, force: true });
  }
}

/** Where the plain form goes. */
interface Unpacked {
  readonly out: Writable;
  readonly room: DiskRoom;
}

/** Bytes that may still be written; throws where there are none. */
async function spaceIn(room: DiskRoom): Promise<number> {
  const bytes = await room.left();
  if (bytes > 0) return bytes;
  throw new Error(
    `the archive unpacks to more than there is room for in ${room.directory}, ${keptFree}: TMPDIR names another directory`,
  );
}

/** Passes on what is unpacked while there is room for it. */
async function* whileThereIsRoom(
  chunks: AsyncIterable<Buffer>,
  room: DiskRoom,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    if (chunk.length > bytes)
      bytes = Math.min(await spaceIn(room), bytesBetweenLooks);
    bytes -= chunk.length;
    yield chunk;
  }
}

async function unpackGzip(
  from: string,
  { out, room }: Unpacked,
): Promise<void> {
  await pipeline(
    createReadStream(from),
    zlib.createGunzip(),
    (chunks: AsyncIterable<Buffer>) => whileThereIsRoom(chunks, room),
    out,
  );
}

/** Not in the types of every release. */
const { createZstdDecompress } = zlib as unknown as {
  createZstdDecompress?: () => Duplex;
};

async function unpackZstd(
  from: string,
  { out, room }: Unpacked,
): Promise<void> {
  const guard = (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> =>
    whileThereIsRoom(chunks, room);
  if (createZstdDecompress) {
    await pipeline(createReadStream(from), createZstdDecompress(), guard, out);
    return;
  }
  const child = spawn("zstd", ["-dc", "--", from], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (complaint.length < 1024) complaint += chunk.toString("utf8");
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "ENOENT"
          ? new Error(
              "the archive is compressed with zstd: install the program zstd, or run with Node.js 22.15 or later",
            )
          : error,
      ),
    );
    child.once("close", (code) =>
      code === 0
        ? resolve()
        : reject(new Error(`zstd: ${complaint.trim() || `exit code ${code}`}`)),
    );
  });
  // Either may fail first, and the other one then fails too.
  await Promise.all([ended, pipeline(child.stdout, guard, out)]);
}
