// An operator as people write them on @kubernetes/client-node: a definition of its own, a watch that makes a Deployment
// of each object and reports its status, and webhooks that default and refuse objects, against a whole cluster.
import * as k8s from "@kubernetes/client-node";
import { startCluster, type Cluster } from "../../../index.ts";
import { crd } from "../../support/definitions.ts";
import { eventually } from "../../support/eventually.ts";
import {
  configuration,
  patching,
  startWebhookServer,
  type WebhookServer,
} from "../../support/webhooks.ts";

const group = "shop.example.com";
const place = { group, version: "v1", namespace: "default", plural: "sites" };

interface Site extends k8s.KubernetesObject {
  spec: { image: string; replicas?: number };
  status?: { ready: boolean };
}

let cluster: Cluster;
let hooks: WebhookServer;
let config: k8s.KubeConfig;
let custom: k8s.CustomObjectsApi;
let apps: k8s.AppsV1Api;
let informer: k8s.Informer<Site>;
const reconciling: Promise<void>[] = [];

beforeAll(async () => {
  cluster = await startCluster({ scheduler: false });
  config = new k8s.KubeConfig();
  config.loadFromString(cluster.kubeconfig);
  custom = config.makeApiClient(k8s.CustomObjectsApi);
  apps = config.makeApiClient(k8s.AppsV1Api);
  hooks = await startWebhookServer();
  hooks.on["/default"] = ({ object }) =>
    object.spec.replicas === undefined
      ? patching({ op: "add", path: "/spec/replicas", value: 2 })
      : { allowed: true };
  hooks.on["/check"] = ({ object, oldObject }) =>
    oldObject && object.spec.image !== oldObject.spec.image
      ? { allowed: false, status: { message: "image can't change" } }
      : { allowed: true };
  const objects = k8s.KubernetesObjectApi.makeApiClient(config);
  const properties = {
    spec: {
      type: "object",
      properties: {
        image: { type: "string" },
        replicas: { type: "integer" },
      },
    },
    status: { type: "object", properties: { ready: { type: "boolean" } } },
  };
  await objects.create(
    crd({
      group,
      plural: "sites",
      kind: "Site",
      schema: { type: "object", properties },
      version: { subresources: { status: {} } },
    }) as object,
  );
  const rules = [
    {
      apiGroups: [group],
      apiVersions: ["v1"],
      operations: ["CREATE", "UPDATE"],
      resources: ["sites"],
    },
  ];
  await objects.create(
    configuration("Mutating", "shop", hooks, { "/default": { rules } }),
  );
  await objects.create(
    configuration("Validating", "shop", hooks, { "/check": { rules } }),
  );
  await eventually(() =>
    custom.listNamespacedCustomObject(place).then(
      () => true,
      () => false,
    ),
  );
  informer = k8s.makeInformer<Site>(
    config,
    `/apis/${group}/v1/namespaces/default/sites`,
    () =>
      custom.listNamespacedCustomObject(place) as Promise<
        k8s.KubernetesListObject<Site>
      >,
  );
  for (const verb of ["add", "update"] as const)
    informer.on(verb, (site) => void reconciling.push(reconcile(site)));
  await informer.start();
});
afterAll(async () => {
  await informer.stop();
  await Promise.all(reconciling);
  await cluster.stop();
  await hooks.close();
});

async function reconcile({ metadata, spec, status }: Site): Promise<void> {
  const { name = "", uid = "" } = metadata ?? {};
  if (status?.ready) return;
  const labels = { site: name };
  await apps
    .createNamespacedDeployment({
      namespace: "default",
      body: {
        metadata: {
          name,
          ownerReferences: [
            { apiVersion: `${group}/v1`, kind: "Site", name, uid },
          ],
        },
        spec: {
          replicas: spec.replicas ?? 0,
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: { containers: [{ name: "web", image: spec.image }] },
          },
        },
      },
    })
    .catch((error: unknown) => {
      if (!(error instanceof k8s.ApiException) || error.code !== 409)
        throw error;
    });
  await custom.patchNamespacedCustomObjectStatus(
    { ...place, name, body: { status: { ready: true } } },
    k8s.setHeaderOptions("Content-Type", "application/merge-patch+json"),
  );
}

const site = (name: string, spec: object): object => ({
  apiVersion: `${group}/v1`,
  kind: "Site",
  metadata: { name },
  spec,
});

test("an object gets its defaults, its Deployment and its status", async () => {
  const made = (await custom.createNamespacedCustomObject({
    ...place,
    body: site("one", { image: "web:1" }),
  })) as Site;
  expect(made.spec.replicas).toBe(2);
  await eventually(async () => {
    const found = (await custom.getNamespacedCustomObject({
      ...place,
      name: "one",
    })) as Site;
    return found.status?.ready === true;
  });
  const { spec } = await apps.readNamespacedDeployment({
    namespace: "default",
    name: "one",
  });
  expect(spec?.replicas).toBe(2);
});

test("a change that the operator does not allow is refused with its message", async () => {
  await custom.createNamespacedCustomObject({
    ...place,
    body: site("two", { image: "web:1", replicas: 1 }),
  });
  const change = custom.patchNamespacedCustomObject(
    { ...place, name: "two", body: { spec: { image: "web:2" } } },
    k8s.setHeaderOptions("Content-Type", "application/merge-patch+json"),
  );
  await expect(change).rejects.toThrow(/image can't change/);
});
