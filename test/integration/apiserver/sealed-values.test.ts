// Values that are sealed with authenticated data, the resource and the key, by keys that a service outside hands out: at
// the start, on writes, and of events of other servers, which keep their order.
import {
  createCipheriv,
  createDecipheriv,
  randomBytes,
  randomInt,
} from "node:crypto";
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { systemClock, type Clock } from "../../../api/clock.ts";
import type {
  ValuePlace,
  ValueSeal,
} from "../../../apiserver-lite/registry/value-seal.ts";
import { createFileStore } from "../../../storage/file/file-store.ts";
import type { Store } from "../../../storage/store.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import {
  configMap,
  configMaps,
  startTestServer,
  type TestServer,
} from "./support.ts";

const tempDirectory = useTempDirectories();
const secrets = "/api/v1/namespaces/default/secrets";
const secret = (name: string, text: string): object => ({
  ...configMap(name, { stringData: { text } }),
  kind: "Secret",
});

/** Hands out the keys it made, after some time; each value names its key. */
class KeyService {
  readonly keys: Buffer[] = [randomBytes(32)];
  asked = 0;
  down = false;

  async key(id: number): Promise<Buffer> {
    this.asked++;
    await new Promise((resolve) => setTimeout(resolve, randomInt(5)));
    const key = this.keys[id];
    if (this.down || !key) throw new Error("the key service does not answer");
    return key;
  }
}

const head = "sealed:";

class TestSeal implements ValueSeal {
  readonly #known = new Map<number, Buffer>();
  readonly places: ValuePlace[] = [];

  constructor(private readonly service: KeyService) {}

  prepare(): Promise<void> | undefined {
    const id = this.service.keys.length - 1;
    return this.#known.has(id)
      ? undefined
      : this.#fetch(id).then(() => undefined);
  }

  seal(value: Uint8Array, place: ValuePlace): Buffer {
    const id = this.service.keys.length - 1;
    const iv = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", this.#known.get(id)!, iv);
    cipher.setAAD(aad(place));
    this.places.push(place);
    const sealed = Buffer.concat([cipher.update(value), cipher.final()]);
    return Buffer.concat([
      Buffer.from(head),
      Buffer.from([id]),
      iv,
      cipher.getAuthTag(),
      sealed,
    ]);
  }

  open(value: Uint8Array, place: ValuePlace): Buffer | Promise<Buffer> {
    const bytes = Buffer.from(value);
    if (!bytes.subarray(0, head.length).equals(Buffer.from(head)))
      throw new Error("the value is not sealed");
    const id = bytes[head.length]!;
    const known = this.#known.get(id);
    const open = (key: Buffer): Buffer =>
      opened(bytes.subarray(head.length + 1), key, place);
    return known ? open(known) : this.#fetch(id).then(open);
  }

  async #fetch(id: number): Promise<Buffer> {
    const key = await this.service.key(id);
    this.#known.set(id, key);
    return key;
  }
}

const aad = ({ key, group, resource }: ValuePlace): Buffer =>
  Buffer.from(`${resource}.${group} ${key}`);

function opened(bytes: Buffer, key: Buffer, place: ValuePlace): Buffer {
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
  decipher.setAAD(aad(place));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
}

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function start(
  service: KeyService,
  store?: Store,
  clock: Clock = systemClock,
): Promise<TestServer> {
  const seal = new TestSeal(service);
  const server = await startTestServer({
    ...(store ? { store } : {}),
    clock,
    sealOf: (group, resource) =>
      group === "" && resource === "secrets" ? seal : undefined,
  });
  servers.push(server);
  return server;
}

test("nothing of it is in the file in clear, and a restart opens all of it", async () => {
  const directory = path.join(tempDirectory(), "store");
  const service = new KeyService();
  const first = await start(service, createFileStore({ directory }));
  for (let at = 0; at < 150; at++) {
    if (at % 50 === 49) service.keys.push(randomBytes(32));
    const made = await first.call(
      "POST",
      secrets,
      secret(`s${at}`, `clear text ${at}`),
    );
    expect(made.status).toBe(201);
  }
  await first.call(
    "POST",
    configMaps,
    configMap("open", { data: { text: "not sealed" } }),
  );
  await first.call("DELETE", `${secrets}/s3`);
  const before = (await first.call("GET", secrets)).body;
  await first.stop();
  servers.pop();
  const log = readFileSync(path.join(directory, "log")).toString("latin1");
  expect(log).toContain("not sealed");
  expect(log).not.toContain(Buffer.from("clear text 7").toString("base64"));
  const asked = service.asked;
  const second = await start(service, createFileStore({ directory }));
  expect((await second.call("GET", secrets)).body.items).toEqual(before.items);
  expect(service.asked).toBeGreaterThan(asked);
  expect((await second.call("GET", `${configMaps}/open`)).status).toBe(200);
  const patched = await second.call(
    "PATCH",
    `${secrets}/s7`,
    { stringData: { text: "new" } },
    { "content-type": "application/merge-patch+json" },
  );
  expect(patched.body.data.text).toBe(Buffer.from("new").toString("base64"));
});

test("a value at another key, of another resource, damaged or in clear does not open", async () => {
  const service = new KeyService();
  const server = await start(service);
  await server.call("POST", secrets, secret("a", "x"));
  const { store } = server.server.registry;
  const key = "/registry/secrets/default/a";
  const { value } = (await store.get(key))!;
  const damaged = Buffer.from(value);
  damaged[damaged.length - 1]! ^= 1;
  const put = (name: string, bytes: Uint8Array): Promise<unknown> =>
    store.write({
      key: `/registry/secrets/default/${name}`,
      expectedRevision: undefined,
      encode: () => bytes,
    });
  await put("moved", value);
  await put("damaged", damaged);
  const clear = {
    kind: "Secret",
    apiVersion: "v1",
    metadata: { name: "clear", namespace: "default" },
  };
  await put("clear", Buffer.from(JSON.stringify(clear)));
  await put(
    "unknown-key",
    Buffer.concat([Buffer.from(head), Buffer.from([9]), value.subarray(8)]),
  );
  await eventually(
    async () =>
      (await server.call("GET", `${secrets}/unknown-key`)).status === 500,
  );
  for (const name of ["moved", "damaged", "clear"])
    expect((await server.call("GET", `${secrets}/${name}`)).status).toBe(500);
  expect((await server.call("GET", `${secrets}/a`)).status).toBe(200);
  // A list says that it can't show all, as with every value that can't be read.
  expect((await server.call("GET", secrets)).status).toBe(500);
});

test("values that did not open are tried again, and those that never will are left alone", async () => {
  const directory = path.join(tempDirectory(), "store");
  const service = new KeyService();
  const first = await start(service, createFileStore({ directory }));
  for (const name of ["a", "b"])
    await first.call("POST", secrets, secret(name, "x"));
  const { store } = first.server.registry;
  const { value } = (await store.get("/registry/secrets/default/a"))!;
  await store.write({
    key: "/registry/secrets/other/moved",
    expectedRevision: undefined,
    encode: () => value,
  });
  await first.stop();
  servers.pop();

  service.down = true;
  const clock = new FakeClock();
  const second = await start(service, createFileStore({ directory }), clock);
  const seen: string[] = [];
  second.server.registry.onChange("", "secrets", ({ object }) =>
    seen.push(object?.metadata.name ?? "gone"),
  );
  clock.advance(60_000);
  expect((await second.call("GET", `${secrets}/a`)).status).toBe(500);
  expect((await second.call("GET", secrets)).status).toBe(500);
  service.down = false;
  await eventually(async () => {
    clock.advance(60_000);
    return (await second.call("GET", `${secrets}/a`)).status === 200;
  });
  expect((await second.call("GET", secrets)).body.items).toHaveLength(2);
  expect(seen).toEqual(["a", "b"]);
  const moved = "/api/v1/namespaces/other/secrets/moved";
  expect((await second.call("GET", moved)).status).toBe(500);
  // It does not make the others be read again and again.
  const { cache } = second.server.registry.storedKind("", "secrets")!;
  const asked = service.asked;
  for (let at = 0; at < 5; at++) {
    clock.advance(60_000);
    await second.call("GET", `${secrets}/a`);
  }
  expect(second.server.registry.storedKind("", "secrets")!.cache).toBe(cache);
  expect(service.asked).toBe(asked);
});

test("a write that can't be sealed is refused, and nothing is written", async () => {
  const service = new KeyService();
  const server = await start(service);
  service.down = true;
  const { revision } = server.server.registry.store;
  const refused = await server.call("POST", secrets, secret("a", "x"));
  expect(refused).toMatchObject({
    status: 500,
    body: { reason: "InternalError" },
  });
  expect(refused.body.message).toContain("the key service does not answer");
  expect(server.server.registry.store.revision).toBe(revision);
  expect((await server.call("GET", secrets)).body.items).toEqual([]);
  service.down = false;
  expect((await server.call("POST", secrets, secret("a", "x"))).status).toBe(
    201,
  );
});

test("events of others keep their order while their values are opened", async () => {
  const service = new KeyService();
  for (let id = 1; id < 60; id++) service.keys.push(randomBytes(32));
  // A writer of its own, that knows all keys.
  const writer = new TestSeal(service);
  await writer.prepare();
  const server = await start(service);
  const { store, cache } = server.server.registry;
  const watch = await server.watch(`${secrets}?watch=1`);
  const key = "/registry/secrets/default/a";
  const place: ValuePlace = { key, group: "", resource: "secrets" };
  const sealedBy = (id: number, at: number): Buffer => {
    const iv = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", service.keys[id]!, iv);
    cipher.setAAD(aad(place));
    const value = {
      ...secret("a", ""),
      metadata: { name: "a", namespace: "default", labels: { at: String(at) } },
    };
    const sealed = Buffer.concat([
      cipher.update(JSON.stringify(value)),
      cipher.final(),
    ]);
    return Buffer.concat([
      Buffer.from(head),
      Buffer.from([id]),
      iv,
      cipher.getAuthTag(),
      sealed,
    ]);
  };
  const total = 300;
  for (let at = 0; at < total; at++)
    await store.write({
      key,
      expectedRevision: undefined,
      // Each key is fetched by the first value that names it; later ones open at once and must wait all the same.
      encode: () => sealedBy(at % 3 === 0 ? randomInt(60) : 59, at),
    });
  const seen: string[] = [];
  while (seen.length < total) {
    const frame = await watch.next();
    seen.push(frame!.object.metadata.labels.at);
  }
  expect(seen).toEqual(Array.from({ length: total }, (_, at) => String(at)));
  expect(cache.revision).toBe(store.revision);
  watch.close();
});
