// All built-in admission plugins in the reference's order.
import type { Authorizer } from "../../../api/contracts.ts";
import {
  certificateSubjectRestriction,
  createCertificateApproval,
  createCertificateSigning,
} from "./certificates.ts";
import { limitRanger } from "./limit-ranger.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";
import { nodeRestriction } from "./node-restriction.ts";
import type { AdmissionPlugin } from "../plugin.ts";
import {
  createDefaultTolerationSeconds,
  runtimeClass,
  taintNodesByCondition,
  type TolerationSeconds,
} from "./pod-defaults.ts";
import { createPodSecurity } from "./pod-security/pod-security.ts";
import { priority } from "./priority.ts";
import { createResourceQuota } from "./resource-quota.ts";
import { serviceAccount } from "./service-account.ts";
import {
  defaultIngressClass,
  defaultStorageClass,
  persistentVolumeClaimResize,
  storageObjectInUseProtection,
} from "./storage-defaults.ts";

/** Plugins that only run when they are asked for. */
export const OFF_BY_DEFAULT: ReadonlySet<string> = new Set(["NodeRestriction"]);

const FIVE_MINUTES: TolerationSeconds = { notReady: 300, unreachable: 300 };

/** Every built-in plugin; which of them run is the composition's choice. */
export function orderedAdmissionPlugins(
  authorizer: Authorizer,
  tolerationSeconds = FIVE_MINUTES,
): AdmissionPlugin[] {
  return [
    namespaceLifecycle,
    limitRanger,
    serviceAccount,
    nodeRestriction,
    taintNodesByCondition,
    createPodSecurity(),
    priority,
    createDefaultTolerationSeconds(tolerationSeconds),
    defaultStorageClass,
    storageObjectInUseProtection,
    persistentVolumeClaimResize,
    runtimeClass,
    createCertificateApproval(authorizer),
    createCertificateSigning(authorizer),
    certificateSubjectRestriction,
    defaultIngressClass,
    createResourceQuota(),
  ];
}
