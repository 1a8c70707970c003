// Which objects a list, watch or deletecollection is about: namespace, label and field selectors, on what was extracted
// at write time. A selector for metadata.name narrows the read to one key.
import { errors, type ApiError } from "../../../api/errors.ts";
import {
  parseFieldSelector,
  parseLabelSelector,
  type FieldRequirement,
  type FieldSelector,
  type Selector,
} from "../../../api/selectors.ts";
import type { CacheEntry } from "../../cache/cache-entry.ts";
import type { Endpoint } from "../endpoint.ts";

export interface Selection {
  readonly namespace: string;
  /** What the keys of the request's path begin with: "" or "namespace/". */
  readonly directory: string;
  /** Keys from ≤ key < to. */
  readonly from: string;
  readonly to: string;
  /** Nothing but the range is asked. */
  readonly all: boolean;
  matches(entry: CacheEntry): boolean;
  /**
   * Asked of the entry as it is shown, beside `matches`: fields of a version that takes its time to be made are known only
   * then. Undefined: there is nothing to ask.
   */
  matchesShown?(shown: CacheEntry): boolean;
}

/** Throws ApiError 400 for bad selectors and unknown field labels. */
export function selectionOf(
  endpoint: Endpoint,
  namespace: string,
  labelSelector: string,
  fieldSelector: string,
): Selection {
  const labels = parse(labelSelector, parseLabelSelector);
  const fields = storedFields(
    endpoint,
    parse(fieldSelector, parseFieldSelector),
  );
  const own = fields?.filter(({ field }) => !field.startsWith("metadata."));
  const byVersion = own && own.length > 0 && fieldsDiffer(endpoint);
  const stored = byVersion
    ? fields?.filter(({ field }) => field.startsWith("metadata."))
    : fields;
  const ofVersion = byVersion
    ? (entry: CacheEntry) => fieldsMatch(own, shownFields(endpoint, entry))
    : undefined;
  const deferred = endpoint.converts ? ofVersion : undefined;
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
    directory: namespaced && namespace !== "" ? `${namespace}/` : "",
    from,
    to,
    all: !labels && !fields,
    matches: (entry) =>
      (from === "" || (entry.key >= from && entry.key < to)) &&
      (!labels || labels.matches(entry.labels)) &&
      (!stored || fieldsMatch(stored, entry)) &&
      (!ofVersion || deferred !== undefined || ofVersion(entry)),
    ...(deferred ? { matchesShown: deferred } : {}),
  };
}

/** Has the served version fields of its own, which are not those that were extracted at write time? */
function fieldsDiffer({ custom, native, converts }: Endpoint): boolean {
  return converts || (custom && !native);
}

/** The fields of an object that is in the served version, or differs from it by its apiVersion alone. */
function shownFields(
  { strategy }: Endpoint,
  entry: CacheEntry,
): Pick<CacheEntry, "field"> {
  const values = strategy.selectableFields?.(entry.transient) ?? {};
  return { field: (name) => values[name] ?? "" };
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
  fields: readonly FieldRequirement[] | undefined,
  field: string,
): string | undefined {
  return fields?.find((one) => one.field === field && one.op === "=")?.value;
}

function fieldsMatch(
  fields: readonly FieldRequirement[],
  of: Pick<CacheEntry, "field">,
): boolean {
  for (const { field, op, value } of fields)
    if ((of.field(field) === value) !== (op === "=")) return false;
  return true;
}

/** The requirements by the stored form's labels. Throws ApiError 400. */
function storedFields(
  endpoint: Endpoint,
  selector: FieldSelector | undefined,
): readonly FieldRequirement[] | undefined {
  if (!selector) return undefined;
  const labels = labelsOf(endpoint);
  return selector.requirements.map(({ field, op, value }) => {
    const stored = labels.get(field);
    if (stored === undefined) throw unknownField(endpoint, field);
    return { field: stored, op, value };
  });
}

/** From the labels a request may use to those of the stored form. */
function labelsOf({ info, strategy }: Endpoint): ReadonlyMap<string, string> {
  const labels = new Map([["metadata.name", "metadata.name"]]);
  if (info.namespaced || !strategy.selectableFields)
    labels.set("metadata.namespace", "metadata.namespace");
  const own =
    strategy.fieldNames ?? namesOf(strategy.selectableFields, info.kind);
  for (const [label, field] of Object.entries(own)) labels.set(label, field);
  return labels;
}

/** The names a strategy gives for an empty object are all it will ever give. */
function namesOf(
  fieldsOf: Endpoint["strategy"]["selectableFields"],
  kind: string,
): Record<string, string> {
  try {
    const empty = {
      kind,
      metadata: { name: "", namespace: "" },
      spec: {},
      status: {},
    };
    return Object.fromEntries(
      Object.keys(fieldsOf?.(empty) ?? {}).map((name) => [name, name]),
    );
  } catch {
    return {};
  }
}

function unknownField({ strategy }: Endpoint, field: string): ApiError {
  if (!strategy.selectableFields)
    return errors.badRequest(
      `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
    );
  return errors.badRequest(
    strategy.refuseField?.(field) ?? `field label not supported: ${field}`,
  );
}
