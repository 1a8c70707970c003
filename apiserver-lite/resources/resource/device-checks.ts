// Checks that claims, classes and slices of devices share: sets, names of pools, drivers' opaque parameters, and the
// names of attributes.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  cIdentifierProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
} from "../../../api/names.ts";
import type { OpaqueDeviceConfiguration } from "../../../api/types/resource-v1beta1.ts";
import { ofEach } from "../field-checks.ts";
import { driverNameProblems } from "../storage/csi.ts";

type Problems = FieldError[];

const maxPoolBytes = 253;
const maxParametersBytes = 10 * 1024;
const maxIdentifierBytes = 32;

export function atMost(
  field: string,
  list: readonly unknown[] | undefined,
  most: number,
): Problems {
  const count = list?.length ?? 0;
  return count > most ? [fieldErrors.tooMany(field, count, most)] : [];
}

/** The items' own problems, then the length, then what is there twice. @param keyField "": the item itself */
export function setOf<Item>(
  field: string,
  items: readonly Item[] | undefined,
  most: number,
  check: (item: Item, field: string) => Problems,
  keyOf: (item: Item) => string,
  keyField: string,
  shown: (key: string) => string = JSON.stringify,
): Problems {
  const seen = new Set<string>();
  return [
    ...ofEach(items, (item, index) => check(item, `${field}[${index}]`)),
    ...atMost(field, items, most),
    ...ofEach(items, (item, index) => {
      const key = keyOf(item);
      const path = `${field}[${index}]${keyField && `.${keyField}`}`;
      if (seen.has(key)) return [fieldErrors.duplicateShown(path, shown(key))];
      seen.add(key);
      return [];
    }),
  ];
}

export const deviceName = (field: string, name: string): Problems =>
  invalidEach(field, name, dnsLabelProblems(name));

export const driverName = driverNameProblems;

export function poolName(field: string, name: string): Problems {
  if (name === "") return [fieldErrors.required(field)];
  return [
    ...(Buffer.byteLength(name) > maxPoolBytes
      ? [fieldErrors.tooLong(field, maxPoolBytes)]
      : []),
    ...name
      .split("/")
      .flatMap((part) => invalidEach(field, part, dnsSubdomainProblems(part))),
  ];
}

/** Of what only a driver understands. @param stored it has been accepted before */
export function opaqueProblems(
  field: string,
  opaque: OpaqueDeviceConfiguration | undefined,
  stored: boolean,
): Problems {
  const path = `${field}.opaque`;
  if (!opaque) return [fieldErrors.required(path)];
  return [
    ...driverName(`${path}.driver`, opaque.driver ?? ""),
    ...rawObject(`${path}.parameters`, opaque.parameters, stored),
  ];
}

export function rawObject(
  field: string,
  value: unknown,
  stored: boolean,
): Problems {
  if (value === undefined || value === null)
    return [fieldErrors.required(field)];
  if (!stored && Buffer.byteLength(JSON.stringify(value)) > maxParametersBytes)
    return [fieldErrors.tooLong(field, maxParametersBytes)];
  return typeof value === "object" && !Array.isArray(value)
    ? []
    : [
        fieldErrors.invalid(
          field,
          "<value omitted>",
          "parameters must be a valid JSON object",
        ),
      ];
}

/** `domain/name` or `name`. */
export function qualifiedName(field: string, name: string): Problems {
  if (name === "") return [fieldErrors.required(field, "name required")];
  const parts = name.split("/");
  if (parts.length === 1) return identifier(field, name);
  if (parts.length > 2) return [];
  const [domain, rest] = parts as [string, string];
  return [
    ...(domain === ""
      ? [fieldErrors.required(field, "the domain must not be empty")]
      : driverName(field, domain)),
    ...(rest === ""
      ? [fieldErrors.required(field, "the name must not be empty")]
      : identifier(field, rest)),
  ];
}

function identifier(field: string, text: string): Problems {
  return [
    ...(Buffer.byteLength(text) > maxIdentifierBytes
      ? [fieldErrors.tooLong(field, maxIdentifierBytes)]
      : []),
    ...invalidEach(field, text, cIdentifierProblems(text)).map((problem) => ({
      ...problem,
      type: "FieldValueTypeInvalid" as const,
    })),
  ];
}
