// After a restart on the file store the stored bytes are what readers get: nothing was parsed and encoded again, labels
// and fields are there, and a value that another version of this program wrote is read all the same.
import * as path from "node:path";
import pino from "pino";
import {
  createApiServer,
  superuser,
  type ApiServer,
} from "../../../apiserver-lite/server.ts";
import { createFileStore } from "../../../storage/file/file-store.ts";
import type { Store } from "../../../storage/store.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();
const logger = pino({ level: "silent" });
const pods = { group: "", version: "v1", resource: "pods" };
const secrets = { group: "", version: "v1", resource: "secrets" };

async function serve(
  directory: string,
): Promise<{ server: ApiServer; store: Store }> {
  const store = createFileStore({ directory });
  const server = createApiServer({ store, logger, listen: false });
  await server.start();
  return { server, store };
}

const create = (
  server: ApiServer,
  resource: typeof pods,
  body: object,
): Promise<unknown> =>
  server.transport(superuser).request({
    verb: "create",
    resource,
    namespace: "default",
    body: body as never,
  });

async function names(
  server: ApiServer,
  resource: typeof pods,
  query: Record<string, string>,
): Promise<string[]> {
  const { items } = (await server
    .transport(superuser)
    .request({ verb: "list", resource, namespace: "default", query })) as {
    items: { metadata: { name: string } }[];
  };
  return items.map(({ metadata }) => metadata.name);
}

const pod = (name: string, app: string) => ({
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name, namespace: "default", labels: { app } },
  spec: {
    nodeName: `node-${app}`,
    containers: [{ name: "c", image: "i" }],
  },
});

it("serves the stored bytes, with labels and fields, without parsing", async () => {
  const directory = path.join(tempDirectory(), "store");
  const first = await serve(directory);
  await create(first.server, pods, pod("a", "x"));
  await create(first.server, pods, pod("b", "y"));
  await create(first.server, secrets, {
    kind: "Secret",
    apiVersion: "v1",
    metadata: { name: "s", namespace: "default" },
    type: "example.com/t",
    stringData: { text: "two\nlines" },
  });
  const bytesOf = (server: ApiServer) =>
    server.registry
      .storedKind("", "pods")!
      .cache.entries()
      .map(({ json }) => json.toString());
  const before = bytesOf(first.server);
  await first.server.stop();
  await first.store.stop();

  const second = await serve(directory);
  const { cache } = second.server.registry.storedKind("", "pods")!;
  const entry = cache.get("default/b")!;
  expect(bytesOf(second.server)).toEqual(before);
  const stored = (await second.store.get("/registry/pods/default/b"))!;
  expect(entry.json.buffer).toBe(stored.value.buffer);
  expect(await names(second.server, pods, { labelSelector: "app=y" })).toEqual([
    "b",
  ]);
  expect(
    await names(second.server, pods, { fieldSelector: "spec.nodeName=node-x" }),
  ).toEqual(["a"]);
  expect(
    await names(second.server, secrets, {
      fieldSelector: "type=example.com/t",
    }),
  ).toEqual(["s"]);
  await second.server.stop();
  await second.store.stop();
});

it("does not trust what another version wrote beside the JSON", async () => {
  const directory = path.join(tempDirectory(), "store");
  const first = await serve(directory);
  await create(first.server, pods, pod("a", "x"));
  await create(first.server, pods, pod("b", "x"));
  await first.server.stop();
  await first.store.stop();

  // As a version would that knew fewer fields, and one that wrote no such line at all.
  const store = createFileStore({ directory });
  await store.start();
  const lines = async (name: string): Promise<[string, string]> => {
    const { value } = (await store.get(`/registry/pods/default/${name}`))!;
    const text = Buffer.from(value).toString().split("\n");
    return [text[0]!, text[1]!];
  };
  const rewrite = (name: string, text: (revision: number) => string) =>
    store.write({
      key: `/registry/pods/default/${name}`,
      expectedRevision: undefined,
      encode: (revision) => Buffer.from(text(revision)),
    });
  const versioned = (json: string, revision: number): string =>
    json.replace(/"resourceVersion":"\d+"/, `"resourceVersion":"${revision}"`);
  const [a] = await lines("a");
  await rewrite(
    "a",
    (revision) =>
      `${versioned(a, revision)}\n[1,${revision},{"app":"x"},{"spec.nodeName":"other"}]\n`,
  );
  const [b] = await lines("b");
  await rewrite("b", (revision) => `${versioned(b, revision)}\n`);
  await store.stop();

  const second = await serve(directory);
  expect(
    await names(second.server, pods, {
      labelSelector: "app=x",
      fieldSelector: "spec.nodeName=node-x",
    }),
  ).toEqual(["a", "b"]);
  await second.server.stop();
  await second.store.stop();
});
