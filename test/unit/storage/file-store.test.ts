import * as fs from "node:fs";
import * as path from "node:path";
import { createFileStore } from "../../../storage/file/file-store.ts";
import type { Store } from "../../../storage/store.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { describeStoreContract, put, remove } from "./contract.ts";

const tempDirectory = useTempDirectories();

async function opened(
  directory: string,
  extra: { clock?: FakeClock; compactAboveBytes?: number } = {},
): Promise<Store> {
  const store = createFileStore({ directory, ...extra });
  await store.start();
  return store;
}

async function contents(store: Store): Promise<Record<string, string>> {
  const { values } = await store.list("");
  return Object.fromEntries(
    values.map(({ key, value }) => [key, Buffer.from(value).toString()]),
  );
}

const directories = new WeakMap<Store, string>();
const open = async (directory: string): Promise<Store> => {
  const store = await opened(directory);
  directories.set(store, directory);
  return store;
};

describeStoreContract("file", {
  local: true,
  open: () => open(path.join(tempDirectory(), "store")),
  async reopen(store) {
    await store.stop();
    return open(directories.get(store)!);
  },
});

describe("the log", () => {
  it("is readable by its owner only", async () => {
    const directory = path.join(tempDirectory(), "store");
    const store = await opened(directory);
    await store.stop();
    expect(fs.statSync(directory).mode & 0o777).toBe(0o700);
    expect(fs.statSync(path.join(directory, "log")).mode & 0o777).toBe(0o600);
  });

  it("is compacted while writes go on, keeping values and revisions", async () => {
    const directory = tempDirectory();
    let store = await opened(directory, { compactAboveBytes: 20_000 });
    const value = "x".repeat(500);
    for (let round = 0; round < 40; round++) {
      await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          put(store, `/k${i}`, `${value}${round}`),
        ),
      );
    }
    await put(store, "/gone", "1");
    const last = await remove(store, "/gone");
    await store.stop();
    expect(fs.statSync(path.join(directory, "log")).size).toBeLessThan(60_000);
    expect(fs.existsSync(path.join(directory, "log.new"))).toBe(false);
    store = await opened(directory);
    expect(store.revision).toBe(last.ok && last.revision);
    expect(Object.keys(await contents(store))).toHaveLength(10);
    expect((await contents(store))["/k9"]).toBe(`${value}39`);
    await store.stop();
  });

  it("is not written to while nothing happens", async () => {
    const directory = tempDirectory();
    const clock = new FakeClock();
    const store = await opened(directory, { clock });
    await put(store, "/a", "1", 0);
    const before = fs.statSync(path.join(directory, "log"));
    await clock.advanceAsync(3_600_000);
    const after = fs.statSync(path.join(directory, "log"));
    expect([after.size, after.mtimeMs, clock.pending]).toEqual([
      before.size,
      before.mtimeMs,
      0,
    ]);
    await store.stop();
  });
});

describe("the directory", () => {
  it("belongs to one store at a time", async () => {
    const directory = tempDirectory();
    const store = await opened(directory);
    await expect(opened(directory)).rejects.toMatchObject({
      name: "StoreError",
      code: "locked",
    });
    await store.stop();
    await (await opened(directory)).stop();
  });

  it("is taken over from a process that is gone, also when its pid is in use again", async () => {
    const directory = tempDirectory();
    const lock = path.join(directory, "lock");
    for (const left of [`${process.ppid} 1 abc\n`, "4194305 7\n", ""]) {
      fs.writeFileSync(lock, left);
      await (await opened(directory)).stop();
    }
  });

  it("belongs to a running process of an earlier version, whose lock is the file", async () => {
    const directory = tempDirectory();
    const stat = fs.readFileSync(`/proc/${process.ppid}/stat`, "utf8");
    const start = stat.split(") ").at(-1)!.split(" ")[19];
    const lock = path.join(directory, "lock");
    fs.writeFileSync(lock, `${process.ppid} ${start} abc\n`);
    await expect(opened(directory)).rejects.toMatchObject({ code: "locked" });
    fs.writeFileSync(lock, "");
    const store = await opened(directory);
    // It takes over from nobody whose process lives.
    expect(fs.readFileSync(lock, "utf8")).toMatch(`${process.pid} `);
    await store.stop();
    expect(fs.readFileSync(lock, "utf8")).toBe("");
  });
});

it("expires keys whose time ended while it was closed", async () => {
  const directory = tempDirectory();
  const clock = new FakeClock();
  let store = await opened(directory, { clock });
  const encode = () => Buffer.from("x");
  await store.write({
    key: "/e/a",
    expectedRevision: 0,
    encode,
    ttlSeconds: 60,
  });
  await store.write({
    key: "/e/b",
    expectedRevision: 0,
    encode,
    ttlSeconds: 600,
  });
  await store.stop();
  expect(clock.pending).toBe(0);
  clock.advance(120_000);
  store = await opened(directory, { clock });
  await clock.advanceAsync(1_000);
  await eventually(async () => !(await store.get("/e/a")));
  expect(Object.keys(await contents(store))).toEqual(["/e/b"]);
  await store.stop();
});
