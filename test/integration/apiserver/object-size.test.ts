// A stored object has at most 1.5 MiB encoded, on every store, and is refused before anything is written; in the words of
// the reference, whose etcd refuses it.
import * as path from "node:path";
import { createEtcdStore } from "../../../storage/etcd/etcd-store.ts";
import { createFileStore } from "../../../storage/file/file-store.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import type { Store } from "../../../storage/store.ts";
import { startEtcd, type TestEtcd } from "../../support/etcd.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { startTestServer, type TestServer } from "./support.ts";

const tempDirectory = useTempDirectories();
const pods = "/api/v1/namespaces/default/pods";
const refused = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: "etcdserver: request is too large",
  code: 500,
};
const MiB = 1024 * 1024;

const pod = (name: string, bytes: number, text = "x") => ({
  metadata: { name },
  spec: {
    containers: [
      {
        name: "c",
        image: "i",
        env: [{ name: "LARGE", value: text.repeat(bytes) }],
      },
    ],
  },
});

let etcd: TestEtcd;
beforeAll(async () => {
  etcd = await startEtcd();
});
afterAll(() => etcd.stop());

describe.each<[string, () => Store]>([
  ["memory", () => createMemoryStore()],
  [
    "file",
    () => createFileStore({ directory: path.join(tempDirectory(), "store") }),
  ],
  ["etcd", () => createEtcdStore({ servers: [etcd.url] })],
])("on the %s store", (_, makeStore) => {
  let server: TestServer;
  let store: Store;
  beforeAll(async () => {
    store = makeStore();
    server = await startTestServer({ store });
  });
  afterAll(async () => {
    await server.stop();
    await store.stop();
  });

  it("refuses what is larger, and stores nothing of it", async () => {
    const { revision } = store;
    const answer = await server.call("POST", pods, pod("large", 1.6 * MiB));
    expect(answer.body).toEqual(refused);
    expect(answer.status).toBe(500);
    expect((await server.call("GET", `${pods}/large`)).status).toBe(404);
    expect(store.revision).toBe(revision);
    // The same name is free.
    expect((await server.call("POST", pods, pod("large", 10))).status).toBe(
      201,
    );
  });

  it("keeps the old version when an update is refused", async () => {
    const made = await server.call("POST", pods, pod("grows", 0.9 * MiB));
    expect(made.status).toBe(201);
    const patch = {
      metadata: { annotations: { a: "y".repeat(200 * 1024) } },
      spec: { containers: [{ name: "c", image: "z".repeat(0.7 * MiB) }] },
    };
    const answer = await server.call("PATCH", `${pods}/grows`, patch, {
      "content-type": "application/strategic-merge-patch+json",
    });
    expect(answer.body).toEqual(refused);
    const { body } = await server.call("GET", `${pods}/grows`);
    expect(body).toEqual(made.body);
  });

  it("counts the bytes of the reference's encoding, not of JSON", async () => {
    // Each newline is two bytes in JSON.
    const answer = await server.call("POST", pods, pod("quoted", MiB, "\n"));
    expect(answer.status).toBe(201);
    expect(answer.text.length).toBeGreaterThan(2 * MiB);
    const twice = await server.call(
      "POST",
      pods,
      pod("twice", 1.4 * MiB, "\n"),
    );
    expect(twice.status).toBe(201);
    const more = await server.call(
      "POST",
      pods,
      pod("more", 1.49 * MiB + 9999, "\n"),
    );
    expect(more.body).toEqual(refused);
  });
});

it("has another limit where the option says so", async () => {
  const server = await startTestServer({ maxObjectBytes: 4096 });
  expect((await server.call("POST", pods, pod("a", 5000))).body).toEqual(
    refused,
  );
  expect((await server.call("POST", pods, pod("a", 1000))).status).toBe(201);
  await server.stop();
});

it("answers 413 when the request itself is larger than 3 MiB", async () => {
  const server = await startTestServer();
  const answer = await server.call("POST", pods, pod("a", 3.1 * MiB));
  expect(answer.status).toBe(413);
  await server.stop();
});
