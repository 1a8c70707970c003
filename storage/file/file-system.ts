// Every call the file store makes on its files goes through this interface, so that tests can make each one fail, record
// it, or drop what was not synced. The store relies on no other effect on the disk.
//
// Durability: what `write` and `truncate` did is durable after `datasync` of the same file; what `open` (create),
// `makeDirectory`, `rename`, `link` and `unlink` did is durable after `sync` of the directory.
import * as fs from "node:fs";
import type { FileHandle } from "node:fs/promises";

/** read: a file or a directory; create: a new or emptied file, mode 0600; update: an existing file. */
export type OpenMode = "read" | "create" | "update";

/** All calls reject with the system's error (`code`: ENOSPC, EIO …). */
export interface FileSystem {
  open(file: string, mode: OpenMode): Promise<OpenFile>;
  /** One level, mode 0700. Rejects with EEXIST, and with ENOENT when its parent is missing. */
  makeDirectory(directory: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Rejects with EEXIST when `to` exists. */
  link(from: string, to: string): Promise<void>;
  unlink(file: string): Promise<void>;
  list(directory: string): Promise<string[]>;
}

export interface OpenFile {
  size(): Promise<number>;
  /** Into the whole of `buffer`, from a byte of the file on; the bytes read, 0 at the end, maybe fewer than asked. */
  read(buffer: Buffer, position: number): Promise<number>;
  /** The bytes written, maybe fewer than given. */
  write(bytes: Buffer, position: number): Promise<number>;
  truncate(bytes: number): Promise<void>;
  datasync(): Promise<void>;
  sync(): Promise<void>;
  /** The same file, whatever its name is now, opened so that a write is durable when it resolves (O_DSYNC). */
  durable(): Promise<OpenFile>;
  close(): Promise<void>;
}

const flags: Record<OpenMode, string> = {
  read: "r",
  create: "w+",
  update: "r+",
};

export const nodeFileSystem: FileSystem = {
  open: async (file, mode) =>
    new NodeFile(await fs.promises.open(file, flags[mode], 0o600), file),
  makeDirectory: (directory) => fs.promises.mkdir(directory, { mode: 0o700 }),
  rename: (from, to) => fs.promises.rename(from, to),
  link: (from, to) => fs.promises.link(from, to),
  unlink: (file) => fs.promises.unlink(file),
  list: (directory) => fs.promises.readdir(directory),
};

/** Reads and writes use the callback form: a file handle's promises cost several times more. */
class NodeFile implements OpenFile {
  constructor(
    private readonly handle: FileHandle,
    private readonly file: string,
  ) {}

  async size(): Promise<number> {
    return (await this.handle.stat()).size;
  }

  read(buffer: Buffer, position: number): Promise<number> {
    return new Promise((resolve, reject) =>
      fs.read(
        this.handle.fd,
        buffer,
        0,
        buffer.length,
        position,
        (error, bytes) => (error ? reject(error) : resolve(bytes)),
      ),
    );
  }

  write(bytes: Buffer, position: number): Promise<number> {
    return new Promise((resolve, reject) =>
      fs.write(
        this.handle.fd,
        bytes,
        0,
        bytes.length,
        position,
        (error, written) => (error ? reject(error) : resolve(written)),
      ),
    );
  }

  truncate(bytes: number): Promise<void> {
    return this.handle.truncate(bytes);
  }

  datasync(): Promise<void> {
    return this.handle.datasync();
  }

  sync(): Promise<void> {
    return this.handle.sync();
  }

  async durable(): Promise<OpenFile> {
    const { O_WRONLY, O_DSYNC } = fs.constants;
    // By descriptor: the name may have been given to a newer file meanwhile, or not yet to this one.
    const name =
      process.platform === "linux"
        ? `/proc/self/fd/${this.handle.fd}`
        : this.file;
    const handle = await fs.promises.open(name, O_WRONLY | O_DSYNC);
    return new NodeFile(handle, this.file);
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}
