// Stand-in until the resources' own rules of metadata are joined.
import type { FieldError } from "../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../api/field-errors.ts";
import { dnsSubdomainProblems, nameRule } from "../../api/names.ts";
import type { KubeObject } from "../../api/object.ts";

export function validateObjectMeta(
  object: Readonly<KubeObject>,
  rules: {
    namespaced: boolean;
    validateName?: (name: string, prefix: boolean) => string[];
  },
): FieldError[] {
  const { name } = object.metadata;
  const check = rules.validateName ?? nameRule(dnsSubdomainProblems);
  return name
    ? invalidEach("metadata.name", name, check(name, false))
    : [fieldErrors.required("metadata.name", "name or generateName is required")];
}

export function validateObjectMetaUpdate(
  _object: Readonly<KubeObject>,
  _old: Readonly<KubeObject>,
): FieldError[] {
  return [];
}
