/* eslint-disable @typescript-eslint/no-explicit-any -- documents are looked into freely here */
import { applyDefaults, createDefaulter } from "../../../api/defaults.ts";
import { deepFreeze } from "../../../api/objects/deep-freeze.ts";
import { builtinCatalogue } from "../../../api/catalogue.ts";

const pod = { group: "", version: "v1", kind: "Pod" };
const deployment = { group: "apps", version: "v1", kind: "Deployment" };

function withDefaults<T extends object>(
  object: T,
  gvk: { group: string; version: string; kind: string },
): any {
  applyDefaults(object, gvk);
  const once = JSON.stringify(object);
  applyDefaults(deepFreeze(JSON.parse(once)), gvk);
  applyDefaults(object, gvk);
  expect(JSON.stringify(object)).toBe(once);
  return object;
}

test("every served kind compiles", () => {
  const catalogue = builtinCatalogue(() => true);
  for (const { group, version } of catalogue.groupVersions())
    for (const { kind } of catalogue.resources(group, version))
      applyDefaults({}, { group, version, kind });
});

test("a pod gets the defaults of its parts", () => {
  const { spec } = withDefaults(
    {
      spec: {
        serviceAccount: "robot",
        hostNetwork: true,
        volumes: [{ name: "v" }, { name: "s", secret: { secretName: "x" } }],
        containers: [
          {
            name: "a",
            image: "busybox",
            ports: [{ containerPort: 80 }],
            resources: { limits: { cpu: "1", memory: "100001n" } },
            livenessProbe: { httpGet: { port: 80 } },
            env: [
              {
                name: "N",
                valueFrom: { fieldRef: { fieldPath: "metadata.name" } },
              },
            ],
          },
          { name: "b", image: "busybox:1.36" },
        ],
      },
    },
    pod,
  );
  expect(spec).toMatchObject({
    dnsPolicy: "ClusterFirst",
    restartPolicy: "Always",
    securityContext: {},
    terminationGracePeriodSeconds: 30,
    schedulerName: "default-scheduler",
    enableServiceLinks: true,
    serviceAccountName: "robot",
    serviceAccount: "robot",
    volumes: [
      { name: "v", emptyDir: {} },
      { name: "s", secret: { secretName: "x", defaultMode: 420 } },
    ],
    containers: [
      {
        imagePullPolicy: "Always",
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
        ports: [{ containerPort: 80, hostPort: 80, protocol: "TCP" }],
        resources: {
          limits: { cpu: "1", memory: "1m" },
          requests: { cpu: "1", memory: "1m" },
        },
        livenessProbe: {
          httpGet: { path: "/", port: 80, scheme: "HTTP" },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
        env: [
          {
            name: "N",
            valueFrom: {
              fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" },
            },
          },
        ],
      },
      { imagePullPolicy: "IfNotPresent" },
    ],
  });
  expect(spec.volumes[1].emptyDir).toBeUndefined();
});

test("a deployment's template is defaulted, without what only pods get", () => {
  const { spec } = withDefaults(
    {
      spec: {
        template: {
          spec: { containers: [{ name: "a", image: "a@sha256:1" }] },
        },
      },
    },
    deployment,
  );
  expect(spec).toMatchObject({
    replicas: 1,
    strategy: {
      type: "RollingUpdate",
      rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" },
    },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
    template: {
      spec: {
        restartPolicy: "Always",
        containers: [{ imagePullPolicy: "IfNotPresent" }],
      },
    },
  });
  expect(spec.template.spec.enableServiceLinks).toBeUndefined();
  const recreate = withDefaults(
    { spec: { replicas: 0, strategy: { type: "Recreate" } } },
    deployment,
  );
  expect(recreate.spec.strategy).toEqual({ type: "Recreate" });
  expect(recreate.spec.replicas).toBe(0);
});

test.each([
  [
    "ClusterIP",
    {},
    {
      sessionAffinity: "None",
      type: "ClusterIP",
      internalTrafficPolicy: "Cluster",
    },
  ],
  ["node port", { type: "NodePort" }, { externalTrafficPolicy: "Cluster" }],
  [
    "load balancer",
    { type: "LoadBalancer" },
    { allocateLoadBalancerNodePorts: true, externalTrafficPolicy: "Cluster" },
  ],
  [
    "affinity",
    { sessionAffinity: "ClientIP" },
    { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } } },
  ],
  [
    "ports",
    { ports: [{ port: 80 }] },
    { ports: [{ port: 80, targetPort: 80, protocol: "TCP" }] },
  ],
])("service: %s", (_name, spec, expected) => {
  const service = withDefaults(
    { spec },
    { group: "", version: "v1", kind: "Service" },
  );
  expect(service.spec).toMatchObject(expected);
  if (!("sessionAffinity" in spec))
    expect(service.spec.sessionAffinityConfig).toBeUndefined();
});

test("other conditions", () => {
  const set = withDefaults(
    { spec: {} },
    { group: "apps", version: "v1", kind: "StatefulSet" },
  );
  expect(set.spec).toMatchObject({
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
    persistentVolumeClaimRetentionPolicy: {
      whenDeleted: "Retain",
      whenScaled: "Retain",
    },
  });
  const job = withDefaults(
    {
      metadata: {},
      spec: {
        template: { metadata: { labels: { a: "b" } } },
        podFailurePolicy: {},
      },
    },
    { group: "batch", version: "v1", kind: "Job" },
  );
  expect(job).toMatchObject({
    metadata: { labels: { a: "b" } },
    spec: {
      completions: 1,
      parallelism: 1,
      backoffLimit: 6,
      podReplacementPolicy: "Failed",
    },
  });
  const secret = withDefaults(
    { data: { a: "eA==" }, stringData: { a: "y", b: "z" } },
    { group: "", version: "v1", kind: "Secret" },
  );
  expect(secret).toEqual({ type: "Opaque", data: { a: "eQ==", b: "eg==" } });
  const namespace = withDefaults(
    { metadata: { name: "n" } },
    { group: "", version: "v1", kind: "Namespace" },
  );
  expect(namespace).toEqual({
    metadata: { name: "n", labels: { "kubernetes.io/metadata.name": "n" } },
    status: { phase: "Active" },
  });
  const limits = withDefaults(
    {
      spec: {
        limits: [
          {
            type: "Container",
            max: { cpu: "2" },
            min: { cpu: "1", memory: "1Gi" },
          },
        ],
      },
    },
    { group: "", version: "v1", kind: "LimitRange" },
  );
  expect(limits.spec.limits[0]).toMatchObject({
    default: { cpu: "2" },
    defaultRequest: { cpu: "2", memory: "1Gi" },
  });
  const policy = withDefaults(
    { spec: { egress: [{}] } },
    { group: "networking.k8s.io", version: "v1", kind: "NetworkPolicy" },
  );
  expect(policy.spec.policyTypes).toEqual(["Ingress", "Egress"]);
});

test("gates switch rules", () => {
  const object = {
    spec: { containers: [{ resources: { requests: { cpu: "1" } } }] },
  } as any;
  createDefaulter({ InPlacePodVerticalScaling: true })(object, pod);
  expect(object.spec.containers[0].resizePolicy).toEqual([
    { resourceName: "cpu", restartPolicy: "NotRequired" },
  ]);
});

test.each([
  ["100m", "100m"],
  ["1n", "1m"],
  ["1000001u", "1001m"],
  ["1e-4", "1m"],
  ["1e3", "1e3"],
  // A double would be written with an exponent of its own.
  ["9e18", "9e18"],
  ["9e30", "9e30"],
  ["-1n", "-1m"],
])("an amount of %s is kept to the milli: %s", (cpu, wanted) => {
  const { spec } = withDefaults(
    { spec: { containers: [{ name: "c", resources: { limits: { cpu } } }] } },
    pod,
  );
  expect(spec.containers[0].resources.limits).toEqual({ cpu: wanted });
});
