// Each kind: a good object without problems, and what is said of bad ones and of changes that are not allowed.
import type { AnyObject } from "../../../../api/object.ts";
import type { FieldError } from "../../../../api/errors.ts";
import { finish, oneStep } from "../../../../api/queueing/steps.ts";
import { parseApiVersion } from "../../../../api/object.ts";
import { builtinCatalogue } from "../../../../api/catalogue.ts";
import { createPrivateKeyPem } from "../../../../api/pki/keys.ts";
import { createCsr } from "../../../../api/pki/signing-request.ts";
import { createStrategies } from "../../../../apiserver-lite/resources/index.ts";
import { strategyContext, withDefaults } from "./strategy-context.ts";

const strategyFor = createStrategies();

const catalogue = builtinCatalogue();
const context = strategyContext();

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- changes reach into objects of every kind
type Change = (object: Record<string, any>) => void;

function strategyOf(object: AnyObject) {
  const { group, version } = parseApiVersion(object.apiVersion!);
  return strategyFor(
    group,
    catalogue.kind(group, version, object.kind!)!.resource,
  )!;
}

function made(source: object, change: Change = () => undefined): AnyObject {
  const object = structuredClone(source) as AnyObject;
  object.metadata = {
    name: "x",
    uid: "u1",
    ...(object.metadata as object),
  } as AnyObject["metadata"];
  change(object);
  withDefaults(object);
  strategyOf(object).setDefaults?.(object);
  return object;
}

async function problemsOf(object: AnyObject): Promise<string[]> {
  const strategy = strategyOf(object);
  await strategy.prepareForCreate?.(object, context);
  return [
    ...(strategy.validate?.(object, context) ?? []),
    ...(strategy.validateCreate?.(object, context) ?? []),
    ...finish(
      strategy.validateInSteps?.(object, undefined, context) ??
        oneStep((): FieldError[] => []),
    ),
  ].map(({ field, detail }) => `${field}: ${detail}`);
}

const template = {
  metadata: { labels: { app: "x" } },
  spec: { containers: [{ name: "c", image: "i" }] },
};
const once = {
  ...template,
  spec: { ...template.spec, restartPolicy: "Never" },
};
const selector = { matchLabels: { app: "x" } };

const good: Record<string, object> = {
  Namespace: { apiVersion: "v1", kind: "Namespace" },
  Node: {
    apiVersion: "v1",
    kind: "Node",
    spec: { taints: [{ key: "a", effect: "NoSchedule" }] },
  },
  ConfigMap: { apiVersion: "v1", kind: "ConfigMap", data: { a: "b" } },
  Secret: { apiVersion: "v1", kind: "Secret", stringData: { a: "b" } },
  Endpoints: {
    apiVersion: "v1",
    kind: "Endpoints",
    subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 1 }] }],
  },
  Event: {
    apiVersion: "v1",
    kind: "Event",
    metadata: { namespace: "d" },
    involvedObject: { namespace: "d" },
  },
  LimitRange: {
    apiVersion: "v1",
    kind: "LimitRange",
    spec: {
      limits: [{ type: "Container", max: { cpu: "2" }, min: { cpu: "1" } }],
    },
  },
  ResourceQuota: {
    apiVersion: "v1",
    kind: "ResourceQuota",
    spec: { hard: { pods: "1" } },
  },
  PersistentVolume: {
    apiVersion: "v1",
    kind: "PersistentVolume",
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      hostPath: { path: "/x" },
    },
  },
  PersistentVolumeClaim: {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
    },
  },
  ReplicationController: {
    apiVersion: "v1",
    kind: "ReplicationController",
    spec: { selector: { app: "x" }, template },
  },
  Deployment: {
    apiVersion: "apps/v1",
    kind: "Deployment",
    spec: { selector, template },
  },
  ReplicaSet: {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    spec: { selector, template },
  },
  StatefulSet: {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    spec: { selector, template, serviceName: "s" },
  },
  DaemonSet: {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    spec: { selector, template },
  },
  Job: { apiVersion: "batch/v1", kind: "Job", spec: { template: once } },
  CronJob: {
    apiVersion: "batch/v1",
    kind: "CronJob",
    spec: {
      schedule: "*/5 1-3 ? jan-mar mon,fri",
      jobTemplate: { spec: { template: once } },
    },
  },
  Lease: {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    spec: { leaseDurationSeconds: 15 },
  },
  EndpointSlice: {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.0.0.1"] }],
    ports: [{ port: 1 }],
  },
  Role: {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }],
  },
  ClusterRole: {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    rules: [{ verbs: ["get"], nonResourceURLs: ["/healthz"] }],
  },
  RoleBinding: {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    roleRef: { kind: "Role", name: "r" },
    subjects: [{ kind: "User", name: "u" }],
  },
  PriorityClass: {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    value: 5,
  },
  PodDisruptionBudget: {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    spec: { minAvailable: "50%", selector },
  },
  NetworkPolicy: {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    spec: {
      podSelector: {},
      ingress: [
        { from: [{ ipBlock: { cidr: "10.0.0.0/8" } }], ports: [{ port: 80 }] },
      ],
    },
  },
  Ingress: {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    spec: {
      rules: [
        {
          host: "a.com",
          http: {
            paths: [
              {
                path: "/",
                pathType: "Prefix",
                backend: { service: { name: "s", port: { number: 80 } } },
              },
            ],
          },
        },
      ],
    },
  },
  IngressClass: {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    spec: { controller: "a.b/c" },
  },
  HorizontalPodAutoscaler: {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    spec: { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "d" } },
  },
  StorageClass: {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    provisioner: "a.b/c",
  },
  RuntimeClass: {
    apiVersion: "node.k8s.io/v1",
    kind: "RuntimeClass",
    handler: "runc",
  },
  CertificateSigningRequest: {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    spec: {
      request: Buffer.from(
        createCsr(createPrivateKeyPem(), { commonName: "c" }),
      ).toString("base64"),
      signerName: "a.b/c",
      usages: ["client auth"],
    },
  },
  CustomResourceDefinition: {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "foos.a.com" },
    spec: {
      group: "a.com",
      scope: "Namespaced",
      names: { plural: "foos", kind: "Foo" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object" } },
        },
      ],
    },
  },
};

test.each(Object.entries(good))("a good %s", async (_, source) =>
  expect(await problemsOf(made(source))).toEqual([]),
);

test.each<[string, Change, string]>([
  [
    "Node",
    (o) => (o.spec.taints[0].effect = "Maybe"),
    'metadata.taints[0].effect: Unsupported value: "Maybe": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
  ],
  [
    "ConfigMap",
    (o) => (o.data = { "a/b": "" }),
    'data[a/b]: Invalid value: "a/b": a valid config key must consist',
  ],
  [
    "ConfigMap",
    (o) => (o.data = { a: "x".repeat(1024 * 1024 + 1) }),
    "[]: Too long: may not be more than 1048576 bytes",
  ],
  [
    "ConfigMap",
    (o) => (o.binaryData = { a: "" }),
    'data[a]: Invalid value: "a": duplicate of key present in binaryData',
  ],
  [
    "Secret",
    (o) => (o.type = "kubernetes.io/tls"),
    "data[tls.crt]: Required value",
  ],
  [
    "Secret",
    (o) =>
      Object.assign(o, {
        type: "kubernetes.io/dockerconfigjson",
        stringData: { ".dockerconfigjson": "{" },
      }),
    'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>"',
  ],
  [
    "Endpoints",
    (o) => (o.subsets[0].addresses[0].ip = "0:0:0:0:0:0:0:1"),
    'subsets[0].addresses[0].ip: Invalid value: "0:0:0:0:0:0:0:1": may not be in the loopback range',
  ],
  [
    "Endpoints",
    (o) => (o.subsets[0].addresses[0].ip = "::ffff:169.254.169.254"),
    'subsets[0].addresses[0].ip: Invalid value: "::ffff:169.254.169.254": may not be in the link-local range',
  ],
  [
    "Endpoints",
    (o) => (o.subsets[0].addresses[0].ip = "127.0.0.1"),
    'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range',
  ],
  [
    "Event",
    (o) => (o.involvedObject.namespace = "other"),
    'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
  ],
  [
    "LimitRange",
    (o) => (o.spec.limits[0].min.cpu = "3"),
    "min value 3 is greater than max value 2",
  ],
  [
    "ResourceQuota",
    (o) => (o.spec.hard.pods = "-1"),
    'spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0',
  ],
  [
    "PersistentVolume",
    (o) => delete o.spec.hostPath,
    "spec: Required value: must specify a volume type",
  ],
  [
    "PersistentVolumeClaim",
    (o) => delete o.spec.accessModes,
    "spec.accessModes: Required value: at least 1 access mode is required",
  ],
  [
    "PersistentVolumeClaim",
    (o) => (o.spec.resources.requests.storage = "0"),
    'spec.resources[storage]: Invalid value: "0": must be greater than zero',
  ],
  [
    "Deployment",
    (o) => (o.spec.replicas = -1),
    "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
  ],
  [
    "Deployment",
    (o) => delete o.spec.selector,
    "spec.selector: Required value",
  ],
  [
    "Deployment",
    (o) => (o.spec.selector = {}),
    "spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: empty selector is invalid for deployment",
  ],
  [
    "Deployment",
    (o) => (o.spec.template.metadata.labels = { app: "y" }),
    'spec.template.metadata.labels: Invalid value: map[string]string{"app":"y"}: `selector` does not match template `labels`',
  ],
  [
    "Deployment",
    (o) => (o.spec.template.spec.restartPolicy = "Never"),
    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
  ],
  [
    "Deployment",
    (o) => (o.spec.strategy = { type: "Recreate", rollingUpdate: {} }),
    "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
  ],
  [
    "Deployment",
    (o) =>
      (o.spec.strategy = {
        rollingUpdate: { maxSurge: 0, maxUnavailable: "0%" },
      }),
    'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"0%"}: may not be 0 when `maxSurge` is 0',
  ],
  [
    "Deployment",
    (o) => (o.spec.progressDeadlineSeconds = 0),
    "spec.progressDeadlineSeconds: Invalid value: 0: must be greater than minReadySeconds",
  ],
  [
    "Deployment",
    (o) => (o.spec.template.spec.containers = []),
    "spec.template.spec.containers: Required value",
  ],
  [
    "StatefulSet",
    (o) => (o.spec.podManagementPolicy = "Any"),
    "spec.podManagementPolicy: Invalid value: \"Any\": must be 'OrderedReady' or 'Parallel'",
  ],
  [
    "DaemonSet",
    (o) =>
      (o.spec.updateStrategy = {
        rollingUpdate: { maxSurge: 1, maxUnavailable: 1 },
      }),
    'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: intstr.IntOrString{Type:0, IntVal:1, StrVal:""}: may not be set when maxUnavailable is non-zero',
  ],
  [
    "Job",
    (o) => (o.spec.template.spec.restartPolicy = "Always"),
    'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
  ],
  [
    "Job",
    (o) => {
      o.spec.completionMode = "Indexed";
      o.spec.parallelism = 1;
      delete o.spec.completions;
    },
    "spec.completions: Required value: when completion mode is Indexed",
  ],
  [
    "CronJob",
    (o) => (o.spec.schedule = "* * * *"),
    'spec.schedule: Invalid value: "* * * *": expected exactly 5 fields, found 4: [* * * *]',
  ],
  [
    "CronJob",
    (o) => (o.spec.schedule = "TZ=UTC * * * * *"),
    "cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
  ],
  [
    "CronJob",
    (o) => (o.spec.timeZone = "Mars/Crater"),
    'spec.timeZone: Invalid value: "Mars/Crater": unknown time zone Mars/Crater',
  ],
  [
    "CronJob",
    (o) => (o.metadata.name = "n".repeat(53)),
    "must be no more than 52 characters",
  ],
  [
    "Lease",
    (o) => (o.spec.leaseDurationSeconds = 0),
    "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
  ],
  [
    "EndpointSlice",
    (o) => (o.endpoints[0].addresses = ["::1"]),
    'endpoints[0].addresses[0]: Invalid value: "::1": must be a valid IPv4 address',
  ],
  [
    "Role",
    (o) => (o.rules[0].verbs = []),
    "rules[0].verbs: Required value: verbs must contain at least one value",
  ],
  [
    "Role",
    (o) => (o.rules[0] = { verbs: ["get"], nonResourceURLs: ["/x"] }),
    "namespaced rules cannot apply to non-resource URLs",
  ],
  [
    "RoleBinding",
    (o) => (o.roleRef.kind = "Thing"),
    'roleRef.kind: Unsupported value: "Thing": supported values: "Role", "ClusterRole"',
  ],
  [
    "RoleBinding",
    (o) => (o.subjects[0].kind = "Robot"),
    'subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
  ],
  [
    "PriorityClass",
    (o) => (o.value = 1e9 + 1),
    "value: Forbidden: maximum allowed value of a user defined priority is 1000000000",
  ],
  [
    "PriorityClass",
    (o) => (o.metadata.name = "system-mine"),
    "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved",
  ],
  [
    "PodDisruptionBudget",
    (o) => (o.spec.maxUnavailable = 1),
    "minAvailable and maxUnavailable cannot be both set",
  ],
  [
    "NetworkPolicy",
    (o) => (o.spec.ingress[0].from[0] = {}),
    "spec.ingress[0].from[0]: Required value: must specify a peer",
  ],
  [
    "Ingress",
    (o) => (o.spec = {}),
    "either `defaultBackend` or `rules` must be specified",
  ],
  [
    "Ingress",
    (o) => (o.spec.rules[0].http.paths[0].path = "x"),
    'spec.rules[0].http.paths[0].path: Invalid value: "x": must be an absolute path',
  ],
  [
    "HorizontalPodAutoscaler",
    (o) => (o.spec.minReplicas = 9),
    "spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`",
  ],
  ["StorageClass", (o) => (o.provisioner = ""), "provisioner: Required value"],
  [
    "CertificateSigningRequest",
    (o) => (o.spec.request = ""),
    "spec.request: Invalid value: []byte(nil): PEM block type must be CERTIFICATE REQUEST",
  ],
  [
    "CustomResourceDefinition",
    (o) => (o.metadata.name = "foo"),
    'metadata.name: Invalid value: "foo": must be spec.names.plural+"."+spec.group',
  ],
])("%s %#", async (kind, change, expected) => {
  const problems = await problemsOf(made(good[kind]!, change));
  expect(problems.join("\n")).toContain(expected);
});

test.each<[string, Change, string]>([
  ["ConfigMap", (o) => (o.data = { a: "c" }), ""],
  [
    "Secret",
    (o) => (o.type = "other"),
    'type: Invalid value: "other": field is immutable',
  ],
  [
    "Deployment",
    (o) => (o.spec.selector = { matchLabels: { app: "x", b: "c" } }),
    "spec.selector: Invalid value",
  ],
  ["Deployment", (o) => (o.spec.replicas = 4), ""],
  ["StatefulSet", (o) => (o.spec.replicas = 4), ""],
  [
    "StatefulSet",
    (o) => (o.spec.serviceName = "other"),
    "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals'",
  ],
  [
    "Job",
    (o) => (o.spec.template.spec.containers[0].image = "j"),
    "spec.template: Invalid value",
  ],
  ["Job", (o) => Object.assign(o.spec, { parallelism: 3, completions: 1 }), ""],
  ["RoleBinding", (o) => (o.roleRef.name = "other"), "cannot change roleRef"],
  [
    "PriorityClass",
    (o) => (o.value = 6),
    "value: Forbidden: may not be changed in an update.",
  ],
  [
    "PersistentVolumeClaim",
    (o) => (o.spec.accessModes = ["ReadOnlyMany"]),
    "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
  ],
  [
    "StorageClass",
    (o) => (o.parameters = { a: "b" }),
    "parameters: Forbidden: updates to parameters are forbidden.",
  ],
  [
    "EndpointSlice",
    (o) => (o.addressType = "IPv6"),
    'addressType: Invalid value: "IPv6": field is immutable',
  ],
  [
    "RuntimeClass",
    (o) => (o.handler = "other"),
    'handler: Invalid value: "other": field is immutable',
  ],
  [
    "IngressClass",
    (o) => (o.spec.controller = "a.b/d"),
    'spec.controller: Invalid value: "a.b/d": field is immutable',
  ],
])("changed %s %#", async (kind, change, expected) => {
  const old = made(good[kind]!);
  await strategyOf(old).prepareForCreate?.(old, context);
  const object = structuredClone(old);
  change(object);
  const problems =
    strategyOf(object).validateUpdate?.(object, old, context) ?? [];
  const text = problems
    .map(({ field, detail }) => `${field}: ${detail}`)
    .join("\n");
  if (expected === "") expect(text).toBe("");
  else expect(text).toContain(expected);
});

test("immutable data", () => {
  for (const kind of ["ConfigMap", "Secret"]) {
    const old = made(good[kind]!, (o) => (o.immutable = true));
    const object = made(good[kind]!, (o) =>
      Object.assign(o, { data: { a: "Yw==" }, stringData: undefined }),
    );
    const fields = strategyOf(object).validateUpdate!(object, old, context).map(
      ({ field }) => field,
    );
    expect(fields).toEqual(["immutable", "data"]);
  }
});

test("a namespace gets its finalizer, label and phase, and loses the finalizer through finalize only", async () => {
  const namespace = made(good.Namespace!);
  const strategy = strategyOf(namespace);
  await strategy.prepareForCreate!(namespace, context);
  expect(namespace).toMatchObject({
    metadata: { labels: { "kubernetes.io/metadata.name": "x" } },
    spec: { finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  });
  const update = made(good.Namespace!);
  await strategy.prepareForUpdate!(update, namespace, context);
  expect(update.spec).toEqual({ finalizers: ["kubernetes"] });
  const finalized = made(good.Namespace!, (o) => (o.spec = {}));
  const { finalize } = strategy.parts!;
  await finalize!.prepareForUpdate!(finalized, namespace, context);
  expect([finalized.spec, finalized.status]).toEqual([{}, { phase: "Active" }]);
});

test("stringData becomes data", () => {
  const secret = made(good.Secret!);
  expect(secret).toMatchObject({ type: "Opaque", data: { a: "Yg==" } });
  expect(secret.stringData).toBeUndefined();
});

test("a job knows its pods by its uid", async () => {
  const job = made(good.Job!);
  await strategyOf(job).prepareForCreate!(job, context);
  expect(job).toMatchObject({
    spec: {
      selector: { matchLabels: { "batch.kubernetes.io/controller-uid": "u1" } },
      template: {
        metadata: {
          labels: { app: "x", "job-name": "x", "controller-uid": "u1" },
        },
      },
    },
  });
});

test("a signing request says who asked", async () => {
  const request = made(
    good.CertificateSigningRequest!,
    (o) => (o.spec.username = "forged"),
  );
  await strategyOf(request).prepareForCreate!(request, context);
  expect(request).toMatchObject({ spec: { username: "tester", groups: [] } });
});

test("scale reads and writes replicas", async () => {
  const deployment = made(good.Deployment!, (o) =>
    Object.assign(o, { status: { replicas: 2 } }),
  );
  deployment.metadata.resourceVersion = "7";
  const scale = strategyOf(deployment).subresources!.scale!;
  const access = {
    ...context,
    parent: () => Promise.resolve(deployment),
    mutate: (change: (object: AnyObject) => void) => (
      change(deployment),
      Promise.resolve(deployment)
    ),
    mutateStatusOf: () => Promise.reject(new Error("not here")),
    remove: () => Promise.reject(new Error("not here")),
  };
  const request = (verb: "get" | "update", body?: object) => ({
    verb,
    namespace: "d",
    name: "x",
    body: body as AnyObject,
    query: new URLSearchParams(),
  });
  expect(await scale.handle(request("get"), access)).toMatchObject({
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    spec: { replicas: 1 },
    status: { replicas: 2, selector: "app=x" },
  });
  await scale.handle(
    request("update", { metadata: { name: "x" }, spec: { replicas: 5 } }),
    access,
  );
  expect(deployment).toMatchObject({ spec: { replicas: 5 } });
  expect(() =>
    scale.admitted!.take(deployment, {
      metadata: {},
      spec: { replicas: -1 },
    } as unknown as AnyObject),
  ).toThrow(
    'Scale.autoscaling "x" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
  );
  await expect(
    scale.handle(
      request("update", {
        metadata: { resourceVersion: "6" },
        spec: { replicas: 1 },
      }),
      access,
    ),
  ).rejects.toMatchObject({ code: 409 });
});
