import * as fs from "node:fs";
import * as path from "node:path";
import { createFileStore } from "../../../storage/file/file-store.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import { loadSnapshot, saveSnapshot } from "../../../storage/snapshot.ts";
import type { Store } from "../../../storage/store.ts";
import {
  eventTtl,
  migrate,
  readStore,
  readStoreDirectory,
  restoreToDirectory,
  restoreToStore,
} from "../../../storage/transfer.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { put, remove } from "./contract.ts";

const tempDirectory = useTempDirectories();
const nowMs = Date.UTC(2025, 0, 1);

async function contents(store: Store): Promise<string[]> {
  return (await store.list("")).values.map(
    ({ key, value }) => `${key}=${Buffer.from(value).toString()}`,
  );
}

async function serving(directory: string): Promise<Store> {
  const store = createFileStore({ directory });
  await store.start();
  for (let i = 0; i < 300; i++)
    await put(store, `/registry/k${i % 50}`, `${i}`);
  await remove(store, "/registry/k0");
  return store;
}

it("saves a store while it is open, and restores it with its revisions", async () => {
  const directory = path.join(tempDirectory(), "a");
  const file = path.join(tempDirectory(), "snapshot");
  const store = await serving(directory);
  const status = await saveSnapshot(await readStoreDirectory(directory), file);
  expect(status).toMatchObject({ revision: store.revision, keys: 49 });
  expect(fs.statSync(file)).toMatchObject({ size: status.bytes });
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  const loaded = await loadSnapshot(file);
  expect(loaded.status).toEqual(status);

  const other = path.join(tempDirectory(), "b");
  await restoreToDirectory(loaded, other);
  await expect(restoreToDirectory(loaded, other)).rejects.toMatchObject({
    code: "locked",
  });
  await expect(
    restoreToDirectory(loaded, directory, true),
  ).rejects.toMatchObject({ code: "locked" });
  const restored = createFileStore({ directory: other });
  await restored.start();
  expect(restored.revision).toBe(store.revision);
  expect(await contents(restored)).toEqual(await contents(store));
  expect(
    (await restored.list("")).values.map(({ revision }) => revision),
  ).toEqual((await store.list("")).values.map(({ revision }) => revision));
  await Promise.all([store.stop(), restored.stop()]);
});

it("notices every damaged byte", async () => {
  const file = path.join(tempDirectory(), "snapshot");
  const store = createMemoryStore();
  await store.start();
  await put(store, "/registry/a", "1");
  await saveSnapshot(await readStore(store, eventTtl, nowMs), file);
  const content = fs.readFileSync(file);
  for (let at = 0; at < content.length; at++) {
    const damaged = Buffer.from(content);
    damaged[at]! ^= 0x10;
    fs.writeFileSync(file, damaged);
    await expect(loadSnapshot(file)).rejects.toMatchObject({ code: "corrupt" });
    fs.writeFileSync(file, content.subarray(0, at));
    await expect(loadSnapshot(file)).rejects.toMatchObject({ code: "corrupt" });
  }
  await store.stop();
});

it("moves the state to another store, once", async () => {
  const from = await serving(path.join(tempDirectory(), "a"));
  const to = createMemoryStore();
  await to.start();
  expect(await migrate(from, to, nowMs)).toBe(49);
  expect(await contents(to)).toEqual(await contents(from));
  await expect(
    restoreToStore({ revision: 1, entries: [] }, to, nowMs),
  ).rejects.toMatchObject({ code: "locked" });
  await Promise.all([from.stop(), to.stop()]);
});

it("keeps when keys expire", async () => {
  const directory = path.join(tempDirectory(), "a");
  const store = createFileStore({ directory });
  await store.start();
  await store.write({
    key: "/registry/events/ns/e",
    expectedRevision: 0,
    encode: () => Buffer.from("x"),
    ttlSeconds: 60,
  });
  const [entry] = (await readStoreDirectory(directory)).entries;
  expect(entry!.expiresAtMs).toBeGreaterThan(Date.now() + 50_000);
  expect(
    (await readStore(store, eventTtl, nowMs)).entries[0]!.expiresAtMs,
  ).toBe(nowMs + 3_600_000);
  await store.stop();
});
