// The disk as one process uses it: the file store's seam (storage/file/file-system.ts) over a DiskDirectory. The round
// decides the fate of every call. When the process has ended, its calls have no effect and are never answered.
import * as path from "node:path";
import type {
  FileSystem,
  OpenFile,
  OpenMode,
} from "../../storage/file/file-system.ts";
import { DiskDirectory, DiskFile, type DiskNode } from "./disk.ts";
import type { Random } from "./random.ts";

export interface MountCall {
  /** open, makeDirectory, rename, link, unlink, list, size, read, write, durableWrite, truncate, datasync, sync, … */
  readonly name: string;
  readonly file: string;
  /** Of a write. */
  readonly position?: number;
}

/** What becomes of a call: it works, fails with a code, or the process ends before, in or after it. */
export type Fate =
  | { readonly kind: "works" }
  | { readonly kind: "fails"; readonly code: string }
  | { readonly kind: "ends"; readonly effect: "none" | "part" | "whole" };

export interface MountOptions {
  readonly root: DiskDirectory;
  /** The directory the root stands for. */
  readonly at: string;
  readonly random: Random;
  readonly fate: (call: MountCall) => Fate;
  /** Now and then a read or write does only a part of what was asked. */
  readonly short: boolean;
  /** Syncs succeed and do nothing, as with a disk that lies about its cache. */
  readonly lies: boolean;
}

export function systemError(code: string, what: string): Error {
  return Object.assign(new Error(`${code}: ${what}`), { code });
}

const never = new Promise<never>(() => undefined);

export class Mount implements FileSystem {
  readonly #options: MountOptions;
  #ended = false;
  readonly #end: Promise<void>;
  #onEnd: () => void = () => undefined;

  constructor(options: MountOptions) {
    this.#options = options;
    this.#end = new Promise((resolve) => (this.#onEnd = resolve));
  }

  get ended(): boolean {
    return this.#ended;
  }

  kill(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd();
  }

  /** What the process's call gives, or undefined when the process ends before. */
  async whileAlive<T>(call: Promise<T>): Promise<T | undefined> {
    return Promise.race([call, this.#end.then(() => undefined)]);
  }

  async open(file: string, mode: OpenMode): Promise<OpenFile> {
    return this.#call({ name: "open", file }, () => {
      const { directory, name } = this.#locate(file);
      let node = name === "" ? directory : directory.seen.get(name);
      if (mode === "create") {
        if (node instanceof DiskFile) node.truncate(0);
        else {
          node = new DiskFile();
          directory.change([[name, node]]);
        }
      }
      if (!node) throw systemError("ENOENT", file);
      return this.#opened(node, file, false);
    });
  }

  makeDirectory(file: string): Promise<void> {
    return this.#call({ name: "makeDirectory", file }, () => {
      const { directory, name } = this.#locate(file);
      if (name === "" || directory.seen.has(name))
        throw systemError("EEXIST", file);
      directory.change([[name, new DiskDirectory()]]);
    });
  }

  rename(from: string, to: string): Promise<void> {
    return this.#call({ name: "rename", file: from }, () => {
      const { directory, name } = this.#locate(from);
      const target = this.#locate(to);
      const node = directory.seen.get(name);
      if (!node) throw systemError("ENOENT", from);
      if (directory !== target.directory) throw systemError("EXDEV", to);
      directory.change([
        [name, undefined],
        [target.name, node],
      ]);
    });
  }

  link(from: string, to: string): Promise<void> {
    return this.#call({ name: "link", file: from }, () => {
      const { directory, name } = this.#locate(from);
      const target = this.#locate(to);
      const node = directory.seen.get(name);
      if (!node) throw systemError("ENOENT", from);
      if (target.directory.seen.has(target.name))
        throw systemError("EEXIST", to);
      target.directory.change([[target.name, node]]);
    });
  }

  unlink(file: string): Promise<void> {
    return this.#call({ name: "unlink", file }, () => {
      const { directory, name } = this.#locate(file);
      if (!directory.seen.has(name)) throw systemError("ENOENT", file);
      directory.change([[name, undefined]]);
    });
  }

  list(file: string): Promise<string[]> {
    return this.#call({ name: "list", file }, () => {
      const { directory, name } = this.#locate(file);
      const node = name === "" ? directory : directory.seen.get(name);
      if (!(node instanceof DiskDirectory)) throw systemError("ENOENT", file);
      return [...node.seen.keys()];
    });
  }

  #sync(node: DiskNode): void {
    if (!this.#options.lies) node.sync();
  }

  #short(probability: number): boolean {
    return this.#options.short && this.#options.random.chance(probability);
  }

  #opened(node: DiskNode, file: string, durable: boolean): OpenFile {
    const opened = { closed: false };
    const call = <T>(
      name: string,
      effect: () => T,
      part?: () => void,
      failed?: () => void,
      position?: number,
    ): Promise<T> =>
      this.#call(
        { name, file, ...(position === undefined ? {} : { position }) },
        () => {
          if (opened.closed) throw systemError("EBADF", file);
          return effect();
        },
        part,
        failed,
      );
    const content = (): DiskFile => {
      if (node instanceof DiskFile) return node;
      throw systemError("EISDIR", file);
    };
    /** A first part of the bytes, not synced; often all of them. */
    const some = (bytes: Buffer, position: number): number => {
      const { random } = this.#options;
      const length = random.chance(0.4)
        ? bytes.length
        : random.integer(bytes.length + 1);
      if (length > 0) content().write(position, bytes.subarray(0, length));
      return length;
    };
    return {
      size: () => call("size", () => content().seen.length),
      read: (buffer, position) =>
        call("read", () => {
          const { seen } = content();
          const short = this.#short(0.1);
          const wanted = short
            ? Math.ceil(buffer.length / 2)
            : Math.min(buffer.length);
          return seen.copy(buffer, 0, position, position + wanted);
        }),
      write: (bytes, position) =>
        call(
          durable ? "durableWrite" : "write",
          () => {
            const short = bytes.length > 1 && this.#short(0.05);
            const given = short ? bytes.subarray(0, bytes.length >> 1) : bytes;
            content().write(position, given);
            if (durable && !this.#options.lies) content().syncLastWrite();
            return given.length;
          },
          () => some(bytes, position),
          () => {
            some(bytes, position);
            if (durable) content().failSync(this.#options.random);
          },
          position,
        ),
      truncate: (bytes) => call("truncate", () => content().truncate(bytes)),
      datasync: () =>
        call(
          "datasync",
          () => this.#sync(content()),
          undefined,
          () => content().failSync(this.#options.random),
        ),
      sync: () =>
        call(
          "sync",
          () => this.#sync(node),
          undefined,
          () => {
            if (node instanceof DiskFile) node.failSync(this.#options.random);
          },
        ),
      durable: () => call("durable", () => this.#opened(node, file, true)),
      // The descriptor is closed also when close fails, as close(2) does.
      close: () =>
        call(
          "close",
          () => {
            opened.closed = true;
          },
          undefined,
          () => {
            opened.closed = true;
          },
        ),
    };
  }

  /** A directory's own path has the name "". */
  #locate(file: string): { directory: DiskDirectory; name: string } {
    const { root, at } = this.#options;
    const names = path.relative(at, file).split(path.sep);
    // What lies above is always durable.
    if (names[0] === "..") return { directory: new DiskDirectory(), name: "" };
    if (names[0] === "") return { directory: root, name: "" };
    let directory = root;
    for (const name of names.slice(0, -1)) {
      const next = directory.seen.get(name);
      if (!(next instanceof DiskDirectory)) throw systemError("ENOENT", file);
      directory = next;
    }
    return { directory, name: names.at(-1)! };
  }

  async #call<T>(
    call: MountCall,
    effect: () => T,
    part: () => void = () => undefined,
    failed: () => void = () => undefined,
  ): Promise<T> {
    if (this.#ended) return never;
    await turns(this.#options.random.integer(3));
    if (this.#ended as boolean) return never;
    const fate = this.#options.fate(call);
    if (fate.kind === "fails") {
      failed();
      await turns(1);
      throw systemError(fate.code, `${call.name} ${path.basename(call.file)}`);
    }
    if (fate.kind === "ends") {
      try {
        if (fate.effect === "part") part();
        if (fate.effect === "whole") effect();
      } catch {
        // It would have failed; nobody is left to see it.
      }
      this.kill();
      return never;
    }
    const result = effect();
    await turns(this.#options.random.integer(3));
    return (this.#ended as boolean) ? never : result;
  }
}

/** Turns of the event loop: what is ready runs meanwhile. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++)
    await new Promise<void>((resolve) => setImmediate(resolve));
}
