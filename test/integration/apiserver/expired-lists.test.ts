// Lists continued after their version has expired, on each store: by age, also in a collection that nobody changed
// since; the token in the refusal goes on behind the last key, at the newest version.
import { createEtcdStore } from "../../../storage/etcd/etcd-store.ts";
import { createFileStore } from "../../../storage/file/file-store.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import type { Store } from "../../../storage/store.ts";
import { startEtcd, type TestEtcd } from "../../support/etcd.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import {
  configMap,
  configMaps,
  startTestServer,
  type Json,
  type TestServer,
} from "./support.ts";

const directory = useTempDirectories();
const templates = "/api/v1/namespaces/default/podtemplates";
const total = 10;
const minuteMs = 60_000;

let etcd: TestEtcd;
let server: TestServer | undefined;
let clock: FakeClock;

beforeAll(async () => {
  etcd = await startEtcd();
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
});
afterAll(() => etcd.stop());

const stores: [string, () => Store][] = [
  ["memory", () => createMemoryStore()],
  ["file", () => createFileStore({ directory: directory() })],
  [
    "etcd",
    () => createEtcdStore({ servers: [etcd.url], compactionIntervalMs: 0 }),
  ],
];

const get = (path: string): Promise<{ status: number; body: Json }> =>
  server!.call("GET", path);
const names = (body: Json): string[] =>
  body.items.map((item: Json) => item.metadata.name);
const nameOf = (index: number): string =>
  `template-${String(index).padStart(4, "0")}`;
const allNames = Array.from({ length: total }, (_, index) => nameOf(index));

async function makeTemplates(): Promise<void> {
  for (const name of allNames)
    await server!.call("POST", templates, {
      kind: "PodTemplate",
      apiVersion: "v1",
      metadata: { name },
      template: { spec: { containers: [{ name: "test", image: "test" }] } },
    });
}

/** As time passes in a cluster: something else is written now and then. */
async function pass(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    await server!.call("POST", configMaps, {
      ...configMap(""),
      metadata: { generateName: "other-" },
    });
    await clock.advanceAsync(minuteMs);
  }
}

describe.each(stores)("%s store", (_name, makeStore) => {
  beforeEach(async () => {
    clock = new FakeClock();
    server = await startTestServer({
      store: makeStore(),
      clock,
    });
    await makeTemplates();
  });

  test("a quiet collection: the version expires, and the rest comes once", async () => {
    const first = await get(`${templates}?limit=3`);
    expect(names(first.body)).toEqual(allNames.slice(0, 3));
    const { continue: token, resourceVersion } = first.body.metadata;

    await pass(4);
    const second = await get(`${templates}?limit=3&continue=${token}`);
    expect(names(second.body)).toEqual(allNames.slice(3, 6));
    expect(second.body.metadata.resourceVersion).toBe(resourceVersion);

    await pass(3);
    const gone = await get(`${templates}?limit=3&continue=${token}`);
    expect([gone.status, gone.body.reason]).toEqual([410, "Expired"]);
    const exact = await get(
      `${templates}?resourceVersionMatch=Exact&resourceVersion=${resourceVersion}`,
    );
    expect(exact.status).toBe(410);

    const seen = names(first.body);
    const versions = new Set<string>();
    for (let next = gone.body.metadata.continue as string; next;) {
      const { body } = await get(`${templates}?limit=3&continue=${next}`);
      seen.push(...names(body));
      versions.add(body.metadata.resourceVersion);
      const left = total - seen.length;
      expect(body.metadata.remainingItemCount).toBe(left || undefined);
      next = body.metadata.continue;
    }
    expect(seen).toEqual(allNames);
    expect(versions.size).toBe(1);
    expect(versions).not.toContain(resourceVersion);
  });

  test("a changed collection: the rest as it is now", async () => {
    const first = await get(`${templates}?limit=3`);
    await server!.call("DELETE", `${templates}/${nameOf(1)}`);
    await server!.call("DELETE", `${templates}/${nameOf(4)}`);
    await pass(7);
    const gone = await get(
      `${templates}?limit=3&continue=${first.body.metadata.continue}`,
    );
    expect(gone.status).toBe(410);
    const rest = await get(
      `${templates}?continue=${gone.body.metadata.continue}`,
    );
    expect(names(rest.body)).toEqual(
      allNames.slice(3).filter((name) => name !== nameOf(4)),
    );
  });

  test("a version nothing was written after does not expire, and a watch may start at an expired one", async () => {
    const first = await get(`${templates}?limit=3`);
    const { continue: token, resourceVersion } = first.body.metadata;
    await clock.advanceAsync(30 * minuteMs);
    const second = await get(`${templates}?limit=3&continue=${token}`);
    expect(names(second.body)).toEqual(allNames.slice(3, 6));

    await pass(7);
    const watch = await server!.watch(
      `${templates}?watch=1&resourceVersion=${resourceVersion}`,
    );
    await server!.call("DELETE", `${templates}/${nameOf(9)}`);
    expect(await watch.take(1)).toEqual([`DELETED ${nameOf(9)}`]);
    watch.close();
  });
});
