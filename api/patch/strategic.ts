// Strategic merge patch: maps merge, lists merge by key or as sets where the schema says so, with every directive:
// `$patch: replace|delete|merge`, `$retainKeys`, `$deleteFromPrimitiveList/<field>`, `$setElementOrder/<field>`.
// Order of merged lists: elements the patch names keep the patch's order and come before server-only elements they
// can't be compared with; server-only elements keep their own order.
// Texts and codes are the reference's, except that a missing merge key is a 400 here and not a 500.
import { ApiError, errors } from "../errors.ts";
import {
  copyJson,
  equalJson,
  getOwn,
  isJsonObject,
  setOwn,
  type JsonObject,
} from "./json-value.ts";
import type { PatchField, PatchSchema } from "./patch-schema.ts";

const patchDirective = "$patch";
const retainKeysDirective = "$retainKeys";
const deletePrefix = "$deleteFromPrimitiveList/";
const orderPrefix = "$setElementOrder/";

const isDirective = (key: string): boolean =>
  key === patchDirective ||
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
    const kind = Array.isArray(patch)
      ? "array"
      : patch === null
        ? "null"
        : typeof patch;
    throw errors.badRequest(
      `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`,
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

function badDirective(type: unknown, map: JsonObject): ApiError {
  return errors.badRequest(
    `unknown patch type: ${typeof type === "string" ? type : JSON.stringify(type)} in map: ${JSON.stringify(map)}`,
  );
}

function mergeMap(
  original: JsonObject,
  patch: JsonObject,
  schema: PatchSchema | undefined,
): JsonObject {
  const directive = getOwn(patch, patchDirective);
  if (directive === "replace") return withoutDirectives(patch) ?? {};
  if (directive === "delete") return {};
  if (directive !== undefined && directive !== "merge")
    throw badDirective(directive, patch);

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
    else if (!isDirective(key) && !ordered.has(key))
      mergeField(result, key, patch[key], fieldOf(schema, key));
  }
  return result;
}

/** Undefined without the directive; otherwise what may stay. Every other field the patch sets must be among them. */
function retainedKeys(patch: JsonObject): ReadonlySet<string> | undefined {
  const list = getOwn(patch, retainKeysDirective);
  if (list === undefined) return undefined;
  if (!Array.isArray(list) || !list.every((key) => typeof key === "string")) {
    throw errors.badRequest("invalid patch format of retainKeys");
  }
  const keys = new Set<string>(list);
  for (const key of Object.keys(patch)) {
    if (isDirective(key) || keys.has(key) || patch[key] === null) continue;
    throw new ApiError({
      code: 422,
      reason: "Invalid",
      message: "the server rejected our request due to an error in our request",
      details: {
        causes: [{ message: "patch content doesn't match retainKeys list" }],
      },
    });
  }
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
  const replaces = field?.patchStrategy?.includes("replace") ?? false;
  if (isJsonObject(value) && isJsonObject(old) && !replaces) {
    setOwn(result, key, mergeMap(old, value, field?.schema));
  } else if (
    Array.isArray(value) &&
    Array.isArray(old) &&
    field?.patchStrategy?.includes("merge")
  ) {
    setOwn(result, key, mergeList(old, value, field));
  } else {
    const fresh = freshValue(value);
    if (fresh !== undefined) setOwn(result, key, fresh);
    else delete result[key];
  }
}

/** A value that has nothing to merge with: its directives have done their work. */
function freshValue(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value
      .map((item: unknown) => freshValue(item))
      .filter((item) => item !== undefined);
  }
  return isJsonObject(value) ? withoutDirectives(value) : value;
}

function withoutDirectives(map: JsonObject): JsonObject | undefined {
  if (getOwn(map, patchDirective) === "delete") return undefined;
  const result: JsonObject = {};
  for (const key of Object.keys(map)) {
    if (isDirective(key) || map[key] === null) continue;
    const value = freshValue(map[key]);
    if (value !== undefined) setOwn(result, key, value);
  }
  return result;
}

function deletePrimitives(
  result: JsonObject,
  key: string,
  values: unknown,
): void {
  const field = key.slice(deletePrefix.length);
  if (!Array.isArray(values))
    throw errors.badRequest("invalid patch format of primitive list");
  const old = getOwn(result, field);
  if (!Array.isArray(old)) return;
  setOwn(
    result,
    field,
    old.filter((item) => !values.some((gone) => equalJson(gone, item))),
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
  if (!Array.isArray(order))
    throw errors.badRequest("invalid patch format of setElementOrder list");
  const mergeKey = field?.patchMergeKey ?? "";
  const changes = getOwn(patch, name);
  const old = getOwn(result, name);
  if (changes === null) {
    delete result[name];
    return;
  }
  if (changes !== undefined && !Array.isArray(changes)) {
    throw errors.badRequest("invalid patch format of setElementOrder list");
  }
  if (changes) checkOrder(changes, order, mergeKey, name);
  let merged: unknown[];
  if (Array.isArray(old)) {
    merged = !changes
      ? old
      : field?.patchStrategy?.includes("merge")
        ? mergeList(old, changes, field)
        : changes;
  } else if (changes) merged = freshValue(changes) as unknown[];
  else return;
  const [named, serverOnly] = partition(merged, order, mergeKey);
  setOwn(
    result,
    name,
    interleave(
      serverOnly,
      inOrderOf(named, order, mergeKey),
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
  name: string,
): void {
  let at = 0;
  for (const item of changes) {
    if (isJsonObject(item) && getOwn(item, patchDirective) !== undefined)
      continue;
    while (at < order.length && !sameElement(item, order[at], mergeKey)) at++;
    if (at++ < order.length) continue;
    throw errors.badRequest(
      `The order in patch list:\n${JSON.stringify(changes)}\n doesn't match ${orderPrefix}${name} list:\n${JSON.stringify(order)}\n`,
    );
  }
}

function keyOf(item: unknown, mergeKey: string): unknown {
  return isJsonObject(item) ? getOwn(item, mergeKey) : undefined;
}

function sameElement(left: unknown, right: unknown, mergeKey: string): boolean {
  if (mergeKey === "") return equalJson(left, right);
  const key = keyOf(left, mergeKey);
  return key !== undefined && equalJson(key, keyOf(right, mergeKey));
}

const indexIn = (
  list: readonly unknown[],
  item: unknown,
  mergeKey: string,
): number => list.findIndex((other) => sameElement(item, other, mergeKey));

function mergeList(
  original: unknown[],
  patch: unknown[],
  field: PatchField,
): unknown[] {
  if (patch.length === 0) return original;
  const first = original[0] ?? patch[0];
  const mergeKey = field.patchMergeKey ?? "";
  if (!isJsonObject(first)) {
    if (patch.some((item) => typeof item === "object" && item !== null)) {
      throw errors.badRequest("invalid patch format of primitive list");
    }
    const merged = [...new Set([...original, ...patch])];
    const [named, serverOnly] = partition(merged, patch, "");
    return interleave(serverOnly, inOrderOf(named, patch, ""), original, "");
  }
  if (mergeKey === "")
    throw errors.badRequest(
      "cannot merge lists without merge key for the field",
    );
  const { kept, changes, replaced } = applyElementDirectives(
    original,
    patch,
    mergeKey,
  );
  if (replaced) return changes.map((item) => withoutDirectives(item)!);

  const merged = [...kept];
  for (const change of changes) {
    if (keyOf(change, mergeKey) === undefined)
      throw noMergeKey(change, mergeKey);
    const index = indexIn(merged, change, mergeKey);
    const old = index < 0 ? undefined : merged[index];
    if (isJsonObject(old))
      merged[index] = mergeMap(old, change, field.schema.items);
    else merged.push(withoutDirectives(change));
  }
  const [named, serverOnly] = partition(merged, changes, mergeKey);
  return interleave(
    serverOnly,
    inOrderOf(named, changes, mergeKey),
    kept,
    mergeKey,
  );
}

function noMergeKey(map: JsonObject, mergeKey: string): ApiError {
  return errors.badRequest(
    `map: ${JSON.stringify(map)} does not contain declared merge key: ${mergeKey}`,
  );
}

/** Elements `{$patch: delete, <key>: …}` remove, one `{$patch: replace}` makes the rest the whole list. */
function applyElementDirectives(
  original: unknown[],
  patch: unknown[],
  mergeKey: string,
): { kept: unknown[]; changes: JsonObject[]; replaced: boolean } {
  let kept = original;
  let replaced = false;
  const changes: JsonObject[] = [];
  for (const item of patch) {
    if (!isJsonObject(item))
      throw errors.badRequest(
        "expected a map, but received a value of another type in a list",
      );
    const directive = getOwn(item, patchDirective);
    if (directive === undefined) changes.push(item);
    else if (directive === "delete") {
      if (keyOf(item, mergeKey) === undefined) throw noMergeKey(item, mergeKey);
      kept = kept.filter((other) => !sameElement(item, other, mergeKey));
    } else if (directive === "replace") replaced = true;
    else if (directive === "merge")
      throw errors.badRequest(
        "merging lists cannot yet be specified in the patch",
      );
    else throw badDirective(directive, item);
  }
  return { kept, changes, replaced };
}

function partition(
  items: unknown[],
  named: unknown[],
  mergeKey: string,
): [unknown[], unknown[]] {
  const inside: unknown[] = [];
  const outside: unknown[] = [];
  for (const item of items)
    (indexIn(named, item, mergeKey) >= 0 ? inside : outside).push(item);
  return [inside, outside];
}

function inOrderOf(
  items: unknown[],
  order: unknown[],
  mergeKey: string,
): unknown[] {
  const position = new Map(
    items.map((item) => [item, indexIn(order, item, mergeKey)]),
  );
  return [...items].sort((a, b) => position.get(a)! - position.get(b)!);
}

/** Merges two sorted lists; where both heads stood in the old list the earlier one goes first, else the patch's. */
function interleave(
  serverOnly: unknown[],
  named: unknown[],
  old: unknown[],
  mergeKey: string,
): unknown[] {
  const result: unknown[] = [];
  let left = 0;
  let right = 0;
  while (left < serverOnly.length && right < named.length) {
    const leftIndex = indexIn(old, serverOnly[left], mergeKey);
    const rightIndex = indexIn(old, named[right], mergeKey);
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
