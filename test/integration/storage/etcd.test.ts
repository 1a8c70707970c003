// The store on a real etcd: the contract of every engine, TLS, restarts, leases, compaction, several writers.
import * as fs from "node:fs";
import * as path from "node:path";
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
import { eventually } from "../../support/eventually.ts";
import { startEtcd, type TestEtcd } from "../../support/etcd.ts";
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
        timeoutMs: 3_000,
        ...extra,
        prefix,
      });
      await candidate.start();
      return candidate;
    },
    { what: "etcd", timeoutMs: 15_000 },
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
  await expect(put(store, "/during", "1", 0)).rejects.toMatchObject({
    name: "StoreError",
    code: "unavailable",
  });
  await expect(store.healthy()).rejects.toMatchObject({ name: "StoreError" });
  await etcd.start();
  await eventually(() => store.healthy().then(() => true), {
    timeoutMs: 15_000,
  });
  const other = await open({ prefix: usedPrefix.get(store)! });
  await put(other, "/after", "1", 0);
  await eventually(() => seen.events.some(({ key }) => key === "/after"), {
    timeoutMs: 15_000,
  });
  expect(seen.events.map(({ key }) => key)).toEqual(["/before", "/after"]);
  expect(seen.lost).toEqual([]);
  await Promise.all([store.stop(), other.stop()]);
}, 60_000);

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
    { timeoutMs: 15_000 },
  );
  expect((await store.list("/e/")).values.map(({ key }) => key)).toEqual([
    "/e/kept",
  ]);
  await store.stop();
}, 30_000);

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
    key: file("key", pair.key),
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
    tls: { ...tls, ca: Buffer.from(stranger.certificate) },
  });
  await expect(wrong.start()).rejects.toMatchObject({
    name: "StoreError",
    code: "unavailable",
  });
  await wrong.stop();
  await secure.stop();
}, 30_000);
