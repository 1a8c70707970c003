// Which objects a list, watch or deletecollection is about: namespace, label and field selectors, on what was extracted
// at write time. A selector for metadata.name narrows the read to one key.
import { errors } from "../../api/errors.ts";
import {
  parseFieldSelector,
  parseLabelSelector,
  type FieldSelector,
  type Selector,
} from "../../api/selectors.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import type { Endpoint } from "./endpoint.ts";

export interface Selection {
  readonly namespace: string;
  /** Keys from ≤ key < to. */
  readonly from: string;
  readonly to: string;
  /** Nothing but the range is asked. */
  readonly all: boolean;
  matches(entry: CacheEntry): boolean;
}

/** Throws ApiError 400 for bad selectors and unknown field labels. */
export function selectionOf(
  endpoint: Endpoint,
  namespace: string,
  labelSelector: string,
  fieldSelector: string,
): Selection {
  const labels = parse(labelSelector, parseLabelSelector);
  const asked = parse(fieldSelector, parseFieldSelector);
  if (asked) checkFields(endpoint, asked);
  const fields = asked && storedFields(endpoint, asked);
  const namespaced = endpoint.stored?.namespaced ?? false;
  let inNamespace = namespaced ? namespace : "";
  const name = wanted(fields, "metadata.name");
  if (namespaced && inNamespace === "")
    inNamespace = wanted(fields, "metadata.namespace") ?? "";
  let from = inNamespace === "" ? "" : `${inNamespace}/`;
  let to = inNamespace === "" ? "" : `${inNamespace}0`;
  if (name && (!namespaced || inNamespace !== "")) {
    from += name;
    to = `${from}\0`;
  }
  return {
    namespace: inNamespace,
    from,
    to,
    all: !labels && !fields,
    matches: (entry) =>
      (from === "" || (entry.key >= from && entry.key < to)) &&
      (!labels || labels.matches(entry.labels)) &&
      (!fields || fieldsMatch(fields, entry)),
  };
}

function parse<T extends Selector | FieldSelector>(
  text: string,
  parser: (text: string) => T,
): T | undefined {
  if (text === "") return undefined;
  const selector = parser(text);
  return selector.empty ? undefined : selector;
}

function wanted(
  fields: StoredFields | undefined,
  field: string,
): string | undefined {
  return fields?.find(
    (requirement) => requirement.field === field && requirement.op === "=",
  )?.value;
}

type StoredFields = FieldSelector["requirements"];

function storedFields(
  { strategy }: Endpoint,
  { requirements }: FieldSelector,
): StoredFields {
  const names = strategy.fieldNames;
  if (!names) return requirements;
  return requirements.map((requirement) => ({
    ...requirement,
    field: names[requirement.field] ?? requirement.field,
  }));
}

function fieldsMatch(fields: StoredFields, entry: CacheEntry): boolean {
  for (const { field, op, value } of fields)
    if ((entry.field(field) === value) !== (op === "=")) return false;
  return true;
}

function checkFields(endpoint: Endpoint, fields: FieldSelector): void {
  const known = knownFields(endpoint);
  for (const { field } of fields.requirements) {
    if (field === "metadata.name" || field === "metadata.namespace") continue;
    if (known.has(field)) continue;
    throw errors.badRequest(
      known.size > 0
        ? `field label not supported: ${field}`
        : `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
    );
  }
}

/** The names a strategy gives for an empty object are all it will ever give. */
function knownFields({ info, strategy }: Endpoint): ReadonlySet<string> {
  if (strategy.fieldNames) return new Set(Object.keys(strategy.fieldNames));
  if (!strategy.selectableFields) return new Set();
  try {
    const empty = {
      kind: info.kind,
      metadata: { name: "", namespace: "" },
      spec: {},
      status: {},
    };
    return new Set(Object.keys(strategy.selectableFields(empty)));
  } catch {
    return new Set();
  }
}
