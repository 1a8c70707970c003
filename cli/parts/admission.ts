// Which admission plugins an API server runs, in the reference's order: the default ones, those of
// --enable-admission-plugins, without those of --disable-admission-plugins.
import type { Authorizer } from "../../api/contracts.ts";
import {
  createCertificateApproval,
  createCertificateSigning,
  certificateSubjectRestriction,
} from "../../apiserver-lite/admission/certificates.ts";
import { limitRanger } from "../../apiserver-lite/admission/limit-ranger.ts";
import { namespaceLifecycle } from "../../apiserver-lite/admission/namespace-lifecycle.ts";
import { nodeRestriction } from "../../apiserver-lite/admission/node-restriction.ts";
import type { AdmissionPlugin } from "../../apiserver-lite/admission/plugin.ts";
import {
  defaultTolerationSeconds,
  runtimeClass,
  taintNodesByCondition,
} from "../../apiserver-lite/admission/pod-defaults.ts";
import { priority } from "../../apiserver-lite/admission/priority.ts";
import { serviceAccount } from "../../apiserver-lite/admission/service-account.ts";
import {
  defaultIngressClass,
  defaultStorageClass,
  persistentVolumeClaimResize,
  storageObjectInUseProtection,
} from "../../apiserver-lite/admission/storage-defaults.ts";
import type { OptionValues } from "../options/parse.ts";
import { UsageError } from "../options/table.ts";

/** Plugins of the reference that are not there yet; accepted in the two options. */
const missing = [
  "PodSecurity",
  "ClusterTrustBundleAttest",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionWebhook",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionWebhook",
  "ResourceQuota",
];
const offByDefault = new Set(["NodeRestriction"]);

export interface AdmissionChoice {
  readonly plugins: readonly AdmissionPlugin[];
  /** Asked for by name, but not there yet. */
  readonly missing: readonly string[];
}

/** @param secure whether plugins a secure cluster needs (NodeRestriction) are on by default */
export function chooseAdmission(
  values: OptionValues,
  authorizer: Authorizer,
  secure: boolean,
): AdmissionChoice {
  const all: readonly AdmissionPlugin[] = [
    namespaceLifecycle,
    limitRanger,
    serviceAccount,
    nodeRestriction,
    taintNodesByCondition,
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
  const known = new Set([...all.map(({ name }) => name), ...missing]);
  const enabled = new Set(values.list("enable-admission-plugins"));
  const disabled = new Set(values.list("disable-admission-plugins"));
  for (const [option, names] of [
    ["enable-admission-plugins", enabled],
    ["disable-admission-plugins", disabled],
  ] as const) {
    for (const name of names)
      if (!known.has(name))
        throw new UsageError(
          `invalid argument "${name}" for "--${option}": there is no such admission plugin`,
        );
  }
  for (const name of enabled)
    if (disabled.has(name))
      throw new UsageError(
        `admission plugin ${name} is both enabled and disabled`,
      );
  return {
    plugins: all.filter(
      ({ name }) =>
        !disabled.has(name) &&
        (enabled.has(name) || secure || !offByDefault.has(name)),
    ),
    missing: missing.filter((name) => enabled.has(name)),
  };
}
