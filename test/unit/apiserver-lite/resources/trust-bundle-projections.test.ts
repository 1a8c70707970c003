// Bundles of certificates in projected volumes: dropped without their gate, else checked.
import type { AnyObject } from "../../../../api/object.ts";
import type { ClusterTrustBundleProjection } from "../../../../api/types/core-v1.ts";
import { defaultPodFeatures } from "../../../../apiserver-lite/resources/core/pod/pod-disabled-fields.ts";
import { createPodStrategy } from "../../../../apiserver-lite/resources/core/pod/pod.ts";
import { strategyContext, withDefaults } from "./strategy-context.ts";

const context = strategyContext();
const off = createPodStrategy();
const on = createPodStrategy({ ...defaultPodFeatures, trustBundles: true });

const podOf = (
  ...bundles: Partial<ClusterTrustBundleProjection>[]
): AnyObject =>
  withDefaults({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "default", uid: "u" },
    spec: {
      containers: [{ name: "c", image: "busybox" }],
      volumes: [
        {
          name: "v",
          projected: {
            sources: bundles.map((clusterTrustBundle) => ({
              clusterTrustBundle,
            })),
          },
        },
      ],
    },
  } as unknown as AnyObject);

const bundlesOf = (pod: AnyObject): unknown[] =>
  (
    pod as unknown as {
      spec: { volumes: [{ projected: { sources: object[] } }] };
    }
  ).spec.volumes[0].projected.sources;

test("without the gate they are dropped, unless the stored pod has them", () => {
  const source = { name: "b", path: "f" };
  const made = podOf(source);
  void off.prepareForCreate!(made, context);
  expect(bundlesOf(made)).toEqual([{}]);
  const updated = podOf(source);
  void off.prepareForUpdate!(updated, podOf(source), context);
  expect(bundlesOf(updated)).toEqual([{ clusterTrustBundle: source }]);
  const kept = podOf(source);
  void on.prepareForCreate!(kept, context);
  expect(bundlesOf(kept)).toEqual([{ clusterTrustBundle: source }]);
});

const field = "spec.volumes[0].projected.sources[0].clusterTrustBundlePEM";

test.each<[Partial<ClusterTrustBundleProjection>[], string[]]>([
  [[{ name: "b", path: "f" }], []],
  [[{ name: "example.com:s:b", path: "d/f" }], []],
  [[{ signerName: "example.com/s", path: "f" }], []],
  [[{ signerName: "example.com/s", labelSelector: {}, path: "f" }], []],
  [
    [{ path: "f" }],
    [`${field}: Required value: either name or signerName must be specified`],
  ],
  [
    [{ name: "", path: "f" }],
    [`${field}.name: Required value: must be a valid object name`],
  ],
  [
    [{ signerName: "", path: "f" }],
    [`${field}.signerName: Required value: must be a valid signer name`],
  ],
  [[{ name: "b" }], [`${field}.path: Required value`]],
  [
    [{ name: "b", path: "../f" }],
    [`${field}.path: Invalid value: "../f": must not contain '..'`],
  ],
  [
    [{ name: "b", path: "/f" }],
    [`${field}.path: Invalid value: "/f": must be a relative path`],
  ],
  [
    [
      { name: "b", path: "f" },
      { name: "c", path: "f" },
    ],
    [
      'spec.volumes[0].projected: Invalid value: "f": conflicting duplicate paths',
    ],
  ],
])("%j", (bundles, wanted) => {
  expect(
    on.validate!(podOf(...bundles), context).map(
      (problem) => `${problem.field}: ${problem.detail}`,
    ),
  ).toEqual(wanted);
});

test.each<[Partial<ClusterTrustBundleProjection>, string, string]>([
  [
    { name: "b", signerName: "example.com/s", path: "f" },
    field,
    "only one of name and signerName may be used",
  ],
  [
    { name: "b", labelSelector: {}, path: "f" },
    `${field}.labelSelector`,
    "labelSelector must be unset if name is specified",
  ],
  [
    { name: "No_Name", path: "f" },
    `${field}.name`,
    "a lowercase RFC 1123 subdomain",
  ],
  [{ signerName: "s", path: "f" }, `${field}.signerName`, "fully qualified"],
])("%j is refused", (bundle, where, why) => {
  const [problem] = on.validate!(podOf(bundle), context);
  expect(problem!.field).toBe(where);
  expect(problem!.detail).toContain(why);
});
