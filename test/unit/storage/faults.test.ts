// Every call on the file system made to fail, one after the other, once or from then on: what was acknowledged is there
// afterwards, errors are StoreErrors, the store goes on or refuses and is unhealthy, and the directory opens again.
import * as fs from "node:fs";
import * as path from "node:path";
import { createFileStore } from "../../../storage/file/file-store.ts";
import {
  nodeFileSystem,
  type FileSystem,
} from "../../../storage/file/file-system.ts";
import {
  loadSnapshot,
  saveSnapshot,
  type Snapshot,
} from "../../../storage/snapshot.ts";
import { StoreError, type Store } from "../../../storage/store.ts";
import {
  readStoreDirectory,
  restoreToDirectory,
} from "../../../storage/transfer.ts";
import {
  faultyFileSystem,
  ioError,
  type FileCall,
} from "../../support/faulty-file-system.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();

/** What a key may hold: its last acknowledged value, and those of writes that failed since. */
type Model = Map<string, Set<string>>;

const isStoreError = (error: unknown): void => {
  expect(error).toBeInstanceOf(StoreError);
};

class Client {
  readonly model: Model = new Map();
  highest = 0;
  failures = 0;

  constructor(private readonly store: Store) {}

  async write(key: string, value: string): Promise<void> {
    const known = this.model.get(key) ?? new Set(["-"]);
    this.model.set(key, known);
    try {
      const result = await this.store.write({
        key,
        expectedRevision: undefined,
        encode: () => (value === "-" ? undefined : Buffer.from(value)),
      });
      // A delete of what is not there is refused: nothing changed.
      if (!result.ok) return;
      this.model.set(key, new Set([value]));
      expect(result.revision).toBeGreaterThan(this.highest);
      this.highest = result.revision;
    } catch (error) {
      isStoreError(error);
      this.failures++;
      known.add(value);
    }
  }
}

/** Opens, writes until two compactions have run, closes. Resolves to what must be there. */
async function use(
  directory: string,
  fileSystem: FileSystem,
): Promise<Client | undefined> {
  const store = createFileStore({
    directory,
    fileSystem,
    compactAboveBytes: 1500,
  });
  try {
    await store.start();
  } catch (error) {
    isStoreError(error);
    return undefined;
  }
  const client = new Client(store);
  for (let round = 0; round < 9; round++) {
    await Promise.all([
      client.write("/a", `${round}${"a".repeat(200)}`),
      client.write(`/b${round % 3}`, `${round}${"b".repeat(100)}`),
    ]);
    await client.write("/gone", round % 2 === 0 ? "here" : "-");
    const { values } = await store.list("");
    for (const { key, value } of values)
      expect([...client.model.get(key)!]).toContain(
        Buffer.from(value).toString(),
      );
  }
  await store.stop();
  return client;
}

async function check(directory: string, client: Client): Promise<void> {
  const store = createFileStore({ directory });
  await store.start();
  expect(store.revision).toBeGreaterThanOrEqual(client.highest);
  for (const [key, allowed] of client.model) {
    const found = await store.get(key);
    expect([...allowed]).toContain(
      found ? Buffer.from(found.value).toString() : "-",
    );
  }
  await store.stop();
}

const count = async (
  run: (fileSystem: FileSystem) => Promise<unknown>,
): Promise<FileCall[]> => {
  const calls: FileCall[] = [];
  await run(faultyFileSystem(nodeFileSystem, (call) => calls.push(call)));
  return calls;
};

it("compacts in the scenario", async () => {
  const calls = await count((files) =>
    use(path.join(tempDirectory(), "store"), files),
  );
  const renames = calls.filter(({ name }) => name === "rename");
  expect(renames.length).toBeGreaterThanOrEqual(3);
});

it.each([
  ["EIO once", "EIO", false],
  ["ENOSPC from then on", "ENOSPC", true],
])("survives %s at every call", async (_, code, onwards) => {
  for (let failing = 0; ; failing++) {
    const directory = path.join(tempDirectory(), "store");
    let calls = 0;
    const failed: FileCall[] = [];
    const files = faultyFileSystem(nodeFileSystem, (call) => {
      const at = calls++;
      if (at !== failing && !(onwards && at > failing)) return;
      failed.push(call);
      throw ioError(code);
    });
    const client = await use(directory, files);
    if (failed.length === 0) break;
    // A disk that failed once is used again; at most the writes of that moment were refused.
    if (client && !onwards) expect(client.failures).toBeLessThanOrEqual(3);
    if (client) await check(directory, client);
    else {
      const store = createFileStore({ directory });
      await store.start();
      await store.stop();
    }
  }
});

it("is unhealthy while writes fail, and well again after", async () => {
  const directory = path.join(tempDirectory(), "store");
  let broken = false;
  const files = faultyFileSystem(nodeFileSystem, () => {
    if (broken) throw ioError("ENOSPC");
  });
  const store = createFileStore({ directory, fileSystem: files });
  await store.start();
  const client = new Client(store);
  await client.write("/a", "1");
  broken = true;
  await client.write("/a", "2");
  expect(client.failures).toBe(1);
  await expect(store.healthy()).rejects.toMatchObject({ code: "full" });
  expect(Buffer.from((await store.get("/a"))!.value).toString()).toBe("1");
  broken = false;
  await client.write("/a", "3");
  await store.healthy();
  await store.stop();
  await check(directory, client);
});

it("acknowledges nothing while the rename of a compaction is not durable", async () => {
  const directory = path.join(tempDirectory(), "store");
  let failing = false;
  let renamed = false;
  const files = faultyFileSystem(nodeFileSystem, ({ name, file }) => {
    if (name === "rename") renamed = failing = true;
    if (failing && name === "sync" && file === directory) throw ioError("EIO");
  });
  const store = createFileStore({
    directory,
    fileSystem: files,
    compactAboveBytes: 3000,
  });
  await store.start().catch(isStoreError);
  // The first start made its log by a rename too.
  failing = renamed = false;
  await store.start();
  const client = new Client(store);
  for (let round = 0; round < 100 && !renamed; round++)
    await client.write("/a", `${round}${"a".repeat(200)}`);
  expect(renamed).toBe(true);
  const before = client.failures;
  await client.write("/a", "while it is not");
  await client.write("/a", "while it is not");
  expect(client.failures).toBe(before + 2);
  await expect(store.healthy()).rejects.toMatchObject({ code: "unavailable" });
  failing = false;
  await client.write("/a", "durable");
  expect(client.failures).toBe(before + 2);
  await store.healthy();
  await store.stop();
  await check(directory, client);
});

const plain = ({ entries }: Snapshot): string[] =>
  entries.map(
    ({ key, value, revision, expiresAtMs }) =>
      `${key} ${revision} ${expiresAtMs} ${Buffer.from(value).toString()}`,
  );

it("writes and restores snapshots whole or not at all, whatever call fails", async () => {
  const directory = path.join(tempDirectory(), "store");
  await use(directory, nodeFileSystem);
  const state = await readStoreDirectory(directory);
  const good = path.join(tempDirectory(), "good");
  await saveSnapshot(state, good);
  const loaded = await loadSnapshot(good);

  for (let failing = 0; ; failing++) {
    const place = tempDirectory();
    let calls = 0;
    const files = faultyFileSystem(nodeFileSystem, () => {
      if (calls++ === failing) throw ioError("EIO");
    });
    const file = path.join(place, "state");
    const target = path.join(place, "restored");
    const work = async (): Promise<void> => {
      await readStoreDirectory(directory, files);
      await saveSnapshot(state, file, files);
      await loadSnapshot(file, files);
      await restoreToDirectory(loaded, target, false, files);
    };
    const outcome = await work().then(
      () => "done",
      () => "failed",
    );
    // Under its final name there is a whole snapshot, or none; the same holds for a store.
    if (fs.existsSync(file))
      expect(plain(await loadSnapshot(file))).toEqual(plain(loaded));
    if (fs.existsSync(path.join(target, "log")))
      expect(plain(await readStoreDirectory(target))).toEqual(plain(loaded));
    if (calls <= failing) {
      expect(outcome).toBe("done");
      break;
    }
  }
});
