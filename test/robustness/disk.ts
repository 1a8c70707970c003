// A disk in memory that knows what was synced. Everything is there twice: as the running system sees it (`seen`) and as
// the platter has it (`durable`), with the operations in between in their order (`pending`).
//
//   write a, write b, datasync, write c   seen: a b c   durable: a b   pending: c
//   power loss                            any sectors of c, or none, and nothing else, is on the platter
//
// kill -9 loses nothing that a call has done. Power loss keeps, of each file, any subset of the unsynced sectors, and of
// each directory a first part of the unsynced changes (file systems write these in order). A sync that failed leaves
// what it covered to chance, and a later sync does not cover it again, as in Linux.
import type { Random } from "./random.ts";

const SECTOR_BYTES = 512;

type FileChange =
  | { readonly kind: "write"; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: "truncate"; readonly bytes: number };

export class DiskFile {
  seen: Buffer = Buffer.alloc(0);
  durable: Buffer = Buffer.alloc(0);
  pending: FileChange[] = [];

  write(at: number, bytes: Buffer): void {
    this.#change({ kind: "write", at, bytes: Buffer.from(bytes) });
  }

  truncate(bytes: number): void {
    this.#change({ kind: "truncate", bytes });
  }

  sync(): void {
    for (const change of this.pending)
      this.durable = changed(this.durable, change);
    this.pending = [];
  }

  /** The last write alone, and the sizes before it: O_DSYNC. */
  syncLastWrite(): void {
    const last = this.pending.pop()!;
    const others: FileChange[] = [];
    for (const change of this.pending) {
      if (change.kind === "truncate")
        this.durable = changed(this.durable, change);
      else others.push(change);
    }
    this.durable = changed(this.durable, last);
    this.pending = others;
  }

  /** Pages are marked clean whether they were written or not. */
  failSync(random: Random): void {
    const sizes = this.pending.filter(({ kind }) => kind === "truncate");
    for (const change of this.pending)
      if (change.kind === "write" && random.chance(0.5))
        this.durable = changed(this.durable, change);
    this.pending = sizes;
  }

  losePower(random: Random): void {
    const keep = random.pick([0, 0.5, 0.9, 1]);
    const until = random.chance(0.5)
      ? this.pending.length
      : random.integer(this.pending.length + 1);
    for (const change of this.pending.slice(0, until)) {
      if (change.kind === "truncate") {
        if (random.chance(keep)) this.durable = changed(this.durable, change);
        continue;
      }
      for (const sector of sectors(change))
        if (random.chance(keep)) this.durable = changed(this.durable, sector);
    }
    this.pending = [];
    this.seen = Buffer.from(this.durable);
  }

  #change(change: FileChange): void {
    this.seen = changed(this.seen, change);
    this.pending.push(change);
  }
}

function* sectors(
  write: FileChange & { kind: "write" },
): Generator<FileChange> {
  let from = 0;
  while (from < write.bytes.length) {
    const at = write.at + from;
    const room = SECTOR_BYTES - (at % SECTOR_BYTES);
    const bytes = write.bytes.subarray(from, from + room);
    yield { kind: "write", at, bytes };
    from += bytes.length;
  }
}

function changed(content: Buffer, change: FileChange): Buffer {
  if (change.kind === "truncate") {
    if (change.bytes <= content.length)
      return Buffer.from(content.subarray(0, change.bytes));
    return Buffer.concat([
      content,
      Buffer.alloc(change.bytes - content.length),
    ]);
  }
  const { at, bytes } = change;
  const end = at + bytes.length;
  if (end > content.length) {
    const larger = Buffer.alloc(end);
    content.copy(larger);
    bytes.copy(larger, at);
    return larger;
  }
  // Copied: a former state may be looked at later.
  const copy = Buffer.from(content);
  bytes.copy(copy, at);
  return copy;
}

export type DiskNode = DiskFile | DiskDirectory;

type NameChange = readonly (readonly [name: string, DiskNode | undefined])[];

export class DiskDirectory {
  seen = new Map<string, DiskNode>();
  durable = new Map<string, DiskNode>();
  pending: NameChange[] = [];

  /** One change: all of its names or none. */
  change(names: NameChange): void {
    apply(this.seen, names);
    this.pending.push(names);
  }

  sync(): void {
    for (const names of this.pending) apply(this.durable, names);
    this.pending = [];
  }

  losePower(random: Random): void {
    const kept = random.pick([
      0,
      random.integer(this.pending.length + 1),
      this.pending.length,
    ]);
    for (const names of this.pending.slice(0, kept)) apply(this.durable, names);
    this.pending = [];
    this.seen = new Map(this.durable);
    for (const node of this.seen.values()) node.losePower(random);
  }
}

function apply(into: Map<string, DiskNode>, names: NameChange): void {
  for (const [name, node] of names) {
    if (node) into.set(name, node);
    else into.delete(name);
  }
}

/** Every file below a directory by its path. */
export function filesBelow(
  directory: DiskDirectory,
  prefix = "",
): Map<string, DiskFile> {
  const found = new Map<string, DiskFile>();
  for (const [name, node] of directory.seen) {
    if (node instanceof DiskFile) found.set(prefix + name, node);
    else
      for (const [below, file] of filesBelow(node, `${prefix}${name}/`))
        found.set(below, file);
  }
  return found;
}
