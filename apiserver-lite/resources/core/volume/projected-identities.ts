// Sources of projected volumes that say who is who: the pod's own token, and bundles of certificates, one by its name or those
// of a signer by labels.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import { asGo } from "../../../../api/go-syntax.ts";
import { dnsSubdomainProblems } from "../../../../api/names.ts";
import type {
  ClusterTrustBundleProjection,
  ServiceAccountTokenProjection,
} from "../../../../api/types/core-v1.ts";
import { joined } from "../../field-checks.ts";
import { validateFilePath } from "../container/container-environment.ts";
import { signerProblems } from "../../signer-names.ts";

export function validateToken(
  field: string,
  volumeField: string,
  { expirationSeconds = 3600, path }: ServiceAccountTokenProjection,
): FieldError[] {
  const duration = (why: string): FieldError =>
    fieldErrors.invalid(
      `${field}.expirationSeconds`,
      expirationSeconds,
      `may not specify a duration ${why}`,
    );
  return joined(
    expirationSeconds < 600 ? [duration("less than 10 minutes")] : [],
    expirationSeconds > 2 ** 32 ? [duration("larger than 2^32 seconds")] : [],
    path
      ? validateFilePath(`${volumeField}.path`, path)
      : [fieldErrors.required(`${volumeField}.path`)],
  );
}

/** A bundle of a signer is called `<signer with a colon for the slash>:<name>`; here only a bundle without one has to fit. */
const nameProblems = (name: string): string[] =>
  name.includes(":") ? [] : dnsSubdomainProblems(name);

/** The reference calls the field clusterTrustBundlePEM. */
export function validateTrustBundle(
  field: string,
  source: ClusterTrustBundleProjection,
): FieldError[] {
  const { name, signerName, labelSelector, path } = source;
  const problems: FieldError[] = [];
  if (name !== undefined && signerName !== undefined)
    problems.push(
      fieldErrors.invalid(
        field,
        asGo("core.ClusterTrustBundleProjection", source),
        "only one of name and signerName may be used",
      ),
    );
  else if (name !== undefined) {
    if (name === "")
      problems.push(
        fieldErrors.required(`${field}.name`, "must be a valid object name"),
      );
    else
      for (const problem of nameProblems(name))
        problems.push(fieldErrors.invalid(`${field}.name`, name, problem));
    if (labelSelector)
      problems.push(
        fieldErrors.invalid(
          `${field}.labelSelector`,
          asGo("*v1.LabelSelector", labelSelector),
          "labelSelector must be unset if name is specified",
        ),
      );
  } else if (signerName === undefined)
    problems.push(
      fieldErrors.required(
        field,
        "either name or signerName must be specified",
      ),
    );
  else if (signerName === "")
    problems.push(
      fieldErrors.required(
        `${field}.signerName`,
        "must be a valid signer name",
      ),
    );
  else problems.push(...signerProblems(`${field}.signerName`, signerName));
  return [
    ...problems,
    ...(path ? [] : [fieldErrors.required(`${field}.path`)]),
    ...validateFilePath(`${field}.path`, path ?? ""),
  ];
}
