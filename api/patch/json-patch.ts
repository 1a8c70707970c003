// JSON patch (RFC 6902) with the reference's bounds and answers: a malformed patch is 400, one that does not fit the
// object 422 without the details (as the reference), more than 10,000 operations 413. Negative list indices count from
// the end, as the reference's library lets them. The document given is not changed; the result shares what is untouched.
import { ApiError, errors } from "../errors.ts";
import {
  copyJson,
  equalJson,
  isJsonObject,
  jsonSize,
  setOwn,
  type JsonObject,
} from "./json-value.ts";

export const maxJsonPatchOperations = 10_000;
/** How much all copy operations of one patch may add. */
const maxCopyBytes = 3 * 1024 * 1024;

type Verb = "add" | "remove" | "replace" | "move" | "copy" | "test";

export interface JsonPatchOperation {
  readonly op: Verb;
  readonly path: readonly string[];
  readonly from?: readonly string[];
  readonly value?: unknown;
}

export interface JsonPatch {
  readonly operations: readonly JsonPatchOperation[];
  /** Texts about unknown fields, for fieldValidation Warn and Strict: `json patch unknown field "[0].foo"`. */
  readonly unknownFields: readonly string[];
}

const verbs: ReadonlySet<string> = new Set([
  "add",
  "remove",
  "replace",
  "move",
  "copy",
  "test",
]);
const knownFields: ReadonlySet<string> = new Set([
  "op",
  "path",
  "from",
  "value",
]);

class DoesNotFit extends Error {}

const goKind = (value: unknown): string =>
  isJsonObject(value)
    ? "object"
    : Array.isArray(value)
      ? "array"
      : value === null
        ? "null"
        : typeof value;

/** Checks the patch document (already parsed from JSON). Throws ApiError 400, or 413 for too many operations. */
export function parseJsonPatch(document: unknown): JsonPatch {
  if (!Array.isArray(document)) {
    throw errors.badRequest(
      `error decoding patch: json: cannot unmarshal ${goKind(document)} into Go value of type jsonpatch.Patch`,
    );
  }
  if (document.length > maxJsonPatchOperations) {
    throw errors.tooLarge(
      `The allowed maximum operations in a JSON patch is ${maxJsonPatchOperations}, got ${document.length}`,
    );
  }
  const unknownFields: string[] = [];
  const operations = document.map(
    (operation: unknown, index): JsonPatchOperation => {
      if (!isJsonObject(operation)) {
        throw errors.badRequest(
          `error decoding patch: json: cannot unmarshal ${goKind(operation)} into Go value of type jsonpatch.Operation`,
        );
      }
      for (const field of Object.keys(operation)) {
        if (!knownFields.has(field))
          unknownFields.push(`json patch unknown field "[${index}].${field}"`);
      }
      const { op, path, from } = operation;
      if (typeof op !== "string" || !verbs.has(op))
        throw doesNotFit(`unexpected kind: ${JSON.stringify(op)}`);
      const verb = op as Verb;
      const needsFrom = verb === "move" || verb === "copy";
      return {
        op: verb,
        path: pointer(path, verb),
        ...(needsFrom ? { from: pointer(from, verb) } : {}),
        ...(Object.hasOwn(operation, "value")
          ? { value: operation.value }
          : {}),
      };
    },
  );
  return { operations, unknownFields };
}

/** The reference keeps the reason to itself; ours travels as the error's `cause` for the log. */
function doesNotFit(why: string): ApiError {
  const error = new ApiError({
    code: 422,
    reason: "Invalid",
    message: "the server rejected our request due to an error in our request",
    details: {},
  });
  error.cause = new Error(why);
  return error;
}

function pointer(text: unknown, verb: Verb): string[] {
  if (typeof text !== "string")
    throw doesNotFit(`${verb} operation has no path`);
  if (text === "") return [];
  if (!text.startsWith("/"))
    throw doesNotFit(
      `${verb} operation: path ${JSON.stringify(text)} must start with "/"`,
    );
  return text
    .slice(1)
    .split("/")
    .map((part) => part.replace(/~1/g, "/").replace(/~0/g, "~"));
}

/** Applies all operations or none. Throws ApiError 422 when one does not fit. */
export function applyJsonPatch<T>(document: T, patch: JsonPatch): T {
  const state: State = { root: copyJson(document), copiedBytes: 0 };
  try {
    for (const operation of patch.operations) applyOperation(state, operation);
  } catch (error) {
    if (error instanceof DoesNotFit) throw doesNotFit(error.message);
    throw error;
  }
  return state.root as T;
}

interface State {
  root: unknown;
  copiedBytes: number;
}

function applyOperation(state: State, operation: JsonPatchOperation): void {
  const { op, path } = operation;
  switch (op) {
    case "add":
      return add(state, path, copyJson(operation.value ?? null), op);
    case "replace":
      get(state, path, op);
      return put(state, path, copyJson(operation.value ?? null));
    case "remove":
      return remove(state, path, op);
    case "test": {
      // A field that is not there equals null.
      const actual = find(state, path) ?? null;
      if (!equalJson(actual, operation.value ?? null))
        throw new DoesNotFit(`testing value ${shown(path)} failed`);
      return;
    }
    case "move": {
      const from = operation.from!;
      if (
        path.length > from.length &&
        from.every((part, index) => part === path[index])
      ) {
        throw new DoesNotFit(
          `move operation: ${shown(path)} is inside ${shown(from)}`,
        );
      }
      const value = get(state, from, op);
      remove(state, from, op);
      return add(state, path, value, op);
    }
    case "copy": {
      const value = get(state, operation.from!, op);
      state.copiedBytes += jsonSize(value, maxCopyBytes);
      if (state.copiedBytes > maxCopyBytes) {
        throw new DoesNotFit(
          `Unable to complete the copy, the accumulated size increase of copy is ${state.copiedBytes}, exceeding the limit ${maxCopyBytes}`,
        );
      }
      return add(state, path, copyJson(value), op);
    }
  }
}

const shown = (path: readonly string[]): string =>
  path.map((part) => `/${part}`).join("");

/** -1 when it is no index of a list of that length. */
function listIndex(part: string, length: number): number {
  if (!/^-?(0|[1-9][0-9]{0,9})$/.test(part)) return -1;
  const index = Number(part);
  return index < 0
    ? index + length >= 0
      ? index + length
      : -1
    : index < length
      ? index
      : -1;
}

function child(container: unknown, part: string): unknown {
  if (Array.isArray(container)) {
    const index = listIndex(part, container.length);
    return index < 0 ? undefined : (container[index] as unknown);
  }
  return isJsonObject(container) && Object.hasOwn(container, part)
    ? container[part]
    : undefined;
}

function find(state: State, path: readonly string[]): unknown {
  return path.reduce(child, state.root);
}

function get(state: State, path: readonly string[], op: Verb): unknown {
  const value = find(state, path);
  if (value === undefined)
    throw new DoesNotFit(
      `${op} operation does not apply: doc is missing key: ${shown(path)}`,
    );
  return value;
}

function container(
  state: State,
  path: readonly string[],
  op: Verb,
): JsonObject | unknown[] {
  const value = find(state, path.slice(0, -1));
  if (path.length > 0 && (Array.isArray(value) || isJsonObject(value)))
    return value;
  throw new DoesNotFit(
    `${op} operation does not apply: doc is missing path: ${JSON.stringify(shown(path))}`,
  );
}

function add(
  state: State,
  path: readonly string[],
  value: unknown,
  op: Verb,
): void {
  if (path.length === 0) {
    state.root = value;
    return;
  }
  const target = container(state, path, op);
  const part = path.at(-1)!;
  if (!Array.isArray(target)) return setOwn(target, part, value);
  const index =
    part === "-" ? target.length : listIndex(part, target.length + 1);
  if (index < 0)
    throw new DoesNotFit(
      `${op} operation does not apply: no index ${part} at ${shown(path)}`,
    );
  target.splice(index, 0, value);
}

/** Over a value that is there. */
function put(state: State, path: readonly string[], value: unknown): void {
  if (path.length === 0) {
    state.root = value;
    return;
  }
  const target = container(state, path, "replace");
  const part = path.at(-1)!;
  if (Array.isArray(target)) target[listIndex(part, target.length)] = value;
  else setOwn(target, part, value);
}

function remove(state: State, path: readonly string[], op: Verb): void {
  get(state, path, op);
  const target = container(state, path, op);
  const part = path.at(-1)!;
  if (Array.isArray(target)) target.splice(listIndex(part, target.length), 1);
  else delete target[part];
}
