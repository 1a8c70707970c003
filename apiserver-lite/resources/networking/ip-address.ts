// IPAddresses: one object for each address that an object holds, called by the address.
import { isIP } from "node:net";
import { canonicalAddress } from "../../../api/addresses/address-range.ts";
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import {
  dnsSubdomainProblems,
  pathSegmentProblems,
} from "../../../api/names.ts";
import type {
  IPAddress,
  ParentReference,
} from "../../../api/types/networking-v1beta1.ts";
import { immutable } from "../field-checks.ts";
import { strategyOf } from "../typed.ts";

function nameProblems(name: string): string[] {
  if (isIP(name) === 0)
    return [`ParseAddr(${JSON.stringify(name)}): unable to parse IP`];
  return canonicalAddress(name) === name
    ? []
    : ["must be a canonical format IP address"];
}

function validateParent(parent: ParentReference | undefined): FieldError[] {
  const field = "spec.parentRef";
  if (!parent) return [fieldErrors.required(field)];
  const { group, resource, namespace, name } = parent;
  const each = (
    part: string,
    value: string | undefined,
    problems: (value: string) => string[],
  ): FieldError[] =>
    value
      ? problems(value).map((problem) =>
          fieldErrors.invalid(`${field}.${part}`, value, problem),
        )
      : [];
  const needed = (part: string, value: string): FieldError[] =>
    value
      ? each(part, value, pathSegmentProblems)
      : [fieldErrors.required(`${field}.${part}`)];
  return [
    ...each("group", group, dnsSubdomainProblems),
    ...needed("resource", resource),
    ...needed("name", name),
    ...each("namespace", namespace, pathSegmentProblems),
  ];
}

function parentText({ spec }: IPAddress): string {
  const parent = spec?.parentRef;
  if (!parent) return "<none>";
  const { group, resource, namespace, name } = parent;
  const type = group ? `${resource}.${group}` : resource;
  return [type.toLowerCase(), ...(namespace ? [namespace] : []), name].join(
    "/",
  );
}

export const ipAddressStrategy = strategyOf<IPAddress>({
  countsGeneration: false,
  validateName: nameProblems,
  validate: ({ spec }) => validateParent(spec?.parentRef),
  validateUpdate: ({ spec }, old) =>
    immutable(
      "spec.parentRef",
      spec?.parentRef,
      old.spec?.parentRef,
      "networking.ParentReference",
    ),
  printRow: (object) => [object.metadata.name, parentText(object)],
});
