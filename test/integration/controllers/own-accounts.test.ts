// --use-service-account-credentials: every controller works with its own role alone, in `orbit server` and over HTTP, where
// the manager has no more than its own role either; and what the role does not allow is refused.
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import { systemClock as clock } from "../../../api/clock.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { startCluster } from "../../../cli/cluster/start-cluster.ts";
import type { Cluster } from "../../../cli/cluster/start-cluster.ts";
import { accountClients } from "../../../cli/parts/controllers/account-clients.ts";
import type { Client, ResourceRef } from "../../../client/client.ts";
import { createClient } from "../../../client/create-client.ts";
import { createHttpTransport } from "../../../client/http-transport.ts";
import { loadKubeconfig } from "../../../client/kubeconfig.ts";
import {
  clusterRoleBindings,
  clusterRoles,
  cronJobs,
  daemonSets,
  deployments,
  endpointSlices,
  endpoints,
  horizontalPodAutoscalers,
  jobs,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  replicaSets,
  resourceQuotas,
  secrets,
  serviceAccounts,
  services,
  statefulSets,
  storageClasses,
} from "../../../client/resources.ts";
import { createControllerManager } from "../../../controllers/manager.ts";
import { passes, runPods, testNode } from "../../support/control-plane.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();
const namespace = "default";
const manager = "system:kube-controller-manager";

interface Running {
  readonly client: Client;
  /** What controllers and manager were refused, one a line. */
  refusals(): string[];
  stop(): Promise<void>;
}

/** The controllers in the server's process. */
async function inServer(): Promise<Running> {
  let log = "";
  const logger = pino(
    { level: "debug" },
    { write: (line: string) => void (log += line) },
  );
  const cluster = await startCluster({
    logger,
    args: ["--controller-manager-arg=use-service-account-credentials"],
  });
  return {
    client: cluster.client,
    refusals: () =>
      log
        .split("\n")
        .filter((line) => /system:serviceaccount:[^"]*\\" cannot/.test(line)),
    stop: () => cluster.stop(),
  };
}

/** The server's audit log, of what was refused alone. */
async function auditedCluster(): Promise<{ cluster: Cluster; log: string }> {
  const directory = await tempDirectory();
  const policy = path.join(directory, "policy.yaml");
  fs.writeFileSync(
    policy,
    "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n",
  );
  const log = path.join(directory, "audit.log");
  const cluster = await startCluster({
    controllers: false,
    args: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`],
  });
  fs.writeFileSync(path.join(directory, "kubeconfig"), cluster.kubeconfig);
  return { cluster, log };
}

async function overHttp(): Promise<Running> {
  const { cluster, log } = await auditedCluster();
  const logger = pino({ level: "silent" });
  const connection = {
    ...(await loadKubeconfig({
      path: path.join(path.dirname(log), "kubeconfig"),
    })),
    impersonate: { user: manager },
  };
  const environment = { clock, logger };
  const client = createClient(createHttpTransport(connection), environment);
  const controllers = createControllerManager({
    client,
    clientOf: accountClients(client, connection, environment),
    clock,
    logger,
    options: {
      controllers: ["*", "bootstrap-signer-controller", "tokencleaner"],
      leaderElect: true,
      rootCa: cluster.certificateAuthority,
      serviceAccountTokenSigner: { sign: () => "signed" },
    },
  });
  await controllers.start();
  return {
    client: cluster.client,
    refusals: () =>
      fs
        .readFileSync(log, "utf8")
        .split("\n")
        .filter((line) => /"code":40[13]/.test(line))
        .filter(
          (line) => line.includes("kube-system") || line.includes(manager),
        ),
    async stop() {
      await controllers.stop();
      await client.close();
      await cluster.stop();
    },
  };
}

const template = (app: string, restartPolicy = "Always") => ({
  metadata: { labels: { app } },
  spec: { restartPolicy, containers: [{ name: "c", image: "i" }] },
});
const selector = (app: string) => ({ matchLabels: { app } });

/** One of each kind that a controller looks after. */
async function makeWork(client: Client): Promise<void> {
  const resource = client.resource.bind(client);
  const make = <T extends { metadata: object }>(
    ref: ResourceRef<T & { metadata: { name: string } }>,
    name: string,
    rest: object,
  ) =>
    resource(ref).create({
      metadata: { name, namespace },
      ...rest,
    } as unknown as T & { metadata: { name: string } });
  await resource(nodes).create(testNode("n"));
  await make(deployments, "d", {
    spec: { replicas: 2, selector: selector("d"), template: template("d") },
  });
  await make(statefulSets, "s", {
    spec: {
      replicas: 2,
      serviceName: "s",
      selector: selector("s"),
      template: template("s"),
      volumeClaimTemplates: [
        {
          metadata: { name: "v" },
          spec: {
            storageClassName: "other",
            accessModes: ["ReadWriteOnce"],
            resources: { requests: { storage: "1Mi" } },
          },
        },
      ],
    },
  });
  await resource(storageClasses).create({
    metadata: { name: "other" },
    provisioner: "disk.example.com",
  });
  await make(daemonSets, "ds", {
    spec: { selector: selector("ds"), template: template("ds") },
  });
  await make(jobs, "j", {
    spec: { ttlSecondsAfterFinished: 0, template: template("j", "Never") },
  });
  await make(cronJobs, "cj", {
    spec: {
      schedule: "* * * * *",
      jobTemplate: { spec: { template: template("cj", "Never") } },
    },
  });
  await make(services, "svc", {
    spec: { selector: { app: "d" }, ports: [{ port: 80 }] },
  });
  await make(podDisruptionBudgets, "pdb", {
    spec: { minAvailable: 1, selector: selector("d") },
  });
  await make(resourceQuotas, "q", { spec: { hard: { pods: "100" } } });
  await make(horizontalPodAutoscalers, "h", {
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
    },
  });
  await resource(clusterRoles).create({
    metadata: { name: "sum" },
    aggregationRule: {
      clusterRoleSelectors: [{ matchLabels: { part: "yes" } }],
    },
  });
  await resource(clusterRoles).create({
    metadata: { name: "part", labels: { part: "yes" } },
    rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }],
  });
}

async function bindVolume(client: Client): Promise<void> {
  const resource = client.resource.bind(client);
  const spec = {
    accessModes: ["ReadWriteOnce"],
    storageClassName: "by-hand",
  };
  await resource(persistentVolumes).create({
    metadata: { name: "pv" },
    spec: {
      ...spec,
      capacity: { storage: "1Mi" },
      hostPath: { path: "/nowhere" },
    },
  });
  await resource(persistentVolumeClaims).create({
    metadata: { name: "pvc", namespace },
    spec: { ...spec, resources: { requests: { storage: "1Mi" } } },
  });
}

describe.each([
  ["in the server", inServer],
  ["over HTTP", overHttp],
])("%s", (_, start) => {
  let running: Running;
  let client: Client;
  beforeAll(async () => {
    running = await start();
    client = running.client;
    runPods(client, clock, { onlyScheduled: true });
  });
  afterAll(() => running.stop());

  test("all controllers work, and none is refused anything", async () => {
    await makeWork(client);
    await bindVolume(client);
    const read = client.resource.bind(client);
    await passes(async () => {
      const { status } = await read(deployments).get("d", namespace);
      expect(status?.readyReplicas).toBe(2);
      const sets = await read(statefulSets).get("s", namespace);
      expect(sets.status?.replicas).toBe(1);
      const daemons = await read(daemonSets).get("ds", namespace);
      expect(daemons.status?.numberReady).toBe(1);
    });
    await passes(async () => {
      const claim = await read(persistentVolumeClaims).get("pvc", namespace);
      expect(claim.status?.phase).toBe("Bound");
      const waiting = await read(persistentVolumeClaims).get(
        "v-s-0",
        namespace,
      );
      expect(waiting.metadata.annotations).toMatchObject({
        "volume.kubernetes.io/storage-provisioner": "disk.example.com",
      });
      const quota = await read(resourceQuotas).get("q", namespace);
      expect(Number(quota.status?.used?.["pods"])).toBeGreaterThan(2);
      const budget = await read(podDisruptionBudgets).get("pdb", namespace);
      expect(budget.status?.currentHealthy).toBe(2);
      const autoscaler = await read(horizontalPodAutoscalers).get(
        "h",
        namespace,
      );
      expect(autoscaler.status?.conditions).not.toEqual([]);
      const subsets = (await read(endpoints).get("svc", namespace)).subsets;
      expect(subsets).toHaveLength(1);
      const slices = await read(endpointSlices).list({ namespace });
      expect(slices.items.length).toBeGreaterThan(0);
      const sum = await read(clusterRoles).get("sum");
      expect(sum.rules).toHaveLength(1);
    });
    await endJob(client);
    await client.resource(deployments).delete("d", namespace);
    await passes(async () => {
      const list = await read(replicaSets).list({ namespace });
      expect(list.items).toEqual([]);
    });
    await client
      .resource(namespaces)
      .create({ metadata: { name: "short" }, spec: {} });
    await passes(async () => {
      await read(serviceAccounts).get("default", "short");
    });
    await client.resource(namespaces).delete("short");
    await passes(async () => {
      const { items } = await read(namespaces).list();
      expect(items.map(({ metadata }) => metadata.name)).not.toContain("short");
    });
    expect(running.refusals()).toEqual([]);
  });

  test("each has an account, and what its role does not allow is refused", async () => {
    const { items } = await client
      .resource(serviceAccounts)
      .list({ namespace: "kube-system" });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(
      expect.arrayContaining([
        "deployment-controller",
        "job-controller",
        "persistent-volume-binder",
      ]),
    );
    const binding = "system:controller:replicaset-controller";
    await client.resource(clusterRoleBindings).delete(binding);
    await client.resource(deployments).create({
      metadata: { name: "refused", namespace },
      spec: { selector: selector("x"), template: template("x") },
    });
    await passes(() =>
      expect(running.refusals().join()).toContain("replicaset-controller"),
    );
    const made = await client
      .resource(pods)
      .list({ namespace, labelSelector: "app=x" });
    expect(made.items).toEqual([]);
    expect(
      (await client.resource(replicaSets).list({ namespace })).items,
    ).toHaveLength(1);
    expect((await client.resource(secrets).list({ namespace })).items).toEqual(
      [],
    );
  });
});

/** The pod of the Job ends, then the Job's time. */
async function endJob(client: Client): Promise<void> {
  let pod: Pod | undefined;
  await passes(async () => {
    const list = await client
      .resource(pods)
      .list({ namespace, labelSelector: "app=j" });
    pod = list.items.find(({ status }) => status?.phase === "Running");
    expect(pod).toBeDefined();
  });
  await client
    .resource(pods)
    .patch(
      pod!.metadata.name,
      namespace,
      { type: "merge", body: { status: { phase: "Succeeded" } } },
      { subresource: "status" },
    );
  await passes(async () => {
    const { items } = await client.resource(jobs).list({ namespace });
    expect(items.map(({ metadata }) => metadata.name)).not.toContain("j");
  });
}
