// Checks that many kinds share. Each returns the list of problems with its field paths; callers join the lists.
import { fieldErrors, invalidEach } from "../../api/field-errors.ts";
import type { FieldError } from "../../api/errors.ts";
import { asGo } from "../../api/go-syntax.ts";
import {
  dnsSubdomainProblems,
  domainPathProblems,
  labelKeyProblems,
  labelValueProblems,
  pathSegmentProblems,
  percentProblems,
} from "../../api/names.ts";
import { parseQuantity, QuantityError } from "../../api/quantity.ts";
import { sameValue } from "../../api/objects/json-equality.ts";
import { copyJson } from "../../api/patch/json-value.ts";
import type { Condition, LabelSelector } from "../../api/types/meta-v1.ts";

type Problems = FieldError[];

/** The problems of several checks, most of which find none. */
export function joined(...lists: readonly (readonly FieldError[])[]): Problems {
  const problems: Problems = [];
  for (const list of lists)
    if (list.length > 0) for (const problem of list) problems.push(problem);
  return problems;
}

/** The problems of a list's items. */
export function ofEach<Item>(
  items: readonly Item[] | null | undefined,
  check: (item: Item, index: number) => readonly FieldError[],
): Problems {
  const problems: Problems = [];
  if (!items) return problems;
  for (let index = 0; index < items.length; index++) {
    const found = check(items[index]!, index);
    if (found.length > 0) for (const problem of found) problems.push(problem);
  }
  return problems;
}

export function nonNegative(
  field: string,
  value: number | null | undefined,
): Problems {
  return (value ?? 0) < 0
    ? [fieldErrors.invalid(field, value, "must be greater than or equal to 0")]
    : [];
}

export function positive(
  field: string,
  value: number | null | undefined,
): Problems {
  return value !== undefined && value !== null && value <= 0
    ? [fieldErrors.invalid(field, value, "must be greater than 0")]
    : [];
}

/** `type`: how the reference calls the value's type, for what is neither text nor number. */
export function immutable(
  field: string,
  value: unknown,
  old: unknown,
  type?: string,
): Problems {
  if (sameValue(value, old)) return [];
  const shown = type === undefined ? (value ?? null) : asGo(type, value);
  return [fieldErrors.invalid(field, shown, "field is immutable")];
}

/** `required`: an empty value is a problem of its own. */
export function oneOf(
  field: string,
  value: string | null | undefined,
  supported: readonly string[],
  required = false,
): Problems {
  if (!value) return required ? [fieldErrors.required(field)] : [];
  return supported.includes(value)
    ? []
    : [fieldErrors.notSupported(field, value, supported)];
}

export function labels(
  field: string,
  map: Readonly<Record<string, string>> | null | undefined,
): Problems {
  const problems: Problems = [];
  if (!map) return problems;
  for (const key of Object.keys(map)) {
    const value = map[key]!;
    const ofKey = labelKeyProblems(key);
    const ofValue = labelValueProblems(value);
    if (ofKey.length > 0 || ofValue.length > 0)
      problems.push(
        ...invalidEach(field, key, ofKey),
        ...invalidEach(field, value, ofValue),
      );
  }
  return problems;
}

export function labelSelector(
  field: string,
  selector: Readonly<LabelSelector> | null | undefined,
): Problems {
  if (!selector) return [];
  const problems = labels(`${field}.matchLabels`, selector.matchLabels);
  for (const [index, { key, operator, values }] of (
    selector.matchExpressions ?? []
  ).entries()) {
    const path = `${field}.matchExpressions[${index}]`;
    problems.push(...operatorProblems(path, operator, values));
    problems.push(...invalidEach(`${path}.key`, key, labelKeyProblems(key)));
    for (const [at, value] of (values ?? []).entries()) {
      problems.push(
        ...invalidEach(
          `${path}.values[${at}]`,
          value,
          labelValueProblems(value),
        ),
      );
    }
  }
  return problems;
}

/**
 * What is wrong with a requirement of a selector beside its key.
 * @param unknown whether operators that are not known are let through, as those of newer clients
 */
export function operatorProblems(
  path: string,
  operator: string,
  values: readonly string[] = [],
  unknown = false,
): Problems {
  const field = `${path}.values`;
  if (operator === "In" || operator === "NotIn")
    return values.length > 0
      ? []
      : [
          fieldErrors.required(
            field,
            "must be specified when `operator` is 'In' or 'NotIn'",
          ),
        ];
  if (operator === "Exists" || operator === "DoesNotExist")
    return values.length === 0
      ? []
      : [
          fieldErrors.forbidden(
            field,
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
          ),
        ];
  return unknown
    ? []
    : [
        fieldErrors.invalid(
          `${path}.operator`,
          operator,
          "not a valid selector operator",
        ),
      ];
}

/** `example.com/name`: a domain and a path. */
export function domainPrefixedPath(field: string, text: string): Problems {
  const slash = text.indexOf("/");
  const [domain, rest] = [text.slice(0, slash), text.slice(slash + 1)];
  if (slash <= 0 || rest === "")
    return [
      fieldErrors.invalid(
        field,
        text,
        'must be a domain-prefixed path (such as "acme.io/foo")',
      ),
    ];
  return [
    ...invalidEach(field, domain, dnsSubdomainProblems(domain)),
    ...invalidEach(field, rest, domainPathProblems(rest)),
  ];
}

/** An optional group, a kind and a name. */
export function objectReference(
  field: string,
  { apiGroup, kind, name }: { apiGroup?: string; kind?: string; name?: string },
): Problems {
  const segment = (part: string, value: string | undefined): Problems =>
    value
      ? invalidEach(`${field}.${part}`, value, pathSegmentProblems(value))
      : [fieldErrors.required(`${field}.${part}`, `${part} is required`)];
  return [
    ...(apiGroup
      ? invalidEach(
          `${field}.apiGroup`,
          apiGroup,
          dnsSubdomainProblems(apiGroup),
        )
      : []),
    ...segment("kind", kind),
    ...segment("name", name),
  ];
}

/** Like `oneOf`, for a value that was defaulted: an empty one is as wrong as any. */
export function exactlyOneOf(
  field: string,
  value: string | null | undefined,
  supported: readonly string[],
): Problems {
  return supported.includes(value ?? "")
    ? []
    : [fieldErrors.notSupported(field, value ?? "", supported)];
}

/** The conditions that many kinds have in common. */
export function conditions(
  field: string,
  list: readonly Condition[] | null | undefined,
): Problems {
  const seen = new Set<string>();
  return (list ?? []).flatMap((condition, index) => {
    const path = `${field}[${index}]`;
    const { type, status, observedGeneration = 0, reason } = condition;
    const problems: Problems = type
      ? invalidEach(`${path}.type`, type, labelKeyProblems(type))
      : [fieldErrors.required(`${path}.type`, "must be set")];
    if (seen.has(type))
      problems.push(fieldErrors.duplicate(`${path}.type`, type));
    seen.add(type);
    if (!["False", "True", "Unknown"].includes(status))
      problems.push(
        fieldErrors.notSupported(`${path}.status`, status, [
          "False",
          "True",
          "Unknown",
        ]),
      );
    if (observedGeneration < 0)
      problems.push(
        fieldErrors.invalid(
          `${path}.observedGeneration`,
          observedGeneration,
          "must be greater than or equal to zero",
        ),
      );
    if (!condition.lastTransitionTime)
      problems.push(
        fieldErrors.required(`${path}.lastTransitionTime`, "must be set"),
      );
    if (!reason)
      problems.push(fieldErrors.required(`${path}.reason`, "must be set"));
    return problems;
  });
}

/** The parsed value, or a problem with the reference's text. */
export function quantity(
  field: string,
  value: unknown,
): { nano: bigint } | FieldError {
  try {
    return parseQuantity(value as string);
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    return fieldErrors.invalid(field, value, error.message);
  }
}

export function nonNegativeQuantity(field: string, value: unknown): Problems {
  const parsed = quantity(field, value);
  if (!("nano" in parsed)) return [parsed];
  return parsed.nano < 0n
    ? [
        fieldErrors.invalid(
          field,
          String(value),
          "must be greater than or equal to 0",
        ),
      ]
    : [];
}

/** A number that is not negative, or "25%". */
export function intOrPercent(
  field: string,
  value: number | string | null | undefined,
): Problems {
  if (value === undefined || value === null) return [];
  return typeof value === "number"
    ? nonNegative(field, value)
    : invalidEach(
        field,
        asGo("intstr.IntOrString", value),
        percentProblems(value),
      );
}

/** 25 for "25%", undefined for numbers. */
export function percentOf(
  value: number | string | null | undefined,
): number | undefined {
  return typeof value === "string" && /^[0-9]+%$/.test(value)
    ? Number(value.slice(0, -1))
    : undefined;
}

/** Whether two objects agree but for the fields named, dots between parts. Neither is changed. */
export function agreeBut(
  left: object,
  right: object,
  paths: readonly string[],
): boolean {
  const [a, b] = [copyJson(left), copyJson(right)] as [
    Record<string, unknown>,
    Record<string, unknown>,
  ];
  for (const path of paths)
    for (const object of [a, b]) removePath(object, path.split("."));
  return sameValue(a, b);
}

function removePath(object: unknown, [first, ...rest]: string[]): void {
  if (typeof object !== "object" || object === null || first === undefined)
    return;
  if (rest.length === 0) delete (object as Record<string, unknown>)[first];
  else if (first === "*")
    for (const item of Object.values(object)) removePath(item, rest);
  else removePath((object as Record<string, unknown>)[first], rest);
}
