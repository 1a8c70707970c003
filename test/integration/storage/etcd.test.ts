// The store on a real etcd: the contract of every engine, TLS, restarts, leases, compaction, several writers.
import { execFile } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { promisify } from "node:util";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
} from "../../../api/pki/certificate.ts";
import {
  createEtcdStore,
  type EtcdStoreOptions,
} from "../../../storage/etcd/etcd-store.ts";
import type { Store, StoreEvent } from "../../../storage/store.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { etcdctlTimes, startEtcd, type TestEtcd } from "../../support/etcd.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { describeStoreContract, put } from "../../unit/storage/contract.ts";

const tempDirectory = useTempDirectories();
let etcd: TestEtcd;
let prefixes = 0;
const usedPrefix = new WeakMap<Store, string>();

beforeAll(async () => {
  etcd = await startEtcd();
});
afterAll(() => etcd.stop());

async function open(extra: Partial<EtcdStoreOptions> = {}): Promise<Store> {
  const prefix = extra.prefix ?? `/test-${++prefixes}`;
  const store = await eventually(
    async () => {
      const candidate = createEtcdStore({
        servers: [etcd.url],
        root: "",
        timeoutMs: 20_000,
        patienceMs: 300,
        initializationTimeoutMs: 300,
        ...extra,
        prefix,
      });
      await candidate.start();
      return candidate;
    },
    { what: "etcd" },
  );
  usedPrefix.set(store, prefix);
  return store;
}

describeStoreContract("etcd", {
  local: false,
  open: () => open(),
  async reopen(store) {
    await store.stop();
    return open({ prefix: usedPrefix.get(store)! });
  },
});

async function keyValue(
  key: string,
): Promise<{ version: string; value: string } | undefined> {
  const { stdout } = await promisify(execFile)(
    "etcdctl",
    [...etcdctlTimes, "--endpoints", etcd.url, "get", key, "-w", "json"],
    { env: { ...process.env, ETCDCTL_API: "3" } },
  );
  const { kvs } = JSON.parse(stdout) as {
    kvs?: { version: string; value: string }[];
  };
  return kvs?.[0];
}

function collect(
  store: Store,
  revision = store.revision,
): { events: StoreEvent[]; lost: Error[] } {
  const seen = { events: [] as StoreEvent[], lost: [] as Error[] };
  store.subscribe(
    revision,
    (events) => seen.events.push(...events),
    (error) => seen.lost.push(error),
  );
  return seen;
}

it("shows each of two servers the other's writes", async () => {
  const one = await open();
  const two = await open({ prefix: usedPrefix.get(one)! });
  const seen = collect(two);
  const result = await put(one, "/a", "1", 0);
  expect(await put(two, "/a", "2", 0)).toMatchObject({ ok: false });
  await eventually(() => seen.events.length > 0);
  expect(seen.events[0]).toMatchObject({
    key: "/a",
    revision: result.ok && result.revision,
    attachment: undefined,
  });
  await Promise.all([one.stop(), two.stop()]);
});

it("lists more than a page", async () => {
  const store = await open();
  await Promise.all(
    Array.from({ length: 1_203 }, (_, i) =>
      put(store, `/k/${String(i).padStart(5, "0")}`, "v", 0),
    ),
  );
  const { values } = await store.list("/k/");
  expect(values).toHaveLength(1_203);
  expect(values.map(({ key }) => key)).toEqual(
    [...values.map(({ key }) => key)].sort(),
  );
  await store.stop();
});

it("goes on after etcd was gone, with no event lost", async () => {
  const store = await open();
  const seen = collect(store);
  await put(store, "/before", "1", 0);
  await etcd.kill();
  // What was under way when it went may have happened; what comes later waits for a while.
  const refused = await put(store, "/during", "1", 0).catch(
    (error: unknown) => error,
  );
  expect(refused).toMatchObject({ name: "StoreError" });
  await expect(put(store, "/during", "1", 0)).rejects.toMatchObject({
    name: "StoreError",
    code: "timeout",
  });
  await expect(store.healthy()).rejects.toMatchObject({ name: "StoreError" });
  await etcd.start();
  await eventually(() => store.healthy().then(() => true));
  const other = await open({ prefix: usedPrefix.get(store)! });
  await put(other, "/after", "1", 0);
  await eventually(() => seen.events.some(({ key }) => key === "/after"));
  expect(seen.events.map(({ key }) => key)).toEqual(["/before", "/after"]);
  expect(seen.lost).toEqual([]);
  await Promise.all([store.stop(), other.stop()]);
});

it("waits for an etcd that comes back", async () => {
  const store = await open({ patienceMs: 60_000 });
  await put(store, "/a", "1", 0);
  await etcd.kill();
  await put(store, "/lost", "1", 0).catch(() => undefined);
  const late = put(store, "/late", "1", 0);
  const read = store.get("/a");
  await etcd.start();
  expect((await late).ok).toBe(true);
  expect((await read)?.key).toBe("/a");
  await store.stop();
});

it("compacts with other servers, one of them an interval", async () => {
  const clock = new FakeClock();
  const options = { clock, compactionIntervalMs: 1_000, prefix: "/compacted" };
  const [one, two] = [await open(options), await open(options)];
  const version = async (): Promise<string | undefined> =>
    (await keyValue("compact_rev_key"))?.version;
  const before = Number((await version()) ?? 0);
  for (let round = 1; round <= 3; round++) {
    await put(one, `/round-${round}`, "1", 0);
    clock.advance(1_000);
    await eventually(async () => Number(await version()) >= before + round);
  }
  await Promise.all([one.stop(), two.stop()]);
  const { value } = (await keyValue("compact_rev_key"))!;
  expect(Number(Buffer.from(value, "base64"))).toBeGreaterThan(1);
});

it("takes many new keys at once, and tells the size of the database", async () => {
  const store = await open({ databaseSizeIntervalMs: 10 });
  const seen = collect(store);
  const entries = Array.from({ length: 350 }, (_, index) => ({
    key: `/many/${String(index).padStart(4, "0")}`,
    value: Buffer.alloc(10_000, "x"),
    ...(index === 0 ? { ttlSeconds: 60 } : {}),
  }));
  expect(await store.writeNew!(entries)).toBe(true);
  await eventually(() => seen.events.length === 350);
  expect((await store.list("/many/")).values.map(({ key }) => key)).toEqual(
    entries.map(({ key }) => key),
  );
  expect(await store.writeNew!([entries[7]!])).toBe(false);
  await eventually(() => (store.databaseBytes ?? 0) > 0);
  await store.stop();
});

it("uses the next server when one is not there", async () => {
  const store = await open({ servers: ["http://127.0.0.1:1", etcd.url] });
  expect((await put(store, "/a", "1", 0)).ok).toBe(true);
  await store.stop();
});

it("lets keys expire, several on one lease", async () => {
  const store = await open();
  const seen = collect(store);
  const encode = () => Buffer.from("x");
  for (const key of ["/e/1", "/e/2"])
    await store.write({ key, expectedRevision: 0, encode, ttlSeconds: 1 });
  await put(store, "/e/kept", "x", 0);
  await eventually(
    () => seen.events.filter(({ type }) => type === "delete").length === 2,
  );
  expect((await store.list("/e/")).values.map(({ key }) => key)).toEqual([
    "/e/kept",
  ]);
  await store.stop();
});

it("keeps to its prefix, in the reference's form", async () => {
  const store = await open({ root: "/registry", prefix: "/mine" });
  const plain = await open({ prefix: "" });
  await put(store, "/registry/pods/default/a", "1", 0);
  expect(
    (await plain.list("/mine/pods/")).values.map(({ key }) => key),
  ).toEqual(["/mine/pods/default/a"]);
  expect(
    (await store.list("/registry/pods/")).values.map(({ key }) => key),
  ).toEqual(["/registry/pods/default/a"]);
  await Promise.all([store.stop(), plain.stop()]);
});

it("speaks TLS with client certificates, and only to the right server", async () => {
  const nowMs = Date.now();
  const ca = createCertificateAuthority({
    subject: { commonName: "etcd-ca" },
    nowMs,
  });
  const pair = issueCertificate(ca, {
    subject: { commonName: "etcd" },
    usages: ["server auth", "client auth"],
    ipAddresses: ["127.0.0.1"],
    validityMs: YEAR_MS,
    nowMs,
  });
  const directory = tempDirectory();
  const file = (name: string, text: string): string => {
    fs.writeFileSync(path.join(directory, name), text);
    return path.join(directory, name);
  };
  const secure = await startEtcd({
    ca: file("ca", ca.certificate),
    certificate: file("crt", pair.certificate),
    key: file("key", pair.key.toString()),
  });
  const tls = {
    ca: Buffer.from(ca.certificate),
    certificate: Buffer.from(pair.certificate),
    key: Buffer.from(pair.key),
  };
  const store = await open({ servers: [secure.url], tls });
  expect((await put(store, "/a", "1", 0)).ok).toBe(true);
  await store.stop();
  const stranger = createCertificateAuthority({
    subject: { commonName: "other" },
    nowMs,
  });
  const wrong = createEtcdStore({
    servers: [secure.url],
    timeoutMs: 2_000,
    initializationTimeoutMs: 100,
    tls: { ...tls, ca: Buffer.from(stranger.certificate) },
  });
  await expect(wrong.start()).rejects.toMatchObject({
    name: "StoreError",
    code: "timeout",
  });
  await wrong.stop();
  await secure.stop();
});
