// Controllers write the status of objects whose templates every reader shares, frozen: setting defaults once more must
// leave them alone, whatever the template says.
import * as k8s from "@kubernetes/client-node";
import { startCluster, type Cluster } from "../../../index.ts";
import { eventually } from "../../support/eventually.ts";

let cluster: Cluster;
let objects: k8s.KubernetesObjectApi;

beforeAll(async () => {
  cluster = await startCluster({ scheduler: false });
  const config = new k8s.KubeConfig();
  config.loadFromString(cluster.kubeconfig);
  objects = k8s.KubernetesObjectApi.makeApiClient(config);
});
afterAll(() => cluster.stop());

const amounts = { memory: "1e3", cpu: "1e-3", "ephemeral-storage": "1500u" };
const spec = {
  serviceAccountName: "default",
  containers: [
    {
      name: "c",
      image: "example.com/image:1",
      resources: { limits: amounts, requests: amounts },
    },
  ],
};
const template = { metadata: { labels: { app: "a" } }, spec };
const selector = { matchLabels: { app: "a" } };
const jobSpec = { template: { spec: { ...spec, restartPolicy: "Never" } } };

test.each([
  ["apps/v1", "Deployment", { selector, template }, { unavailableReplicas: 1 }],
  ["apps/v1", "ReplicaSet", { selector, template }, { replicas: 1 }],
  ["apps/v1", "StatefulSet", { selector, template }, { replicas: 1 }],
  ["apps/v1", "DaemonSet", { selector, template }, { observedGeneration: 1 }],
  ["v1", "ReplicationController", { template }, { replicas: 1 }],
  ["batch/v1", "Job", jobSpec, { active: 1 }],
  [
    "batch/v1",
    "CronJob",
    { schedule: "* * * * *", jobTemplate: { spec: jobSpec } },
    undefined,
  ],
] as const)("the status of %s %s", async (apiVersion, kind, given, status) => {
  const metadata = { name: kind.toLowerCase(), namespace: "default" };
  const identity = { apiVersion, kind, metadata };
  const made: k8s.KubernetesObject & { spec?: unknown } = await objects.create({
    ...identity,
    spec: given,
  } as k8s.KubernetesObject);
  const written = await eventually(async () => {
    const read = await objects.read(identity);
    expect(read).toMatchObject({ status: status ?? {} });
    return read;
  });
  // Once more, after the object was read by every informer.
  const patched: k8s.KubernetesObject & { spec?: unknown } =
    await objects.patch(
      { ...identity, metadata: { ...metadata, annotations: { a: "b" } } },
      undefined,
      undefined,
      undefined,
      undefined,
      k8s.PatchStrategy.MergePatch,
    );
  expect(patched.metadata?.uid).toBe(written.metadata?.uid);
  expect(patched.spec).toEqual(made.spec);
});
