// `orbit store` on a store of 10,000 objects that a server serves: save while it is written to, restore, status, and the
// way to etcd and back.
import * as path from "node:path";
import pino from "pino";
import {
  createApiServer,
  superuser,
  type ApiServer,
} from "../../../apiserver-lite/server.ts";
import { runStore } from "../../../cli/store.ts";
import { createEtcdStore } from "../../../storage/etcd/etcd-store.ts";
import { createFileStore } from "../../../storage/file/file-store.ts";
import type { Store } from "../../../storage/store.ts";
import { startEtcd, type TestEtcd } from "../../support/etcd.ts";
import { eventually } from "../../support/eventually.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();
const objects = 10_000;
const resource = { group: "", version: "v1", resource: "configmaps" };
const logger = pino({ level: "silent" });
const lines: string[] = [];
let etcd: TestEtcd;

beforeAll(async () => {
  etcd = await startEtcd();
});
afterAll(() => etcd.stop());
beforeEach(() => {
  lines.length = 0;
  jest.spyOn(process.stdout, "write").mockImplementation((text) => {
    lines.push(String(text));
    return true;
  });
});
afterEach(() => jest.restoreAllMocks());

const fileStore = (dataDirectory: string): Store =>
  createFileStore({ directory: path.join(dataDirectory, "store"), logger });

async function serve(store: Store): Promise<ApiServer> {
  const server = createApiServer({ store, logger });
  await server.start();
  return server;
}

async function create(server: ApiServer, name: string): Promise<unknown> {
  return server.transport(superuser).request({
    verb: "create",
    resource,
    namespace: "default",
    body: {
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: { name, namespace: "default" },
      data: { text: "x".repeat(1000) },
    } as never,
  });
}

async function names(server: ApiServer): Promise<string[]> {
  const { items } = (await server
    .transport(superuser)
    .request({ verb: "list", resource, namespace: "default" })) as unknown as {
    items: { metadata: { name: string } }[];
  };
  return items.map(({ metadata }) => metadata.name);
}

async function orbitStore(...argv: string[]): Promise<void> {
  expect(await runStore(argv)).toBe(0);
}

it("saves, restores and moves 10,000 objects while they are served", async () => {
  const [from, to, back] = [tempDirectory(), tempDirectory(), tempDirectory()];
  const file = path.join(tempDirectory(), "state");
  const server = await serve(fileStore(from));
  for (let first = 0; first < objects; first += 500)
    await Promise.all(
      Array.from({ length: 500 }, (_, i) => create(server, `c${first + i}`)),
    );
  let writing = true;
  let written = 0;
  const writer = (async () => {
    while (writing) await create(server, `beside-${written++}`);
  })();
  await orbitStore("snapshot", "save", file, "--data-dir", from);
  writing = false;
  await writer;
  const saved = lines.join("");
  lines.length = 0;
  await orbitStore("snapshot", "status", file);
  expect(lines.join("")).toBe(saved);
  expect(Number(/keys +(\d+)/.exec(saved)![1])).toBeGreaterThan(objects);
  await server.stop();

  await orbitStore("snapshot", "restore", file, "--data-dir", to);
  const restored = await serve(fileStore(to));
  const kept = await names(restored);
  for (let i = 0; i < objects; i += 997) expect(kept).toContain(`c${i}`);
  expect(kept.filter((name) => name.startsWith("c"))).toHaveLength(objects);
  await create(restored, "after");
  await restored.stop();

  const servers = ["--etcd-servers", etcd.url];
  await orbitStore("migrate", "--data-dir", to, "--to", "etcd", ...servers);
  const store = createEtcdStore({ servers: [etcd.url] });
  const onEtcd = await serve(store);
  expect(await names(onEtcd)).toHaveLength(kept.length + 1);
  const { value } = (await store.get("/registry/configmaps/default/after"))!;
  expect(Buffer.from(value).subarray(0, 4).toString()).toBe("k8s\0");
  await onEtcd.stop();
  await eventually(async () => {
    await orbitStore(
      ...["migrate", "--store", "etcd", "--to", "file", "--data-dir", back],
      ...servers,
    );
    return true;
  });
  const again = await serve(fileStore(back));
  expect(await names(again)).toHaveLength(kept.length + 1);
  await again.stop();
});

it("does not restore over a state, or from a damaged file", async () => {
  const [from, to] = [tempDirectory(), tempDirectory()];
  const file = path.join(tempDirectory(), "state");
  const server = await serve(fileStore(from));
  await orbitStore("snapshot", "save", file, "--data-dir", from);
  await expect(
    runStore(["snapshot", "restore", file, "--data-dir", from]),
  ).rejects.toThrow(/lock|in use|used/i);
  await server.stop();
  await expect(
    runStore(["snapshot", "restore", file, "--data-dir", from]),
  ).rejects.toThrow(/already holds a store/);
  await orbitStore(
    "snapshot",
    "restore",
    file,
    "--data-dir",
    from,
    "--replace",
  );
  const fs = await import("node:fs");
  const bytes = fs.readFileSync(file);
  bytes[bytes.length >> 1]! ^= 1;
  fs.writeFileSync(file, bytes);
  await expect(
    runStore(["snapshot", "restore", file, "--data-dir", to]),
  ).rejects.toThrow(/is damaged/);
});
