// The Pod Security Standards as a table: which checks a level makes in which version of the policy.
import type { Container, Pod } from "../../../../api/types/core-v1.ts";
import * as baseline from "./baseline-checks.ts";
import type { Check, Named, Violation } from "./check.ts";
import * as restricted from "./restricted-checks.ts";
import { typed } from "../../../resources/typed.ts";

export type SecurityLevel = "privileged" | "baseline" | "restricted";

interface StandardCheck {
  readonly id: string;
  /** From which minor version on which form of it is made. The first may come later than 1.0. */
  readonly since: Readonly<Record<number, Check>>;
  /** The baseline's check that this stricter one takes the place of. */
  readonly replaces?: string;
}

// Both in the order of their ids, which is that of the reference's messages.
const baselineChecks: readonly StandardCheck[] = [
  { id: "appArmorProfile", since: { 0: baseline.appArmorProfile } },
  { id: "capabilities_baseline", since: { 0: baseline.capabilities } },
  { id: "hostNamespaces", since: { 0: baseline.hostNamespaces } },
  { id: "hostPathVolumes", since: { 0: baseline.hostPathVolumes } },
  { id: "hostPorts", since: { 0: baseline.hostPorts } },
  { id: "privileged", since: { 0: baseline.privileged } },
  { id: "procMount", since: { 0: baseline.procMount } },
  {
    id: "seLinuxOptions",
    since: { 0: baseline.selinuxOptions0, 31: baseline.selinuxOptions31 },
  },
  {
    id: "seccompProfile_baseline",
    since: { 0: baseline.seccompAnnotations, 19: baseline.seccompProfile },
  },
  { id: "sysctls", since: baseline.sysctlsSince },
  { id: "windowsHostProcess", since: { 0: baseline.windowsHostProcess } },
];
const restrictedChecks: readonly StandardCheck[] = [
  {
    id: "allowPrivilegeEscalation",
    since: {
      8: restricted.allowPrivilegeEscalation,
      25: restricted.allowPrivilegeEscalation25,
    },
  },
  {
    id: "capabilities_restricted",
    since: {
      22: restricted.droppedCapabilities,
      25: restricted.droppedCapabilities25,
    },
    replaces: "capabilities_baseline",
  },
  {
    id: "restrictedVolumes",
    since: { 0: restricted.restrictedVolumes },
    replaces: "hostPathVolumes",
  },
  { id: "runAsNonRoot", since: { 0: restricted.runAsNonRoot } },
  { id: "runAsUser", since: { 23: restricted.runAsUser } },
  {
    id: "seccompProfile_restricted",
    since: {
      19: restricted.requiredSeccompProfile,
      25: restricted.requiredSeccompProfile25,
    },
    replaces: "seccompProfile_baseline",
  },
];

/** The form of a check in a minor version; undefined: it was not made yet. */
function formIn(minor: number, { since }: StandardCheck): Check | undefined {
  let form: Check | undefined;
  // Keys that are whole numbers come in their order.
  for (const [first, check] of Object.entries(since))
    if (Number(first) <= minor) form = check;
  return form;
}

const prepared = new Map<string, readonly Check[]>();
/** Later versions of the policy are those of the newest. */
const newest = 32;

/** @param minor of the policy's version 1.x; Infinity: the latest */
function checksOf(
  level: Exclude<SecurityLevel, "privileged">,
  minor: number,
): readonly Check[] {
  const version = Math.min(minor, newest);
  const key = `${level} ${version}`;
  let checks = prepared.get(key);
  if (!checks) {
    const strict =
      level === "restricted"
        ? restrictedChecks.filter((check) => formIn(version, check))
        : [];
    const replaced = new Set(strict.map(({ replaces }) => replaces));
    const all = [
      ...baselineChecks.filter(({ id }) => !replaced.has(id)),
      ...strict,
    ];
    checks = all.flatMap((check) => formIn(version, check) ?? []);
    prepared.set(key, checks);
  }
  return checks;
}

/** What the pod has that the level of this version does not allow. @param minor as in checksOf */
export function podViolations(
  pod: Pod,
  level: SecurityLevel,
  minor = Infinity,
): Violation[] {
  if (level === "privileged") return [];
  const { spec } = pod;
  const containers: Named[] = [
    ...(spec.initContainers ?? []),
    ...(spec.containers ?? []),
    ...typed<Container[]>(spec.ephemeralContainers ?? []),
  ].map((container) => ({ name: container.name, container }));
  return checksOf(level, minor).flatMap(
    (check) => check(pod, containers) ?? [],
  );
}
