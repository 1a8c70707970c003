// All plugins in the reference's order, and which of them run.
import type { Authorizer } from "../../api/contracts.ts";
import { createEscalationCheck } from "../authorization/escalation-check.ts";
import type { RbacAuthorizer } from "../authorization/rbac-authorizer.ts";
import {
  certificateSubjectRestriction,
  createCertificateApproval,
  createCertificateSigning,
} from "./certificates.ts";
import { limitRanger } from "./limit-ranger.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";
import { nodeRestriction } from "./node-restriction.ts";
import type { AdmissionPlugin } from "./plugin.ts";
import {
  defaultTolerationSeconds,
  runtimeClass,
  taintNodesByCondition,
} from "./pod-defaults.ts";
import { podSecurity } from "./pod-security/pod-security.ts";
import { priority } from "./priority.ts";
import { serviceAccount } from "./service-account.ts";
import {
  defaultIngressClass,
  defaultStorageClass,
  persistentVolumeClaimResize,
  storageObjectInUseProtection,
} from "./storage-defaults.ts";

export interface AdmissionOptions {
  readonly authorizer: Authorizer;
  /** Present when that mode is on. */
  readonly rbac?: RbacAuthorizer | undefined;
  /** Beyond the default ones, by name. */
  readonly enable?: readonly string[];
  readonly disable?: readonly string[];
}

/** Plugins of the reference's order that are off unless enabled. */
const OFF_BY_DEFAULT: readonly string[] = ["NodeRestriction"];

/** Throws a RangeError for a name nobody has. The check of granted roles can't be disabled. */
export function createAdmissionPlugins(
  options: AdmissionOptions,
): AdmissionPlugin[] {
  const { authorizer, rbac, enable = [], disable = [] } = options;
  const ordered: readonly AdmissionPlugin[] = [
    namespaceLifecycle,
    limitRanger,
    serviceAccount,
    nodeRestriction,
    taintNodesByCondition,
    podSecurity,
    priority,
    defaultTolerationSeconds,
    defaultStorageClass,
    storageObjectInUseProtection,
    persistentVolumeClaimResize,
    runtimeClass,
    createCertificateApproval(authorizer),
    createCertificateSigning(authorizer),
    certificateSubjectRestriction,
    defaultIngressClass,
  ];
  const known = new Set(ordered.map(({ name }) => name));
  for (const name of [...enable, ...disable]) {
    if (!known.has(name))
      throw new RangeError(`unknown admission plugin ${JSON.stringify(name)}`);
  }
  const running = ordered.filter(
    ({ name }) =>
      enable.includes(name) ||
      (!disable.includes(name) && !OFF_BY_DEFAULT.includes(name)),
  );
  return rbac ? [...running, createEscalationCheck(rbac, authorizer)] : running;
}
