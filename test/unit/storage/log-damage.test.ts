// Whatever happens to the bytes of a log: either every acknowledged write is there, or the store refuses to open and
// changes nothing. Only a write that a crash tore at the very end is cut off, and it is kept beside the log.
import * as fs from "node:fs";
import * as path from "node:path";
import { createFileStore } from "../../../storage/file/file-store.ts";
import { loadLog } from "../../../storage/file/log-loader.ts";
import type { StoredVersion } from "../../../storage/local/live-version.ts";
import {
  readStoreDirectory,
  restoreToDirectory,
} from "../../../storage/transfer.ts";
import { StoreError, type Store } from "../../../storage/store.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { fileOf } from "./bytes-file.ts";
import { put } from "./contract.ts";

const tempDirectory = useTempDirectories();
const keys = ["/a", "/b", "/c", "/d", "/e"];

interface WrittenLog {
  readonly directory: string;
  readonly file: string;
  readonly bytes: Buffer;
  /** Where each of the five frames ends. */
  readonly ends: readonly number[];
}

async function opened(directory: string): Promise<Store> {
  const store = createFileStore({ directory, clock: new FakeClock() });
  await store.start();
  return store;
}

/** A log of five writes, closed (with its mark at the end) or as a kill would leave it. */
async function fiveFrames(
  valueBytes: number,
  closed: boolean,
): Promise<WrittenLog> {
  const directory = tempDirectory();
  const file = path.join(directory, "log");
  const store = await opened(directory);
  const ends: number[] = [];
  for (const key of keys) {
    await put(store, key, key.repeat(valueBytes / 2), 0);
    ends.push(fs.statSync(file).size);
  }
  const whole = ends.at(-1)!;
  await store.stop();
  const bytes = fs.readFileSync(file).subarray(0, closed ? undefined : whole);
  return { directory, file, bytes, ends };
}

async function keysIn(directory: string): Promise<string[]> {
  const store = await opened(directory);
  const { values } = await store.list("");
  await store.stop();
  return values.map(({ key }) => key);
}

const tornFiles = (directory: string): string[] =>
  fs.readdirSync(directory).filter((name) => name.startsWith("log.torn-"));

/** Opens a log of these bytes: "all", "corrupt", or the keys that were left. */
async function outcome(
  { directory, file }: WrittenLog,
  bytes: Buffer,
): Promise<string> {
  fs.writeFileSync(file, bytes);
  try {
    const found = await keysIn(directory);
    return found.length === keys.length ? "all" : found.join(" ");
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "corrupt") throw error;
    expect(fs.readFileSync(file).equals(bytes)).toBe(true);
    expect(error.message).toMatch(/in danger: .*snapshot restore/);
    await expect(readStoreDirectory(directory)).rejects.toMatchObject({
      code: "corrupt",
    });
    return "corrupt";
  }
}

const damaged = (bytes: Buffer, damage: (copy: Buffer) => void): Buffer => {
  const copy = Buffer.from(bytes);
  damage(copy);
  return copy;
};

describe.each([
  ["closed", true],
  ["killed", false],
])("a %s log", (_, closed) => {
  it("is whole or refused with any byte flipped", async () => {
    const log = await fiveFrames(8, closed);
    for (let at = 0; at < log.bytes.length; at++) {
      const bytes = damaged(log.bytes, (copy) => {
        copy[at]! ^= 1 << (at % 8);
      });
      const file = fileOf([{ bytes, times: 1 }]);
      await expect(loadLog(file, "log", new Map())).rejects.toMatchObject({
        code: "corrupt",
      });
      if (at % 20 === 0) expect(await outcome(log, bytes)).toBe("corrupt");
    }
  });

  it.each([512, 4096])(
    "is refused with any %d bytes zeroed before its last frame",
    async (size) => {
      const log = await fiveFrames(6000, closed);
      const last = closed ? log.bytes.length : log.ends[3]!;
      for (let at = 0; at + size <= last; at += size)
        expect(
          await outcome(
            log,
            damaged(log.bytes, (copy) => copy.fill(0, at, at + size)),
          ),
        ).toBe("corrupt");
    },
  );

  it("keeps every whole frame, cut at any byte", async () => {
    const log = await fiveFrames(8, closed);
    const firstEnd = log.ends[0]!;
    for (let cut = firstEnd; cut < log.bytes.length; cut++) {
      const bytes = log.bytes.subarray(0, cut);
      const expected = keys.slice(
        0,
        log.ends.filter((end) => end <= cut).length,
      );
      const state = new Map<string, StoredVersion>();
      await loadLog(fileOf([{ bytes, times: 1 }]), "log", state);
      expect([...state.keys()]).toEqual(expected);
      if (cut % 20 === 0)
        expect(await outcome(log, bytes)).toBe(
          expected.length === keys.length ? "all" : expected.join(" "),
        );
    }
  });
});

it("refuses a state that is cut or zeroed to the end of the file", async () => {
  const directory = tempDirectory();
  await restoreToDirectory(
    {
      revision: 9,
      entries: keys.map((key, index) => ({
        ...{ key, revision: index + 1, expiresAtMs: 0 },
        value: Buffer.alloc(1000, key),
      })),
    },
    directory,
  );
  const file = path.join(directory, "log");
  const bytes = fs.readFileSync(file);
  const log = { directory, file, bytes, ends: [] };
  expect(await outcome(log, bytes)).toBe("all");
  for (let at = 20; at < bytes.length; at += 97) {
    const zeroed = damaged(bytes, (copy) => copy.fill(0, at));
    expect(await outcome(log, zeroed)).toBe("corrupt");
    expect(await outcome(log, bytes.subarray(0, at))).toBe("corrupt");
  }
  expect(tornFiles(directory)).toEqual([]);
});

it("takes sectors that were never written for a torn write, at the end only", async () => {
  const log = await fiveFrames(6000, false);
  const lastFrom = log.ends[3]!;
  const sector = Math.ceil(lastFrom / 512) * 512 + 1024;
  const torn = damaged(log.bytes, (copy) => copy.fill(0, sector, sector + 512));
  expect(await outcome(log, torn)).toBe(keys.slice(0, 4).join(" "));
});

it.each([
  ["zeros", Buffer.alloc(4096), "all"],
  ["rubbish", Buffer.from("not a frame ".repeat(300)), "corrupt"],
  ["a few bytes", Buffer.from("not a frame"), "all"],
])("answers %s behind the last frame", async (_, tail, expected) => {
  const log = await fiveFrames(8, false);
  expect(await outcome(log, Buffer.concat([log.bytes, tail]))).toBe(expected);
});

it("keeps what it cuts off beside the log, ten times at most", async () => {
  const log = await fiveFrames(8, true);
  const tail = log.bytes.subarray(log.ends[3]!, log.ends[3]! + 30);
  const clock = new FakeClock();
  for (let round = 0; round < 13; round++) {
    fs.writeFileSync(log.file, log.bytes.subarray(0, log.ends[3]! + 30));
    const store = createFileStore({ directory: log.directory, clock });
    await store.start();
    await store.stop();
    clock.advance(1000);
  }
  const kept = tornFiles(log.directory);
  expect(kept).toHaveLength(10);
  for (const name of kept) {
    const file = path.join(log.directory, name);
    expect(fs.readFileSync(file).equals(tail)).toBe(true);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  }
});

it("is not misled by a frame inside a value", async () => {
  const inner = await fiveFrames(8, true);
  const directory = tempDirectory();
  const file = path.join(directory, "log");
  let store = await opened(directory);
  await put(store, "/kept", "1", 0);
  const sound = fs.statSync(file).size;
  await store.write({
    key: "/torn",
    expectedRevision: 0,
    encode: () => inner.bytes,
  });
  await store.stop();
  // The write of the value was torn behind it: what is in the value is no acknowledged write.
  const bytes = fs.readFileSync(file).subarray(0, sound + inner.bytes.length);
  fs.writeFileSync(file, bytes);
  store = await opened(directory);
  expect((await store.list("")).values.map(({ key }) => key)).toEqual([
    "/kept",
  ]);
  await store.stop();
});

it("names the revisions that are in danger", async () => {
  const log = await fiveFrames(8, true);
  const bytes = damaged(log.bytes, (copy) =>
    copy.fill(1, log.ends[1]!, log.ends[3]! - 1),
  );
  fs.writeFileSync(log.file, bytes);
  // Revisions 2 to 6 are the five writes'.
  await expect(opened(log.directory)).rejects.toThrow(
    `damaged from byte ${log.ends[1]} to ${log.ends[3]}; in danger: revisions 4 to 5`,
  );
});
