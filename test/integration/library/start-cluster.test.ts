// The library as its users meet it: in process, in memory, several at once, also for stock kubectl.
import * as fs from "node:fs";
import * as path from "node:path";
import {
  configMaps,
  deployments,
  pods,
  startCluster,
  type Cluster,
} from "../../../index.ts";
import { eventually } from "../../support/eventually.ts";
import { createKubectl } from "../../support/kubectl.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directory = useTempDirectories();
const running: Cluster[] = [];
const start = async () => {
  const cluster = await startCluster();
  running.push(cluster);
  return cluster;
};
afterEach(async () => {
  for (const cluster of running.splice(0)) await cluster.stop();
});

const configMap = (name: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data: { a: "b" },
});

test("two clusters in one process know nothing of each other", async () => {
  const [one, other] = await Promise.all([start(), start()]);
  await one!.client.resource(configMaps).create(configMap("only-here"));
  expect(
    (await one!.client.resource(configMaps).get("only-here", "default")).data,
  ).toEqual({ a: "b" });
  await expect(
    other!.client.resource(configMaps).get("only-here", "default"),
  ).rejects.toMatchObject({ code: 404 });
});

test("controllers and scheduler work: a Deployment makes its pods", async () => {
  const { client } = await start();
  await client.resource(deployments).create({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } } as never,
        spec: { containers: [{ name: "c", image: "x" }] },
      },
    },
  });
  await eventually(
    async () =>
      (await client.resource(pods).list({ namespace: "default" })).items
        .length === 2,
    { what: "two pods" },
  );
});

test("kubectl uses its kubeconfig", async () => {
  const cluster = await start();
  const file = path.join(directory(), "kubeconfig");
  fs.writeFileSync(file, cluster.kubeconfig, { mode: 0o600 });
  const kubectl = createKubectl(file);
  expect(
    await kubectl("create configmap from-kubectl --from-literal=x=y"),
  ).toMatchObject({ code: 0 });
  expect(
    (await cluster.client.resource(configMaps).get("from-kubectl", "default"))
      .data,
  ).toEqual({ x: "y" });
});

test("HTTP and the client in process show the same; stopped, it leaves nothing open", async () => {
  const handles = () =>
    process
      .getActiveResourcesInfo()
      .filter((name) => /Server|Socket|TLS|Timeout/.test(name)).length;
  const before = handles();
  const cluster = await startCluster();
  const seen: string[] = [];
  const informer = cluster.client.informer(configMaps);
  await informer.synced();
  informer.addHandler({ onAdd: ({ metadata }) => seen.push(metadata.name) });
  const { Agent, request } = await import("undici");
  const dispatcher = new Agent({
    connect: { ca: cluster.certificateAuthority },
  });
  const version = await request(`${cluster.url}/version`, { dispatcher });
  expect(await version.body.json()).toMatchObject({ major: "1", minor: "32" });
  const file = path.join(directory(), "kubeconfig");
  fs.writeFileSync(file, cluster.kubeconfig, { mode: 0o600 });
  const made = await createKubectl(file)("create configmap over-http");
  expect(made.code).toBe(0);
  expect(seen).toContain("over-http");
  await dispatcher.close();
  await cluster.stop();
  await eventually(() => handles() <= before, { what: "handles to close" });
  await expect(fetch(`${cluster.url}/version`)).rejects.toMatchObject({
    cause: { code: "ECONNREFUSED" },
  });
});
