// Strategic merge patch: maps merge, lists merge by key or as sets where the schema says so, with every directive:
// `$patch: replace|delete`, `$retainKeys`, `$deleteFromPrimitiveList/<field>`, `$setElementOrder/<field>`.
// Order of merged lists: elements the patch names keep the patch's order and come before server-only elements they
// can't be compared with; server-only elements keep their own order.
// Texts and codes are the reference's: most malformed directives are its internal errors (500), and what merges with
// nothing keeps directives other than `$patch`, so that they are unknown fields of the result.
import { ApiError, errors } from "../errors.ts";
import {
  copyJson,
  getOwn,
  isJsonObject,
  jsonKind,
  setOwn,
  type JsonObject,
} from "./json-value.ts";
import { sameJson } from "../objects/json-equality.ts";
import { ElementIndex } from "./element-index.ts";
import { asText, mapNotation, valueType } from "./map-notation.ts";
import type { PatchField, PatchSchema } from "./patch-schema.ts";

const patchDirective = "$patch";
const retainKeysDirective = "$retainKeys";
const deletePrefix = "$deleteFromPrimitiveList/";
const orderPrefix = "$setElementOrder/";

/** Taken out before the fields of a patch are looked at. */
const isListDirective = (key: string): boolean =>
  key === retainKeysDirective ||
  key.startsWith(deletePrefix) ||
  key.startsWith(orderPrefix);

/** The document is not changed; the result shares nothing with the patch. Throws ApiError 400 or 422. */
export function applyStrategicMergePatch<T>(
  document: T,
  patch: unknown,
  schema: PatchSchema,
): T {
  if (!isJsonObject(patch)) {
    throw errors.badRequest(
      `json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return mergeMap(isJsonObject(document) ? document : {}, patch, schema) as T;
}

function fieldOf(
  schema: PatchSchema | undefined,
  key: string,
): PatchField | undefined {
  const field = schema?.fields?.get(key);
  if (field) return field;
  return schema?.values ? { schema: schema.values } : undefined;
}

const failed = (message: string): ApiError => errors.badRequest(message);

const badDirective = (directive: unknown, map: JsonObject): ApiError =>
  failed(
    `unknown patch type: ${asText(directive)} in map: ${mapNotation(map)}`,
  );

const wrongType = (wanted: unknown, value: unknown): ApiError =>
  failed(
    `expected a ${valueType(wanted)}, but received a ${value === null ? asText(null) : valueType(value)}`,
  );

const noMergeKey = (map: JsonObject, mergeKey: string): ApiError =>
  failed(
    `map: ${mapNotation(map)} does not contain declared merge key: ${mergeKey}`,
  );

function mergeMap(
  original: JsonObject,
  patch: JsonObject,
  schema: PatchSchema | undefined,
): JsonObject {
  if (Object.hasOwn(patch, patchDirective)) {
    const { [patchDirective]: directive, ...rest } = patch;
    if (directive === "replace") return copyJson(rest);
    if (directive === "delete") return {};
    throw badDirective(directive, patch);
  }
  const result: JsonObject = {};
  const retained = retainedKeys(patch);
  for (const key of Object.keys(original)) {
    if (!retained || retained.has(key)) setOwn(result, key, original[key]);
  }
  const ordered = new Set<string>();
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(orderPrefix)) continue;
    const field = key.slice(orderPrefix.length);
    ordered.add(field);
    applyOrdered(result, patch, field, fieldOf(schema, field));
  }
  for (const key of Object.keys(patch)) {
    if (key.startsWith(deletePrefix)) deletePrimitives(result, key, patch[key]);
    else if (!isListDirective(key) && !ordered.has(key))
      mergeField(result, key, patch[key], fieldOf(schema, key));
  }
  return result;
}

/** Undefined without the directive; otherwise what may stay. Every other field the patch sets must be among them. */
function retainedKeys(patch: JsonObject): ReadonlySet<unknown> | undefined {
  if (!Object.hasOwn(patch, retainKeysDirective)) return undefined;
  const list = patch[retainKeysDirective];
  const keys = new Set<unknown>(Array.isArray(list) ? list : []);
  const covered = Object.keys(patch).every(
    (key) => isListDirective(key) || patch[key] === null || keys.has(key),
  );
  if (!Array.isArray(list) || !covered)
    throw errors.badRequest("invalid patch format of retainKeys");
  return keys;
}

function mergeField(
  result: JsonObject,
  key: string,
  value: unknown,
  field: PatchField | undefined,
): void {
  if (value === null) {
    delete result[key];
    return;
  }
  const old = getOwn(result, key);
  if (isJsonObject(value) && isJsonObject(old)) {
    const replaces = field?.patchStrategy?.includes("replace") ?? false;
    const merged = replaces
      ? copyJson(value)
      : mergeMap(old, value, field?.schema);
    return setOwn(result, key, merged);
  }
  if (Array.isArray(value) && Array.isArray(old)) {
    const merges = field?.patchStrategy?.includes("merge") ?? false;
    const merged = merges ? mergeList(old, value, field!) : copyJson(value);
    return setOwn(result, key, merged);
  }
  const fresh = freshValue(value);
  if (fresh !== undefined) setOwn(result, key, fresh);
  else delete result[key];
}

/** A value that has nothing to merge with: no nulls, and no maps with a `$patch`. */
function freshValue(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value
      .map((item: unknown) => freshValue(item))
      .filter((item) => item !== undefined);
  }
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, patchDirective)) return undefined;
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (value[key] === null) continue;
    const inner = freshValue(value[key]);
    if (inner !== undefined) setOwn(result, key, inner);
  }
  return result;
}

/** Nothing happens where there is no list, or none is given. */
function deletePrimitives(
  result: JsonObject,
  key: string,
  values: unknown,
): void {
  const field = key.slice(deletePrefix.length);
  if (values === null) delete result[field];
  const old = getOwn(result, field);
  if (!Array.isArray(old) || !Array.isArray(values)) return;
  requireOneType([old, values]);
  const gone = new ElementIndex(values, "");
  setOwn(
    result,
    field,
    old.filter((item) => !gone.has(item)),
  );
}

/** `$setElementOrder/<field>` together with the list of the same name, if the patch has one. */
function applyOrdered(
  result: JsonObject,
  patch: JsonObject,
  name: string,
  field: PatchField | undefined,
): void {
  const order = patch[`${orderPrefix}${name}`];
  const old = getOwn(result, name);
  const changes = getOwn(patch, name);
  for (const list of [order, old, changes])
    if (list !== undefined && !Array.isArray(list)) throw wrongType([], list);
  const wanted = order as unknown[];
  const mergeKey = field?.patchMergeKey ?? "";
  if (Array.isArray(changes)) checkOrder(changes, wanted, mergeKey);
  let merged: unknown[];
  if (Array.isArray(old)) {
    merged = !Array.isArray(changes)
      ? old
      : field?.patchStrategy?.includes("merge")
        ? mergeList(old, changes, field)
        : changes;
  } else if (Array.isArray(changes)) merged = freshValue(changes) as unknown[];
  else return;
  if (mergeKey !== "") {
    wanted.forEach((item, index) => {
      if (!isJsonObject(item))
        throw failed(`value for key ${index} is not a map`);
    });
    for (const item of [...merged, ...wanted])
      if (isJsonObject(item) && !Object.hasOwn(item, mergeKey))
        throw noMergeKey(item, mergeKey);
  }
  const [named, serverOnly] = partition(merged, wanted, mergeKey);
  setOwn(
    result,
    name,
    interleave(
      serverOnly,
      inOrderOf(named, wanted, mergeKey),
      Array.isArray(old) ? old : [],
      mergeKey,
    ),
  );
}

/** The patch's list must be in the order it asks for. */
function checkOrder(
  changes: unknown[],
  order: unknown[],
  mergeKey: string,
): void {
  if (changes.length === 0 || order.length === 0) return;
  let at = 0;
  for (const item of changes) {
    if (isJsonObject(item) && getOwn(item, patchDirective) !== undefined)
      continue;
    for (; at < order.length; at++) {
      if (mergeKey !== "") requireKeys([item, order[at]], mergeKey);
      if (sameElement(item, order[at], mergeKey)) break;
    }
    if (at++ < order.length) continue;
    throw failed(
      `The order in patch list:\n${mapNotation(changes)}\n doesn't match $setElementOrder list:\n${mapNotation(order)}\n`,
    );
  }
}

function requireKeys(items: unknown[], mergeKey: string): void {
  for (const item of items) if (!isJsonObject(item)) throw wrongType({}, item);
  for (const item of items as JsonObject[])
    if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
}

function keyOf(item: unknown, mergeKey: string): unknown {
  return isJsonObject(item) ? getOwn(item, mergeKey) : undefined;
}

function sameElement(left: unknown, right: unknown, mergeKey: string): boolean {
  if (mergeKey === "") return sameJson(left, right);
  const key = keyOf(left, mergeKey);
  return key !== undefined && sameJson(key, keyOf(right, mergeKey));
}

/** Throws 400, and 422 when the first element is a list. */
function requireOneType(lists: unknown[][]): void {
  const items = lists.flat(1);
  if (Array.isArray(items[0]))
    throw new ApiError({
      code: 422,
      reason: "Invalid",
      message: "the server rejected our request due to an error in our request",
      details: {},
    });
  const typeOf = (item: unknown): string =>
    item === null ? "" : valueType(item);
  if (items.some((item) => typeOf(item) !== typeOf(items[0])))
    throw failed(
      `list element types are not identical: [${lists.map(mapNotation).join(" ")}]`,
    );
}

function mergeList(
  original: unknown[],
  patch: unknown[],
  field: PatchField,
): unknown[] {
  if (original.length === 0 && patch.length === 0) return original;
  requireOneType([original, patch]);
  const first = original[0] ?? patch[0];
  if (!isJsonObject(first)) {
    const merged = [...new Set([...original, ...patch])];
    const [named, serverOnly] = partition(merged, patch, "");
    return interleave(serverOnly, inOrderOf(named, patch, ""), original, "");
  }
  const mergeKey = field.patchMergeKey ?? "";
  if (mergeKey === "")
    throw failed("cannot merge lists without merge key for the field");
  const { kept, changes } = applyElementDirectives(
    original as JsonObject[],
    patch as JsonObject[],
    mergeKey,
  );
  const merged: unknown[] = [...kept];
  const present = new ElementIndex(merged, mergeKey);
  for (const change of changes) {
    if (!Object.hasOwn(change, mergeKey)) throw noMergeKey(change, mergeKey);
    const index = present.indexOf(change);
    if (index < 0) {
      merged.push(copyJson(change));
      present.add(change);
    } else
      merged[index] = mergeMap(
        merged[index] as JsonObject,
        change,
        field.schema.items,
      );
  }
  const [named, serverOnly] = partition(merged, changes, mergeKey);
  return interleave(
    serverOnly,
    inOrderOf(named, changes, mergeKey),
    kept,
    mergeKey,
  );
}

/** Elements `{$patch: delete, <key>: …}` remove, one `{$patch: replace}` makes the rest the whole list. */
function applyElementDirectives(
  original: JsonObject[],
  patch: JsonObject[],
  mergeKey: string,
): { kept: JsonObject[]; changes: JsonObject[] } {
  const deleted: JsonObject[] = [];
  let replaced = false;
  const changes: JsonObject[] = [];
  for (const item of patch) {
    if (!Object.hasOwn(item, patchDirective)) {
      changes.push(item);
      continue;
    }
    const directive = item[patchDirective];
    if (directive === "delete") {
      if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
      deleted.push(item);
    } else if (directive === "replace") replaced = true;
    else if (directive === "merge")
      throw failed("merging lists cannot yet be specified in the patch");
    else throw badDirective(directive, item);
  }
  if (replaced) return { kept: changes, changes: [] };
  if (deleted.length === 0) return { kept: original, changes };
  const gone = new ElementIndex(deleted, mergeKey);
  return { kept: original.filter((item) => !gone.has(item)), changes };
}

function partition(
  items: unknown[],
  named: unknown[],
  mergeKey: string,
): [unknown[], unknown[]] {
  const index = new ElementIndex(named, mergeKey);
  const inside: unknown[] = [];
  const outside: unknown[] = [];
  for (const item of items) (index.has(item) ? inside : outside).push(item);
  return [inside, outside];
}

function inOrderOf(
  items: unknown[],
  order: unknown[],
  mergeKey: string,
): unknown[] {
  const index = new ElementIndex(order, mergeKey);
  const position = new Map(items.map((item) => [item, index.indexOf(item)]));
  return [...items].sort((a, b) => position.get(a)! - position.get(b)!);
}

/** Merges two sorted lists; where both heads were in the old list the earlier one goes first, else the patch's. */
function interleave(
  serverOnly: unknown[],
  named: unknown[],
  old: unknown[],
  mergeKey: string,
): unknown[] {
  const before = new ElementIndex(old, mergeKey);
  const result: unknown[] = [];
  let left = 0;
  let right = 0;
  while (left < serverOnly.length && right < named.length) {
    const leftIndex = before.indexOf(serverOnly[left]);
    const rightIndex = before.indexOf(named[right]);
    if (leftIndex >= 0 && rightIndex >= 0 && leftIndex < rightIndex)
      result.push(serverOnly[left++]);
    else result.push(named[right++]);
  }
  return copyJson([
    ...result,
    ...serverOnly.slice(left),
    ...named.slice(right),
  ]);
}
