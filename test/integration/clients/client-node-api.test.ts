// @kubernetes/client-node 2 over TLS sockets: CRUD on many kinds, the generic object client, patches in every content
// type, server-side apply, reviews, tokens, health, errors as a stock client sees them.
import * as k8s from "@kubernetes/client-node";
import { startCluster, type Cluster } from "../../../index.ts";
import { eventually } from "../../support/eventually.ts";

let cluster: Cluster;
let config: k8s.KubeConfig;
let objects: k8s.KubernetesObjectApi;
let core: k8s.CoreV1Api;

beforeAll(async () => {
  cluster = await startCluster({ scheduler: false });
  config = new k8s.KubeConfig();
  config.loadFromString(cluster.kubeconfig);
  objects = k8s.KubernetesObjectApi.makeApiClient(config);
  core = config.makeApiClient(k8s.CoreV1Api);
});
afterAll(() => cluster.stop());

const namespace = "default";
const pod = {
  containers: [{ name: "c", image: "example.com/image:1" }],
};
const template = { metadata: { labels: { app: "a" } }, spec: pod };
const selector = { matchLabels: { app: "a" } };
const jobTemplate = {
  template: { spec: { ...pod, restartPolicy: "Never" } },
};

/** apiVersion, kind, the rest of a valid object; cluster-scoped kinds say so. */
const kinds: [
  apiVersion: string,
  kind: string,
  rest: object,
  scope?: "cluster",
][] = [
  ["v1", "ConfigMap", { data: { a: "b" }, binaryData: { c: "AAEC" } }],
  ["v1", "Secret", { stringData: { password: "x" }, type: "Opaque" }],
  ["v1", "Pod", { spec: pod }],
  [
    "v1",
    "Service",
    { spec: { selector: { app: "a" }, ports: [{ port: 80 }] } },
  ],
  ["v1", "ServiceAccount", {}],
  ["v1", "Endpoints", { subsets: [] }],
  [
    "v1",
    "LimitRange",
    { spec: { limits: [{ type: "Pod", max: { cpu: "99" } }] } },
  ],
  ["v1", "ResourceQuota", { spec: { hard: { pods: "1000" } } }],
  ["v1", "PodTemplate", { template }],
  [
    "v1",
    "ReplicationController",
    { spec: { replicas: 0, selector: { app: "a" }, template } },
  ],
  [
    "v1",
    "PersistentVolumeClaim",
    {
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
      },
    },
  ],
  [
    "v1",
    "PersistentVolume",
    {
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        hostPath: { path: "/tmp/x" },
      },
    },
    "cluster",
  ],
  ["v1", "Namespace", {}, "cluster"],
  ["v1", "Node", {}, "cluster"],
  ["apps/v1", "Deployment", { spec: { replicas: 0, selector, template } }],
  ["apps/v1", "ReplicaSet", { spec: { replicas: 0, selector, template } }],
  ["apps/v1", "DaemonSet", { spec: { selector, template } }],
  [
    "apps/v1",
    "StatefulSet",
    { spec: { replicas: 0, serviceName: "s", selector, template } },
  ],
  ["apps/v1", "ControllerRevision", { revision: 1, data: { any: "thing" } }],
  ["batch/v1", "Job", { spec: { suspend: true, ...jobTemplate } }],
  [
    "batch/v1",
    "CronJob",
    {
      spec: {
        schedule: "0 0 1 1 *",
        suspend: true,
        jobTemplate: { spec: jobTemplate },
      },
    },
  ],
  [
    "autoscaling/v2",
    "HorizontalPodAutoscaler",
    {
      spec: {
        maxReplicas: 3,
        scaleTargetRef: {
          apiVersion: "apps/v1",
          kind: "Deployment",
          name: "d",
        },
      },
    },
  ],
  [
    "policy/v1",
    "PodDisruptionBudget",
    { spec: { minAvailable: "50%", selector } },
  ],
  [
    "networking.k8s.io/v1",
    "NetworkPolicy",
    { spec: { podSelector: {}, policyTypes: ["Ingress"] } },
  ],
  [
    "networking.k8s.io/v1",
    "Ingress",
    {
      spec: {
        defaultBackend: { service: { name: "s", port: { number: 80 } } },
      },
    },
  ],
  [
    "networking.k8s.io/v1",
    "IngressClass",
    { spec: { controller: "example.com/c" } },
    "cluster",
  ],
  [
    "discovery.k8s.io/v1",
    "EndpointSlice",
    {
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.1.2.3"] }],
      ports: [{ name: "", port: 80, protocol: "TCP" }],
    },
  ],
  [
    "coordination.k8s.io/v1",
    "Lease",
    {
      spec: { holderIdentity: "me", renewTime: "2026-01-01T00:00:00.000001Z" },
    },
  ],
  [
    "rbac.authorization.k8s.io/v1",
    "Role",
    { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
  ],
  [
    "rbac.authorization.k8s.io/v1",
    "RoleBinding",
    {
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "Role",
        name: "r",
      },
      subjects: [
        { kind: "User", name: "u", apiGroup: "rbac.authorization.k8s.io" },
      ],
    },
  ],
  ["rbac.authorization.k8s.io/v1", "ClusterRole", { rules: [] }, "cluster"],
  ["scheduling.k8s.io/v1", "PriorityClass", { value: 10 }, "cluster"],
  [
    "storage.k8s.io/v1",
    "StorageClass",
    { provisioner: "example.com/p" },
    "cluster",
  ],
  [
    "storage.k8s.io/v1",
    "CSIDriver",
    { spec: { attachRequired: false } },
    "cluster",
  ],
  ["node.k8s.io/v1", "RuntimeClass", { handler: "h" }, "cluster"],
];

test.each(kinds)(
  "%s %s: create, read, list, replace, patch, delete through the object client",
  async (...[apiVersion, kind, rest, scope]) => {
    const name = `crud-${kind.toLowerCase()}`;
    const spec = {
      apiVersion,
      kind,
      metadata: scope ? { name } : { name, namespace },
      ...rest,
    } as k8s.KubernetesObject & { metadata: { name: string } };
    const made = await objects.create(spec);
    expect(made).toMatchObject({ apiVersion, kind });
    expect(made.metadata).toMatchObject({ name });
    expect(made.metadata?.uid).toMatch(/^[0-9a-f-]{36}$/);
    const header = { apiVersion, kind, metadata: spec.metadata };
    // Other than the client's own types say, a header needs only these.
    const read = await objects.read(header as never);
    expect(read.metadata?.uid).toBe(made.metadata?.uid);
    const list = await objects.list(
      apiVersion,
      kind,
      scope ? undefined : namespace,
    );
    expect(list.kind).toBe(`${kind}List`);
    expect(list.items.map((item) => item.metadata?.name)).toContain(name);
    const replaced = await eventually(async () => {
      const now = await objects.read(header as never);
      return objects.replace({
        ...now,
        metadata: {
          ...now.metadata,
          labels: { ...now.metadata?.labels, replaced: "yes" },
        },
      } as k8s.KubernetesObject);
    });
    expect(replaced.metadata?.labels).toMatchObject({ replaced: "yes" });
    for (const strategy of [
      k8s.PatchStrategy.MergePatch,
      k8s.PatchStrategy.StrategicMergePatch,
    ]) {
      const patched = await objects.patch(
        {
          ...header,
          metadata: { ...header.metadata, annotations: { by: strategy } },
        } as k8s.KubernetesObject,
        undefined,
        undefined,
        undefined,
        undefined,
        strategy,
      );
      expect(patched.metadata?.annotations).toMatchObject({ by: strategy });
    }
    const applied = await objects.patch(
      {
        ...header,
        metadata: { ...header.metadata, annotations: { applied: "1" } },
      } as k8s.KubernetesObject,
      undefined,
      undefined,
      "applier",
      undefined,
      k8s.PatchStrategy.ServerSideApply,
    );
    expect(applied.metadata?.annotations).toMatchObject({ applied: "1" });
    expect(
      applied.metadata?.managedFields?.find(
        (entry) => entry.manager === "applier",
      ),
    ).toMatchObject({ operation: "Apply", apiVersion });
    await objects.delete(spec, undefined, undefined, 0);
    // Namespaces are emptied, claims and volumes freed of their finalizer first.
    await eventually(
      () =>
        objects.read(header as never).then(
          () => false,
          (error: k8s.ApiException<string>) => error.code === 404,
        ),
      { what: "the object's end" },
    );
  },
);

describe("typed clients", () => {
  test("every patch content type", async () => {
    const apps = config.makeApiClient(k8s.AppsV1Api);
    await apps.createNamespacedDeployment({
      namespace,
      body: {
        metadata: { name: "patched" },
        spec: { replicas: 0, selector, template },
      },
    });
    const patch = (
      contentType: k8s.PatchStrategy,
      body: unknown,
      more: object = {},
    ) =>
      apps.patchNamespacedDeployment(
        { name: "patched", namespace, body, ...more },
        k8s.setHeaderOptions("Content-Type", contentType),
      );
    const strategic = await patch(k8s.PatchStrategy.StrategicMergePatch, {
      spec: {
        template: { spec: { containers: [{ name: "d", image: "two" }] } },
      },
    });
    expect(
      strategic.spec?.template.spec?.containers.map(({ name }) => name).sort(),
    ).toEqual(["c", "d"]);
    const merged = await patch(k8s.PatchStrategy.MergePatch, {
      spec: {
        template: { spec: { containers: [{ name: "e", image: "three" }] } },
      },
    });
    expect(
      merged.spec?.template.spec?.containers.map(({ name }) => name),
    ).toEqual(["e"]);
    const json = await patch(k8s.PatchStrategy.JsonPatch, [
      { op: "test", path: "/spec/template/spec/containers/0/name", value: "e" },
      { op: "add", path: "/metadata/labels", value: { a: "b" } },
    ]);
    expect(json.metadata?.labels).toEqual({ a: "b" });
    const applied = await patch(
      k8s.PatchStrategy.ServerSideApply,
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "patched" },
        spec: { replicas: 1 },
      },
      { fieldManager: "scaler", force: true },
    );
    expect(applied.spec?.replicas).toBe(1);
    await expect(
      patch(
        k8s.PatchStrategy.ServerSideApply,
        {
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { name: "patched" },
          spec: { replicas: 2 },
        },
        { fieldManager: "other" },
      ),
    ).rejects.toMatchObject({ code: 409 });
    await expect(
      patch(k8s.PatchStrategy.JsonPatch, [
        { op: "test", path: "/spec/replicas", value: 7 },
      ]),
    ).rejects.toMatchObject({ code: 422 });
    const scale = await apps.patchNamespacedDeploymentScale(
      { name: "patched", namespace, body: { spec: { replicas: 0 } } },
      k8s.setHeaderOptions("Content-Type", k8s.PatchStrategy.MergePatch),
    );
    // No replicas are left out, as in the reference.
    expect(scale.spec?.replicas ?? 0).toBe(0);
    const status = await apps.readNamespacedDeploymentStatus({
      name: "patched",
      namespace,
    });
    expect(status.metadata?.name).toBe("patched");
  });

  test("dry run, preconditions, pages, deletecollection", async () => {
    for (let index = 0; index < 5; index++)
      await core.createNamespacedConfigMap({
        namespace,
        body: { metadata: { generateName: "page-", labels: { page: "yes" } } },
      });
    const labelSelector = "page=yes";
    await core.createNamespacedConfigMap({
      namespace,
      dryRun: "All",
      body: { metadata: { name: "dry", labels: { page: "yes" } } },
    });
    const seen: string[] = [];
    let _continue: string | undefined;
    do {
      const page = await core.listNamespacedConfigMap({
        namespace,
        labelSelector,
        limit: 2,
        ...(_continue ? { _continue } : {}),
      });
      seen.push(...page.items.map((item) => item.metadata!.name!));
      _continue = page.metadata?._continue;
    } while (_continue);
    expect(new Set(seen).size).toBe(5);
    await expect(
      core.deleteNamespacedConfigMap({
        name: seen[0]!,
        namespace,
        body: { preconditions: { uid: "other" } },
      }),
    ).rejects.toMatchObject({ code: 409 });
    await core.deleteCollectionNamespacedConfigMap({
      namespace,
      labelSelector,
    });
    expect(
      (await core.listNamespacedConfigMap({ namespace, labelSelector })).items,
    ).toEqual([]);
  });

  test("errors carry the Status", async () => {
    const error = await core
      .createNamespacedPod({
        namespace,
        body: { metadata: { name: "Bad_Name" }, spec: { containers: [] } },
      })
      .catch((caught: unknown) => caught as k8s.ApiException<string>);
    expect(error).toMatchObject({ code: 422 });
    const status = JSON.parse(
      (error as k8s.ApiException<string>).body,
    ) as k8s.V1Status;
    expect(status).toMatchObject({
      kind: "Status",
      reason: "Invalid",
      details: { kind: "Pod", name: "Bad_Name" },
    });
    expect(status.details?.causes?.map(({ field }) => field)).toEqual(
      expect.arrayContaining(["metadata.name", "spec.containers"]),
    );
  });

  test("discovery, version, metrics that are not served", async () => {
    expect((await config.makeApiClient(k8s.VersionApi).getCode()).minor).toBe(
      "32",
    );
    expect((await core.getAPIResources()).resources.length).toBeGreaterThan(30);
    const groups = await config.makeApiClient(k8s.ApisApi).getAPIVersions();
    expect(groups.groups.map(({ name }) => name)).toContain("apps");
    // An unknown group is answered in plain text, which this client tells as a 500 of its own.
    await expect(new k8s.Metrics(config).getNodeMetrics()).rejects.toThrow(
      "Error occurred in metrics request",
    );
    const health = new k8s.Health(config);
    expect(await health.readyz({})).toBe(true);
    expect(await health.livez({})).toBe(true);
  });

  test("events, bindings, evictions", async () => {
    const event = await core.createNamespacedEvent({
      namespace,
      body: {
        metadata: { generateName: "e" },
        involvedObject: { kind: "Pod", name: "p", namespace },
        reason: "Test",
        type: "Normal",
        message: "hello",
      },
    });
    expect(event.reason).toBe("Test");
    await core.createNode({ body: { metadata: { name: "somewhere" } } });
    await core.createNamespacedPod({
      namespace,
      body: { metadata: { name: "bound" }, spec: pod },
    });
    await core.createNamespacedPodBinding({
      name: "bound",
      namespace,
      body: {
        metadata: { name: "bound" },
        target: { kind: "Node", name: "somewhere" },
      },
    });
    expect(
      (await core.readNamespacedPod({ name: "bound", namespace })).spec
        ?.nodeName,
    ).toBe("somewhere");
    await core.createNamespacedPodEviction({
      name: "bound",
      namespace,
      body: {
        metadata: { name: "bound", namespace },
        deleteOptions: { gracePeriodSeconds: 0 },
      },
    });
    await expect(
      core.readNamespacedPod({ name: "bound", namespace }),
    ).rejects.toMatchObject({ code: 404 });
  });
});

describe("who may do what", () => {
  /** The administrator's cluster with a bearer token instead of the certificate. */
  const withToken = (token: string): k8s.KubeConfig => {
    const other = new k8s.KubeConfig();
    other.loadFromClusterAndUser(config.getCurrentCluster()!, {
      name: "t",
      token,
    } as k8s.User);
    return other;
  };

  test("a requested token is its ServiceAccount, with what RBAC grants", async () => {
    await core.createNamespacedServiceAccount({
      namespace,
      body: { metadata: { name: "robot" } },
    });
    const { status } = await core.createNamespacedServiceAccountToken({
      name: "robot",
      namespace,
      body: { spec: { audiences: [], expirationSeconds: 600 } },
    });
    const robot = withToken(status!.token!).makeApiClient(k8s.CoreV1Api);
    await expect(robot.listNamespacedPod({ namespace })).rejects.toMatchObject({
      code: 403,
    });
    const rbac = config.makeApiClient(k8s.RbacAuthorizationV1Api);
    await rbac.createNamespacedRoleBinding({
      namespace,
      body: {
        metadata: { name: "robot-views" },
        roleRef: {
          apiGroup: "rbac.authorization.k8s.io",
          kind: "ClusterRole",
          name: "view",
        },
        subjects: [{ kind: "ServiceAccount", name: "robot", namespace }],
      },
    });
    await eventually(() => robot.listNamespacedPod({ namespace }));
    const review = config.makeApiClient(k8s.AuthenticationV1Api);
    const reviewed = await review.createTokenReview({
      body: { spec: { token: status!.token! } },
    });
    expect(reviewed.status).toMatchObject({
      authenticated: true,
      user: { username: "system:serviceaccount:default:robot" },
    });
    const self = await withToken(status!.token!)
      .makeApiClient(k8s.AuthenticationV1Api)
      .createSelfSubjectReview({ body: {} });
    expect(self.status?.userInfo?.groups).toContain(
      "system:serviceaccounts:default",
    );
  });

  test("a wrong token is a 401", async () => {
    await expect(
      withToken("wrong").makeApiClient(k8s.CoreV1Api).listNamespace(),
    ).rejects.toMatchObject({ code: 401 });
  });

  test("reviews", async () => {
    const authorization = config.makeApiClient(k8s.AuthorizationV1Api);
    const ask = async (user: string, verb: string) =>
      (
        await authorization.createSubjectAccessReview({
          body: {
            spec: {
              user,
              resourceAttributes: { verb, resource: "pods", namespace },
            },
          },
        })
      ).status;
    expect(
      await ask("system:serviceaccount:default:robot", "list"),
    ).toMatchObject({ allowed: true });
    expect(
      await ask("system:serviceaccount:default:robot", "delete"),
    ).toMatchObject({ allowed: false });
    expect(
      (
        await authorization.createSelfSubjectAccessReview({
          body: {
            spec: { nonResourceAttributes: { verb: "get", path: "/metrics" } },
          },
        })
      ).status?.allowed,
    ).toBe(true);
    const rules = await authorization.createSelfSubjectRulesReview({
      body: { spec: { namespace } },
    });
    expect(rules.status?.resourceRules).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ verbs: ["*"], resources: ["*"] }),
      ]),
    );
  });
});
