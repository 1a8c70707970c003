// An operator on a framework from npm (test/support/operators), in its own process with its own client libraries, together
// with a webhook that refuses what it can't use, against a whole cluster.
import { spawn, type ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import * as k8s from "@kubernetes/client-node";
import { startCluster, type Cluster } from "../../../index.ts";
import { crd } from "../../support/definitions.ts";
import { eventually } from "../../support/eventually.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import {
  configuration,
  startWebhookServer,
  type WebhookServer,
} from "../../support/webhooks.ts";

const directories = useTempDirectories();
const group = "desk.example.com";
const place = { group, version: "v1", namespace: "default", plural: "memos" };

interface Memo extends k8s.KubernetesObject {
  spec: { text: string };
  status?: { observedGeneration: number };
}

let cluster: Cluster;
let hooks: WebhookServer;
let custom: k8s.CustomObjectsApi;
let core: k8s.CoreV1Api;
let operator: ChildProcess;
let printed = "";

beforeAll(async () => {
  cluster = await startCluster({ scheduler: false });
  const config = new k8s.KubeConfig();
  config.loadFromString(cluster.kubeconfig);
  custom = config.makeApiClient(k8s.CustomObjectsApi);
  core = config.makeApiClient(k8s.CoreV1Api);
  hooks = await startWebhookServer();
  hooks.on["/check"] = ({ object }) =>
    object.spec.text === ""
      ? { allowed: false, status: { message: "a memo needs a text" } }
      : { allowed: true };
  await k8s.KubernetesObjectApi.makeApiClient(config).create(
    configuration("Validating", "desk", hooks, {
      "/check": {
        rules: [
          {
            apiGroups: [group],
            apiVersions: ["v1"],
            operations: ["CREATE", "UPDATE"],
            resources: ["memos"],
          },
        ],
      },
    }),
  );
  const directory = directories();
  const definition = path.join(directory, "memos.yaml");
  const kubeconfig = path.join(directory, "kubeconfig");
  fs.writeFileSync(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
  // JSON is YAML too.
  fs.writeFileSync(
    definition,
    JSON.stringify(
      crd({
        group,
        plural: "memos",
        kind: "Memo",
        schema: {
          type: "object",
          properties: {
            spec: {
              type: "object",
              required: ["text"],
              properties: { text: { type: "string", maxLength: 20 } },
            },
            status: {
              type: "object",
              properties: { observedGeneration: { type: "integer" } },
            },
          },
        },
        version: { subresources: { status: {} } },
      }),
    ),
  );
  operator = spawn(
    process.execPath,
    [
      path.join(__dirname, "../../support/operators/memo-operator.mjs"),
      definition,
    ],
    {
      env: { ...process.env, KUBECONFIG: kubeconfig },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  for (const stream of [operator.stdout!, operator.stderr!])
    stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  await eventually(() => printed.includes("watching"), {
    what: "the operator to watch",
  });
  await eventually(() =>
    custom.listNamespacedCustomObject(place).then(
      () => true,
      () => false,
    ),
  );
});

afterAll(async () => {
  operator?.kill("SIGTERM");
  await cluster?.stop();
  await hooks?.close();
});

const memo = (name: string, text: string): object => ({
  apiVersion: `${group}/v1`,
  kind: "Memo",
  metadata: { name },
  spec: { text },
});

const create = (body: object): Promise<unknown> =>
  custom.createNamespacedCustomObject({ ...place, body });

const text = async (name: string): Promise<string | undefined> =>
  core
    .readNamespacedConfigMap({ name, namespace: "default" })
    .then(({ data }) => data?.["text"])
    .catch(() => undefined);

const read = async (name: string): Promise<Memo | undefined> =>
  custom
    .getNamespacedCustomObject({ ...place, name })
    .then((found) => found as Memo)
    .catch(() => undefined);

test("a memo becomes a ConfigMap, and its status says so", async () => {
  await create(memo("one", "milk"));
  await eventually(async () => (await text("one")) === "milk", {
    what: `the ConfigMap; the operator printed ${printed}`,
  });
  await eventually(
    async () => (await read("one"))?.status?.observedGeneration === 1,
    { what: "the status" },
  );
  await custom.patchNamespacedCustomObject(
    { ...place, name: "one", body: { spec: { text: "bread" } } },
    k8s.setHeaderOptions("Content-Type", "application/merge-patch+json"),
  );
  await eventually(
    async () =>
      (await text("one")) === "bread" &&
      (await read("one"))?.status?.observedGeneration === 2,
    { what: "the change" },
  );
});

test("what schema or webhook refuses never reaches it", async () => {
  await expect(create(memo("empty", ""))).rejects.toThrow(
    /a memo needs a text/,
  );
  await expect(create(memo("long", "x".repeat(21)))).rejects.toThrow(
    /may not be more than 20/,
  );
  expect(await text("empty")).toBeUndefined();
});

test("a deleted memo goes when its ConfigMap is gone", async () => {
  await create(memo("two", "tea"));
  await eventually(
    async () =>
      (await read("two"))?.metadata?.finalizers?.length === 1 &&
      (await text("two")) === "tea",
    { what: "the finalizer" },
  );
  await custom.deleteNamespacedCustomObject({ ...place, name: "two" });
  await eventually(async () => (await read("two")) === undefined, {
    what: "the memo to go",
  });
  expect(await text("two")).toBeUndefined();
  expect(printed.trim()).toBe("watching");
});
