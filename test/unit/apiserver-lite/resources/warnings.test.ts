// Warnings of kinds beside pods and workloads: deprecated labels of nodes and annotations, addresses in other forms.
import type { AnyObject } from "../../../../api/object.ts";
import { podWarnings } from "../../../../apiserver-lite/resources/core/pod/pod-warnings.ts";
import { serviceAccountStrategy } from "../../../../apiserver-lite/resources/core/service-account.ts";
import { serviceWarnings } from "../../../../apiserver-lite/resources/core/service/service-warnings.ts";
import { persistentVolumeStrategy } from "../../../../apiserver-lite/resources/core/volume/persistent-volume.ts";
import { runtimeClassStrategy } from "../../../../apiserver-lite/resources/node/runtime-class.ts";
import { csiStorageCapacityStrategy } from "../../../../apiserver-lite/resources/storage/csi.ts";
import { storageClassStrategy } from "../../../../apiserver-lite/resources/storage/storage-class.ts";
import type { ResourceStrategy } from "../../../../apiserver-lite/resources/strategy.ts";

const warningsOf = (
  strategy: Pick<ResourceStrategy, "warnings">,
  object: object,
  old?: object,
): string[] => [
  ...(strategy.warnings?.(
    { metadata: {}, ...object } as AnyObject,
    old as AnyObject | undefined,
  ) ?? []),
];

const key = "beta.kubernetes.io/arch";
const matchExpressions = [{ key, operator: "Exists" }];
const instead = 'deprecated since v1.14; use "kubernetes.io/arch" instead';

test.each<[string, Pick<ResourceStrategy, "warnings">, object, string[]]>([
  [
    "a class of volumes",
    storageClassStrategy,
    {
      allowedTopologies: [{ matchLabelExpressions: [{ key, values: ["a"] }] }],
    },
    [`allowedTopologies[0].matchLabelExpressions[0].key: ${instead}`],
  ],
  [
    "a capacity",
    csiStorageCapacityStrategy,
    { nodeTopology: { matchExpressions, matchLabels: { [key]: "a" } } },
    [
      `nodeTopology.matchExpressions[0].key: ${key} is ${instead}`,
      `nodeTopology.matchLabels.${key}: ${instead}`,
    ],
  ],
  [
    "a RuntimeClass",
    runtimeClassStrategy,
    { scheduling: { nodeSelector: { [key]: "a" } } },
    [`scheduling.nodeSelector: ${instead}`],
  ],
  [
    "a volume",
    persistentVolumeStrategy,
    {
      metadata: {
        annotations: { "volume.beta.kubernetes.io/mount-options": "ro" },
      },
      spec: {
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions }] },
        },
      },
    },
    [
      'metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since v1.31; use "mountOptions" attribute instead',
      `spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: ${key} is ${instead}`,
    ],
  ],
])(
  "%s selects nodes by a deprecated label",
  (_what, strategy, object, texts) => {
    expect(warningsOf(strategy, object)).toEqual(texts);
  },
);

test("a pod for the nodes that were masters, and a port's address without a port", () => {
  const ports = [{ containerPort: 80, protocol: "TCP", hostIP: "127.0.0.1" }];
  expect([
    ...podWarnings(
      "",
      {
        nodeSelector: { "node-role.kubernetes.io/master": "" },
        containers: [{ name: "c", image: "i", ports }],
      },
      undefined,
    ),
  ]).toEqual([
    'spec.nodeSelector[node-role.kubernetes.io/master]: use "node-role.kubernetes.io/control-plane" instead',
    "spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:127.0.0.1}",
  ]);
});

test("an account that limits its Secrets, when that is new", () => {
  const annotations = { "kubernetes.io/enforce-mountable-secrets": "true" };
  const account = { metadata: { annotations } };
  const text =
    "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets";
  expect(warningsOf(serviceAccountStrategy, account)).toEqual([text]);
  expect(warningsOf(serviceAccountStrategy, account, { metadata: {} })).toEqual(
    [text],
  );
  expect(warningsOf(serviceAccountStrategy, account, account)).toEqual([]);
});

test("addresses of a Service that controllers write otherwise", () => {
  const spec = {
    externalIPs: ["2001:DB8::1", "::ffff:1.2.3.4", "1.2.3.4"],
    loadBalancerIP: "2001:db8:0::2",
    loadBalancerSourceRanges: ["2001:DB8::/32", "10.0.0.0/8", "fe80::1%x/64"],
  };
  const other = (text: string, canonical: string): string =>
    `"${text}" is not in RFC 5952 canonical format ("${canonical}"), which may cause controller apply-loops`;
  expect([...serviceWarnings({ metadata: { name: "s" }, spec })]).toEqual([
    `spec.externalIPs[0]: IPv6 address ${other("2001:DB8::1", "2001:db8::1")}`,
    `spec.loadBalancerIP: IPv6 address ${other("2001:db8:0::2", "2001:db8::2")}`,
    `spec.loadBalancerSourceRanges[0]: IPv6 prefix ${other("2001:DB8::/32", "2001:db8::/32")}`,
  ]);
});
