// Values of versions that are no longer served, as servers of former years left them in etcd; what they become is what a
// kube-apiserver 1.32 makes of them. And the autoscaler's two versions.
import type { AnyObject } from "../../../../api/object.ts";
import { convertBy } from "../../../../apiserver-lite/registry/conversion.ts";
import { plainForm, rulesOf } from "./plain-kind.ts";

function read(object: object, apiVersion: string, kind: string): AnyObject {
  const stored = plainForm(kind, apiVersion);
  return stored.decode(
    Buffer.from(JSON.stringify({ metadata: { name: "n" }, kind, ...object })),
  );
}

const template = {
  metadata: { labels: { a: "b" } },
  spec: { containers: [{ name: "c", image: "i" }] },
};
const labels = { metadata: { labels: { a: "b" } } };

test.each<[string, string, string, object, object]>([
  [
    "Deployment",
    "extensions/v1beta1",
    "apps/v1",
    { spec: { template, rollbackTo: { revision: 3 } } },
    {
      metadata: {
        labels: { a: "b" },
        annotations: { "deprecated.deployment.rollback.to": "3" },
      },
      spec: {
        selector: { matchLabels: { a: "b" } },
        progressDeadlineSeconds: 2147483647,
        revisionHistoryLimit: 2147483647,
        strategy: {
          type: "RollingUpdate",
          rollingUpdate: { maxSurge: 1, maxUnavailable: 1 },
        },
      },
    },
  ],
  [
    "Deployment",
    "apps/v1beta1",
    "apps/v1",
    { spec: { template } },
    { ...labels, spec: { replicas: 1, revisionHistoryLimit: 2 } },
  ],
  [
    "DaemonSet",
    "extensions/v1beta1",
    "apps/v1",
    { spec: { template, templateGeneration: 4 } },
    {
      metadata: {
        annotations: { "deprecated.daemonset.template.generation": "4" },
      },
      spec: { updateStrategy: { type: "OnDelete" } },
    },
  ],
  [
    "Ingress",
    "networking.k8s.io/v1beta1",
    "networking.k8s.io/v1",
    {
      spec: {
        backend: { serviceName: "s", servicePort: 80 },
        rules: [
          {
            host: "h",
            http: {
              paths: [
                { path: "/x", backend: { serviceName: "s", servicePort: "p" } },
              ],
            },
          },
        ],
      },
    },
    {
      spec: {
        defaultBackend: { service: { name: "s", port: { number: 80 } } },
        rules: [
          {
            host: "h",
            http: {
              paths: [
                {
                  path: "/x",
                  pathType: "ImplementationSpecific",
                  backend: { service: { name: "s", port: { name: "p" } } },
                },
              ],
            },
          },
        ],
      },
    },
  ],
  [
    "EndpointSlice",
    "discovery.k8s.io/v1beta1",
    "discovery.k8s.io/v1",
    {
      addressType: "IPv4",
      endpoints: [
        {
          addresses: ["10.0.0.1"],
          topology: { "topology.kubernetes.io/zone": "z", other: "o" },
        },
      ],
    },
    {
      endpoints: [
        {
          addresses: ["10.0.0.1"],
          zone: "z",
          deprecatedTopology: { other: "o" },
        },
      ],
    },
  ],
  [
    "PriorityLevelConfiguration",
    "flowcontrol.apiserver.k8s.io/v1beta2",
    "flowcontrol.apiserver.k8s.io/v1",
    { spec: { type: "Limited", limited: { assuredConcurrencyShares: 7 } } },
    { spec: { limited: { nominalConcurrencyShares: 7 } } },
  ],
  [
    "ValidatingWebhookConfiguration",
    "admissionregistration.k8s.io/v1beta1",
    "admissionregistration.k8s.io/v1",
    { webhooks: [{ name: "a.b.c", clientConfig: { url: "https://x/y" } }] },
    {
      webhooks: [
        {
          admissionReviewVersions: ["v1beta1"],
          failurePolicy: "Ignore",
          matchPolicy: "Exact",
          sideEffects: "Unknown",
          timeoutSeconds: 30,
        },
      ],
    },
  ],
  [
    "CertificateSigningRequest",
    "certificates.k8s.io/v1beta1",
    "certificates.k8s.io/v1",
    { spec: { request: "eA==" } },
    {
      spec: {
        signerName: "kubernetes.io/legacy-unknown",
        usages: ["digital signature", "key encipherment"],
      },
    },
  ],
])("%s of %s becomes %s", (kind, apiVersion, today, object, expected) => {
  const found = read({ ...object, apiVersion }, today, kind);
  expect(found).toMatchObject({ ...expected, kind, apiVersion: today });
  for (const old of [
    "rollbackTo",
    "templateGeneration",
    "backend",
    "assuredConcurrencyShares",
  ])
    expect(JSON.stringify(found["spec"] ?? {})).not.toContain(
      `"${old}":${old === "backend" ? '{"serviceName"' : ""}`,
    );
});

test.each([
  [
    { apiVersion: "v1", kind: "Secret" },
    "converting (v1.Secret) to (ConfigMap): unknown conversion",
  ],
  [
    { apiVersion: "v9", kind: "ConfigMap" },
    'no kind "ConfigMap" is registered for version "v9"',
  ],
])("%j is no ConfigMap", (object, text) => {
  expect(() => read(object, "v1", "ConfigMap")).toThrow(text);
});

test("an autoscaler's metrics and behaviour travel in the reference's annotations", () => {
  const v2 = {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "h" },
    spec: {
      maxReplicas: 4,
      behavior: {
        scaleDown: {
          selectPolicy: "Max",
          stabilizationWindowSeconds: 5,
          policies: [{ periodSeconds: 15, type: "Percent", value: 100 }],
        },
      },
      metrics: [
        {
          type: "Pods",
          pods: {
            metric: { name: "m", selector: { matchLabels: { a: "b" } } },
            target: { type: "AverageValue", averageValue: "3" },
          },
        },
        {
          type: "Object",
          object: {
            describedObject: { kind: "Service", name: "s" },
            metric: { name: "q" },
            target: { type: "Value", value: "9" },
          },
        },
        {
          type: "External",
          external: {
            metric: { name: "e", selector: { matchLabels: { x: "y" } } },
            target: { type: "AverageValue", averageValue: "7" },
          },
        },
        {
          type: "ContainerResource",
          containerResource: {
            name: "cpu",
            target: { type: "Utilization", averageUtilization: 10 },
            container: "c",
          },
        },
        {
          type: "Resource",
          resource: {
            name: "cpu",
            target: { type: "Utilization", averageUtilization: 44 },
          },
        },
      ],
    },
    status: { desiredReplicas: 2 },
  } as unknown as AnyObject;
  const rules = rulesOf("HorizontalPodAutoscaler", "autoscaling/v2");
  const v1 = convertBy(rules, v2, "autoscaling/v1");
  const { annotations } = v1.metadata;
  expect(annotations).toEqual({
    "autoscaling.alpha.kubernetes.io/behavior":
      '{"ScaleDown":{"StabilizationWindowSeconds":5,"SelectPolicy":"Max","Policies":[{"Type":"Percent","Value":100,"PeriodSeconds":15}]}}',
    "autoscaling.alpha.kubernetes.io/metrics":
      '[{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"3","selector":{"matchLabels":{"a":"b"}}}},{"type":"Object","object":{"target":{"kind":"Service","name":"s"},"metricName":"q","targetValue":"9"}},{"type":"External","external":{"metricName":"e","metricSelector":{"matchLabels":{"x":"y"}},"targetAverageValue":"7"}},{"type":"ContainerResource","containerResource":{"name":"cpu","targetAverageUtilization":10,"container":"c"}}]',
  });
  expect(v1["spec"]).toMatchObject({ targetCPUUtilizationPercentage: 44 });
  expect(convertBy(rules, v1, "autoscaling/v2")["spec"]).toEqual(v2["spec"]);
});
