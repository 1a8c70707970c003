// PodSecurity's look at namespaces: unreadable labels, and warnings about the pods that are there.
import { firstRound } from "../../../support/admission-attributes.ts";
import type { AnyObject } from "../../../../api/object.ts";
import type { AdmissionAttributes } from "../../../../apiserver-lite/admission/plugin.ts";
import {
  createPodSecurity,
  type PodSecurityOptions,
} from "../../../../apiserver-lite/admission/plugins/pod-security/pod-security.ts";
import type { StrategyContext } from "../../../../apiserver-lite/resources/strategy.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { FakeState } from "../fake-state.ts";

type Labels = Record<string, string>;
const label = (name: string): string => `pod-security.kubernetes.io/${name}`;
const namespace = (labels: Labels): AnyObject => ({
  metadata: {
    name: "ns",
    labels: Object.fromEntries(
      Object.entries(labels).map(([name, value]) => [label(name), value]),
    ),
  },
});
const pod = (name: string, spec: object, owner?: string): AnyObject => ({
  metadata: {
    name,
    namespace: "ns",
    ...(owner
      ? { ownerReferences: [{ uid: owner, controller: true }] as never }
      : {}),
  },
  spec: { containers: [{ name: "c", image: "i" }], ...spec },
});

async function warningsOf(
  now: Labels,
  before: Labels | undefined,
  options: PodSecurityOptions = {},
  pods: readonly AnyObject[] = [],
): Promise<string[]> {
  const state = new FakeState();
  for (const each of pods) state.put("", "pods", each);
  const warnings: string[] = [];
  const attributes: AdmissionAttributes = {
    operation: before ? "UPDATE" : "CREATE",
    resource: { group: "", version: "v1", resource: "namespaces" },
    kind: { group: "", version: "v1", kind: "Namespace" },
    subresource: "",
    namespace: "",
    name: "ns",
    user: { name: "u", groups: [], extra: {} },
    dryRun: false,
    options: {},
    object: namespace(now),
    oldObject: before && namespace(before),
    ...firstRound(),
  };
  const context = {
    clock: new FakeClock(),
    list: state.list.bind(state),
    warn: (text: string) => warnings.push(text),
  } as unknown as StrategyContext;
  await createPodSecurity(options).validate!(attributes, context);
  return warnings;
}

it("refuses labels that can't be read, unless they were there", async () => {
  const bad = { enforce: "hard", "warn-version": "2" };
  await expect(warningsOf(bad, undefined)).rejects.toThrow(
    'Namespace "ns" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "hard": must be one of privileged, baseline, restricted, metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "2": must be "latest" or "v1.x"]',
  );
  await expect(warningsOf(bad, {})).rejects.toThrow("is invalid");
  expect(await warningsOf(bad, bad)).toEqual([]);
});

const privileged = { hostNetwork: true };
const pods = [
  pod("b", privileged),
  pod("a", privileged),
  pod("c", privileged),
  pod("d", {
    ...privileged,
    hostPID: true,
    volumes: [{ name: "v", hostPath: {} }],
  }),
  pod("e", { ...privileged, runtimeClassName: "exempt" }),
  pod("f", {}),
];

it("warns about the pods that violate a stricter level", async () => {
  const exemptions = { runtimeClasses: ["exempt"] };
  expect(
    await warningsOf({ enforce: "baseline" }, {}, { exemptions }, pods),
  ).toEqual([
    'existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest"',
    "a (and 2 other pods): host namespaces",
    "d: host namespaces, hostPath volumes",
  ]);
});

it.each([
  [{ enforce: "baseline" }, { enforce: "baseline" }],
  [{ enforce: "privileged" }, { enforce: "baseline" }],
  [{ enforce: "baseline" }, { enforce: "restricted" }],
])("does not look at the pods from %j to %j", async (now, before) => {
  expect(await warningsOf(now, before, {}, pods)).toEqual([]);
});

it("says which policy an exempt namespace ignores", async () => {
  const exemptions = { namespaces: ["ns"] };
  expect(
    await warningsOf(
      { enforce: "baseline", "enforce-version": "v1.20", audit: "restricted" },
      {},
      { exemptions },
      pods,
    ),
  ).toEqual([
    'namespace "ns" is exempt from Pod Security, and the policy (enforce=baseline:v1.20, audit=restricted:latest) will be ignored',
  ]);
});

it("checks a bounded number of pods", async () => {
  const many = Array.from({ length: 3001 }, (_, index) =>
    pod(`p${index}`, {}, "one"),
  );
  expect(await warningsOf({ enforce: "baseline" }, {}, {}, many)).toEqual([
    "new PodSecurity enforce level only checked against the first 3000 of 3001 existing pods",
  ]);
});
