// ServiceCIDRs: ranges of addresses for Services, at most one of each family. The API server's own ranges are its options;
// nothing here allocates from these objects, as at the reference without MultiCIDRServiceAllocator.
import {
  addressText,
  cidrRange,
} from "../../../api/addresses/address-range.ts";
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import type { ServiceCIDR } from "../../../api/types/networking-v1beta1.ts";
import { formatAge } from "../../printing/age.ts";
import { immutable } from "../field-checks.ts";
import { strategyOf } from "../typed.ts";

const field = "spec.cidrs";

function validateCidr(text: string, index: number): FieldError[] {
  const invalid = (problem: string): FieldError =>
    fieldErrors.invalid(`${field}[${index}]`, text, problem);
  const range = cidrRange(text);
  if (!range)
    return [
      invalid(`netip.ParsePrefix(${JSON.stringify(text)}): no valid CIDR`),
    ];
  const [base = "", bits = ""] = text.split("/");
  const network = addressText(range.first, range.family);
  const problems: FieldError[] = [];
  if (
    cidrRange(`${base}/${base.includes(":") ? 128 : 32}`)?.first !== range.first
  )
    problems.push(
      invalid("wrong CIDR format, IP doesn't match network IP address"),
    );
  else if (`${network}/${Number(bits)}` !== text)
    problems.push(invalid("CIDR not in RFC 5952 canonical format"));
  return problems;
}

function validate({ spec }: ServiceCIDR): FieldError[] {
  const cidrs = spec?.cidrs ?? [];
  const shown = asGo("networking.ServiceCIDRSpec", spec);
  if (cidrs.length === 0)
    return [fieldErrors.required(field, "at least one CIDR required")];
  if (cidrs.length > 2)
    return [fieldErrors.invalid(field, shown, "may only hold up to 2 values")];
  const families = new Set(cidrs.map((cidr) => cidrRange(cidr)?.family));
  if (cidrs.length === 2 && (families.size < 2 || families.has(undefined)))
    return [
      fieldErrors.invalid(
        field,
        shown,
        "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64",
      ),
    ];
  return cidrs.flatMap(validateCidr);
}

export const serviceCidrStrategy = strategyOf<ServiceCIDR>({
  countsGeneration: false,
  validate,
  validateUpdate: ({ spec }, old) =>
    immutable(field, spec?.cidrs ?? [], old.spec?.cidrs ?? []),
  status: {},
  printRow: ({ metadata, spec }, now) => [
    metadata.name,
    (spec?.cidrs ?? []).join(","),
    formatAge(metadata.creationTimestamp, now),
  ],
});
