// JSON patch (RFC 6902) with the reference's bounds and answers: a malformed patch is 400, one that does not fit the
// object 422 without the details (as the reference), more than 10,000 operations 413. Where the reference's library is
// laxer than the RFC so is this: negative, signed and zero-padded indices, pointers that do not start with a slash,
// `replace` and `copy` of keys that are not there; `add` and `remove` of the whole document are refused.
// The document given is not changed; the result shares what is untouched.
import { ApiError, errors } from "../errors.ts";
import {
  copyJson,
  getOwn,
  isJsonObject,
  jsonKind,
  jsonSize,
  setOwn,
  type JsonObject,
} from "./json-value.ts";
import { sameJson } from "../objects/json-equality.ts";

export const maxJsonPatchOperations = 10_000;
/** How much all copy operations of one patch may add. */
const maxCopyBytes = 3 * 1024 * 1024;

interface JsonPatchOperation {
  /** One of the six; anything else fits nothing. */
  readonly op: string;
  readonly path: string | undefined;
  readonly from: string | undefined;
  /** Undefined when there is none. */
  readonly value: unknown;
}

export interface JsonPatch {
  readonly operations: readonly JsonPatchOperation[];
  /** Texts about unknown fields, for fieldValidation Warn and Strict: `json patch unknown field "[0].foo"`. */
  readonly unknownFields: readonly string[];
}

const texts = ["op", "path", "from"] as const;
const knownFields: ReadonlySet<string> = new Set([...texts, "value"]);

class DoesNotFit extends Error {}

/**
 * Checks the patch document (already parsed from JSON). `strict` (fieldValidation Warn and Strict) refuses what is no
 * operation at all, otherwise it only fits nothing. Throws ApiError 400, or 413 for too many operations.
 */
export function parseJsonPatch(document: unknown, strict = true): JsonPatch {
  const unknownFields: string[] = [];
  const mismatch = (value: unknown, type: string, field = ""): ApiError =>
    errors.badRequest(
      `${strict ? "error decoding patch: " : ""}json: cannot unmarshal ${jsonKind(value)} into Go ${field === "" ? "value" : `struct field jsonPatchOp.${field}`} of type ${type}`,
    );
  if (document !== null && !Array.isArray(document))
    throw mismatch(
      document,
      strict ? "[]handlers.jsonPatchOp" : "jsonpatch.Patch",
    );
  const list = (document ?? []) as unknown[];
  const operations = list.map((given, index): JsonPatchOperation => {
    if (given !== null && !isJsonObject(given))
      throw mismatch(
        given,
        strict ? "handlers.jsonPatchOp" : "jsonpatch.Operation",
      );
    const operation = given ?? {};
    for (const field of Object.keys(operation)) {
      if (!knownFields.has(field))
        unknownFields.push(`json patch unknown field "[${index}].${field}"`);
    }
    const [op = "", path, from] = texts.map((name) => {
      const value = operation[name];
      if (typeof value === "string") return value;
      if (strict && value !== undefined && value !== null)
        throw mismatch(value, "string", name);
      return undefined;
    });
    return { op, path, from, value: operation["value"] };
  });
  if (operations.length > maxJsonPatchOperations)
    throw errors.tooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${maxJsonPatchOperations}, got ${operations.length}`,
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

/** Where a pointer leads: the value at `key` of `container`, if there is one. */
interface Place {
  readonly container: JsonObject | unknown[];
  readonly key: string;
}

function applyOperation(state: State, operation: JsonPatchOperation): void {
  const { op, value } = operation;
  switch (op) {
    case "add":
      return add(place(state, operation), copyJson(value ?? null));
    case "replace":
      return replace(state, operation);
    case "remove":
      return remove(state, operation);
    case "test":
      return test(state, operation);
    case "move": {
      const from = { op, path: operation.from };
      const moved = get(place(state, from));
      remove(state, from);
      return add(place(state, operation), moved ?? null);
    }
    case "copy": {
      const copied = get(place(state, { op, path: operation.from })) ?? null;
      const target = place(state, operation);
      state.copiedBytes += jsonSize(copied, maxCopyBytes);
      if (state.copiedBytes > maxCopyBytes) {
        throw new DoesNotFit(
          `Unable to complete the copy, the accumulated size increase of copy is ${state.copiedBytes}, exceeding the limit ${maxCopyBytes}`,
        );
      }
      return add(target, copyJson(copied));
    }
    default:
      throw new DoesNotFit(`Unexpected kind: ${op}`);
  }
}

type Pointing = Pick<JsonPatchOperation, "op" | "path">;

/** The text before the first slash is ignored. */
function place(state: State, { op, path }: Pointing): Place {
  const [, ...parts] = (path ?? "").split("/");
  const key = parts.pop();
  if (key === undefined)
    throw new DoesNotFit(
      `${op} operation failed to decode path: missing value`,
    );
  let container = state.root;
  for (const part of parts) {
    container = isContainer(container)
      ? get({ container, key: unescaped(part) })
      : undefined;
  }
  if (!isContainer(container))
    throw new DoesNotFit(
      `${op} operation does not apply: doc is missing path: ${JSON.stringify(path)}: missing value`,
    );
  return { container, key: unescaped(key) };
}

const unescaped = (part: string): string =>
  part.replace(/~1/g, "/").replace(/~0/g, "~");

const isContainer = (value: unknown): value is JsonObject | unknown[] =>
  Array.isArray(value) || isJsonObject(value);

/** Throws when it is no index of a list of that length. */
function listIndex(key: string, length: number): number {
  const index = /^[-+]?[0-9]{1,15}$/.test(key) ? Number(key) : NaN;
  const at = index < 0 ? index + length : index;
  if (at >= 0 && at < length) return at;
  throw new DoesNotFit(`no index ${JSON.stringify(key)}`);
}

/** Undefined for a key that is not there; throws for such an index. */
function get({ container, key }: Place): unknown {
  return Array.isArray(container)
    ? container[listIndex(key, container.length)]
    : getOwn(container, key);
}

function add({ container, key }: Place, value: unknown): void {
  if (!Array.isArray(container)) return setOwn(container, key, value);
  const index =
    key === "-" ? container.length : listIndex(key, container.length + 1);
  container.splice(index, 0, value);
}

/** The whole document is replaced by an object or a list only; for other values nothing happens. */
function replace(state: State, operation: JsonPatchOperation): void {
  const { path, value } = operation;
  const copy = copyJson(value ?? null);
  if (path === "") {
    if (isContainer(copy)) state.root = copy;
    return;
  }
  const { container, key } = place(state, operation);
  if (Array.isArray(container))
    container[listIndex(key, container.length)] = copy;
  else setOwn(container, key, copy);
}

function remove(state: State, operation: Pointing): void {
  const { container, key } = place(state, operation);
  if (Array.isArray(container)) {
    container.splice(listIndex(key, container.length), 1);
    return;
  }
  if (!Object.hasOwn(container, key))
    throw new DoesNotFit(
      `error in remove for path: '${operation.path}': Unable to remove nonexistent key: ${key}: missing value`,
    );
  delete container[key];
}

/** A key that is not there equals null, and nothing equals a value that is not given. */
function test(state: State, operation: JsonPatchOperation): void {
  const { path, value } = operation;
  const actual =
    path === "" ? state.root : (get(place(state, operation)) ?? null);
  if (value === undefined || !sameJson(actual, value))
    throw new DoesNotFit(`testing value ${path} failed: test failed`);
}
