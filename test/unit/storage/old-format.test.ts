// Logs of format 1, which earlier versions wrote: read, rewritten at the first start, and refused when damaged.
import * as fs from "node:fs";
import * as path from "node:path";
import { crc32 } from "node:zlib";
import { createFileStore } from "../../../storage/file/file-store.ts";
import type { Store } from "../../../storage/store.ts";
import { readStoreDirectory } from "../../../storage/transfer.ts";
import { faultyFileSystem, ioError } from "../../support/faulty-file-system.ts";
import { nodeFileSystem } from "../../../storage/file/file-system.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();

/** One commit as format 1 has it. */
function oldFrame(key: string, revision: number, value: string | undefined) {
  const record = Buffer.alloc(25);
  record[0] = key === "" ? 3 : value === undefined ? 2 : 1;
  record.writeBigUInt64BE(BigInt(revision), 1);
  record.writeUInt32BE(Buffer.byteLength(key), 17);
  record.writeUInt32BE(Buffer.byteLength(value ?? ""), 21);
  const payload = Buffer.concat([
    record,
    Buffer.from(key),
    Buffer.from(value ?? ""),
  ]);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(payload.length, 0);
  header.writeUInt32BE(crc32(payload), 4);
  return Buffer.concat([header, payload]);
}

const frames = [
  oldFrame("", 40, undefined),
  oldFrame("/a", 41, "first"),
  oldFrame("/b", 42, "second"),
  oldFrame("/gone", 43, "third"),
  oldFrame("/gone", 44, undefined),
  oldFrame("/c", 45, "fourth"),
];
const whole = Buffer.concat(frames);
const expected = { "/a": "first@41", "/b": "second@42", "/c": "fourth@45" };

function directoryWith(bytes: Buffer): string {
  const directory = tempDirectory();
  fs.writeFileSync(path.join(directory, "log"), bytes);
  return directory;
}

async function opened(directory: string, fileSystem = nodeFileSystem) {
  const store = createFileStore({ directory, fileSystem });
  await store.start();
  return store;
}

async function contents(store: Store): Promise<Record<string, string>> {
  return Object.fromEntries(
    (await store.list("")).values.map(({ key, value, revision }) => [
      key,
      `${Buffer.from(value).toString()}@${revision}`,
    ]),
  );
}

it("is read and rewritten at the first start", async () => {
  const directory = directoryWith(whole);
  expect((await readStoreDirectory(directory)).revision).toBe(45);
  for (let start = 0; start < 2; start++) {
    const store = await opened(directory);
    expect(await contents(store)).toEqual(expected);
    expect(store.revision).toBe(45);
    await store.stop();
    const log = fs.readFileSync(path.join(directory, "log"));
    expect(log.subarray(0, 8).toString()).toBe("orbitlog");
  }
  expect(fs.readdirSync(directory)).toEqual(["lock", "log"]);
});

it("is rewritten whole or stays as it was, whatever call fails", async () => {
  for (let failing = 0; ; failing++) {
    const directory = directoryWith(whole);
    let calls = 0;
    const faulty = faultyFileSystem(nodeFileSystem, () => {
      if (calls++ === failing) throw ioError("EIO");
    });
    const failure = await opened(directory, faulty).then(
      (store) => store.stop(),
      (error: unknown) => error,
    );
    if (failure) expect(failure).toMatchObject({ name: "StoreError" });
    const store = await opened(directory);
    expect(await contents(store)).toEqual(expected);
    await store.stop();
    if (calls <= failing) break;
  }
});

it("keeps a torn tail beside the log before it is cut", async () => {
  const cut = whole.length - frames.at(-1)!.length + 11;
  const directory = directoryWith(whole.subarray(0, cut));
  const store = await opened(directory);
  expect(await contents(store)).toEqual({
    "/a": "first@41",
    "/b": "second@42",
  });
  await store.stop();
  const torn = fs.readdirSync(directory).filter((name) => /torn/.test(name));
  expect(torn).toHaveLength(1);
  expect(fs.statSync(path.join(directory, torn[0]!)).size).toBe(11);
});

it("is refused with any byte damaged before its last frame", async () => {
  const last = whole.length - frames.at(-1)!.length;
  for (let at = 0; at < last; at++) {
    const bytes = Buffer.from(whole);
    bytes[at]! ^= 0x10;
    const directory = directoryWith(bytes);
    await expect(opened(directory)).rejects.toMatchObject({ code: "corrupt" });
    expect(fs.readFileSync(path.join(directory, "log")).equals(bytes)).toBe(
      true,
    );
  }
});

it("is empty in a store that was never written to", async () => {
  const directory = directoryWith(Buffer.alloc(0));
  const store = await opened(directory);
  expect(await contents(store)).toEqual({});
  await store.stop();
});
