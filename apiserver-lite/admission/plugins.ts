// All built-in admission plugins in the reference's order.
import type { Authorizer } from "../../api/contracts.ts";
import {
  certificateSubjectRestriction,
  createCertificateApproval,
  createCertificateSigning,
} from "./plugins/certificates.ts";
import { limitRanger } from "./plugins/limit-ranger.ts";
import { namespaceLifecycle } from "./plugins/namespace-lifecycle.ts";
import { nodeRestriction } from "./plugins/node-restriction.ts";
import type { AdmissionPlugin } from "./plugin.ts";
import {
  createDefaultTolerationSeconds,
  runtimeClass,
  taintNodesByCondition,
  type TolerationSeconds,
} from "./plugins/pod-defaults.ts";
import { createPodSecurity } from "./plugins/pod-security/pod-security.ts";
import { priority } from "./plugins/priority.ts";
import { createResourceQuota } from "./plugins/resource-quota.ts";
import { serviceAccount } from "./plugins/service-account.ts";
import {
  defaultIngressClass,
  defaultStorageClass,
  persistentVolumeClaimResize,
  storageObjectInUseProtection,
} from "./plugins/storage-defaults.ts";

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
