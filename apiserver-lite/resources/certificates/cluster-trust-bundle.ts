// ClusterTrustBundles: certificates of authorities, of a signer or of no one. The name of a bundle begins with its signer.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { dnsSubdomainProblems, nameRule } from "../../../api/names.ts";
import type { ClusterTrustBundle } from "../../../api/types/certificates-v1alpha1.ts";
import { immutable } from "../field-checks.ts";
import { signerProblems } from "../signer-names.ts";
import { strategyOf } from "../typed.ts";
import { trustBundleProblems } from "./trust-anchors.ts";

const isSubdomain = nameRule(dnsSubdomainProblems);

function nameProblems(name: string, signerName: string): string[] {
  if (signerName === "")
    return name.includes(":")
      ? ['ClusterTrustBundle without signer name must not have ":" in its name']
      : isSubdomain(name, false);
  const prefix = `${signerName.replaceAll("/", ":")}:`;
  return name.startsWith(prefix)
    ? isSubdomain(name.slice(prefix.length), false)
    : [
        `ClusterTrustBundle for signerName ${signerName} must be named with prefix ${prefix}`,
      ];
}

function validate({ metadata, spec }: ClusterTrustBundle): FieldError[] {
  const signerName = spec?.signerName ?? "";
  return [
    ...nameProblems(metadata.name, signerName).map((problem) =>
      fieldErrors.invalid("metadata.name", metadata.name, problem),
    ),
    ...(signerName === "" ? [] : signerProblems("spec.signerName", signerName)),
  ];
}

const validateAnchors = ({ spec }: ClusterTrustBundle): FieldError[] =>
  trustBundleProblems("spec.trustBundle", spec?.trustBundle ?? "");

export const clusterTrustBundleStrategy = strategyOf<ClusterTrustBundle>({
  countsGeneration: false,
  allowUnconditionalUpdate: false,
  // It depends on the signer.
  validateName: () => [],
  validate,
  validateCreate: validateAnchors,
  validateUpdate: (object, old) => [
    ...(object.spec?.trustBundle === old.spec?.trustBundle
      ? []
      : validateAnchors(object)),
    ...immutable(
      "spec.signerName",
      object.spec?.signerName ?? "",
      old.spec?.signerName ?? "",
    ),
  ],
  selectableFields: ({ spec }) => ({
    "spec.signerName": spec?.signerName ?? "",
  }),
  printRow: ({ metadata, spec }) => [
    metadata.name,
    spec?.signerName || "<none>",
  ],
});
