// Validation of certificate requests: what is asked for, of whom, and how it was decided.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from "../../../api/types/certificates-v1.ts";
import { csrProblem } from "../../../api/pki/signing-request.ts";
import { signerProblems } from "../signer-names.ts";

const minSeconds = 600;
const decisions = ["Approved", "Denied"];
const usages = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];

type Spec = CertificateSigningRequest["spec"] | undefined;

export function validateRequestSpec(spec: Spec): FieldError[] {
  const problems: FieldError[] = [];
  const pem = Buffer.from(spec?.request ?? "", "base64");
  const problem = csrProblem(pem.toString("latin1"));
  if (problem !== undefined)
    problems.push(
      fieldErrors.invalid(
        "spec.request",
        asGo("[]byte", spec?.request && pem),
        problem,
      ),
    );
  const asked = spec?.usages ?? [];
  if (asked.length === 0) problems.push(fieldErrors.required("spec.usages"));
  for (const [index, usage] of asked.entries())
    if (!usages.includes(usage))
      problems.push(
        fieldErrors.notSupported(`spec.usages[${index}]`, usage, usages),
      );
  for (const [index, usage] of asked.entries())
    if (asked.indexOf(usage) < index)
      problems.push(fieldErrors.duplicate(`spec.usages[${index}]`, usage));
  if (spec?.signerName === "kubernetes.io/legacy-unknown")
    problems.push(
      fieldErrors.invalid(
        "spec.signerName",
        spec.signerName,
        "the legacy signerName is not allowed via this API version",
      ),
    );
  else
    problems.push(...signerProblems("spec.signerName", spec?.signerName ?? ""));
  if (
    spec?.expirationSeconds !== undefined &&
    spec.expirationSeconds < minSeconds
  )
    problems.push(
      fieldErrors.invalid(
        "spec.expirationSeconds",
        spec.expirationSeconds,
        "may not specify a duration less than 600 seconds (10 minutes)",
      ),
    );
  return problems;
}

/** A request is approved or denied once, and what was decided is True. */
export function validateConditions(
  conditions: readonly CertificateSigningRequestCondition[] = [],
): FieldError[] {
  const problems: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, { type, status }] of conditions.entries()) {
    const field = `status.conditions[${index}]`;
    if (!type) problems.push(fieldErrors.required(`${field}.type`));
    const decided = decisions.includes(type) || type === "Failed";
    const supported = decided ? ["True"] : ["False", "True", "Unknown"];
    if (!status) problems.push(fieldErrors.required(`${field}.status`));
    else if (!supported.includes(status))
      problems.push(
        fieldErrors.notSupported(`${field}.status`, status, supported),
      );
    if (seen.has(type)) {
      problems.push(fieldErrors.duplicate(`${field}.type`, type));
      continue;
    }
    if (
      decisions.includes(type) &&
      decisions.some((other) => other !== type && seen.has(other))
    )
      problems.push(
        fieldErrors.invalid(
          `${field}.type`,
          type,
          "Approved and Denied conditions are mutually exclusive",
        ),
      );
    seen.add(type);
  }
  return problems;
}

/** What /status may not do: decide, undo a decision, or exchange a certificate. */
export function validateIssued(
  now: CertificateSigningRequest["status"],
  was: CertificateSigningRequest["status"],
): FieldError[] {
  const problems: FieldError[] = [];
  const has = (status: typeof now, type: string): boolean =>
    status?.conditions?.some((condition) => condition.type === type) ?? false;
  for (const type of decisions)
    if (has(now, type) && !has(was, type))
      problems.push(
        fieldErrors.forbidden(
          "status.conditions",
          `updates may not add a condition of type ${JSON.stringify(type)}`,
        ),
      );
  if (was?.certificate && now?.certificate !== was.certificate)
    problems.push(
      fieldErrors.forbidden(
        "status.certificate",
        "updates may not modify a set certificate",
      ),
    );
  else if (now?.certificate && now.certificate !== was?.certificate) {
    const pem = Buffer.from(now.certificate, "base64").toString("latin1");
    if (!pem.includes("-----BEGIN CERTIFICATE-----"))
      problems.push(
        fieldErrors.invalid(
          "status.certificate",
          "<certificate data>",
          "must contain at least one CERTIFICATE PEM block",
        ),
      );
  }
  return problems;
}
