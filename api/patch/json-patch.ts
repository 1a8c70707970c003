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

/** The cause of the ApiError where a `test` of the patch does not hold. */
export class PatchTestFailed extends DoesNotFit {}

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

/** Clients are not given the reason; it is the error's `cause`, for the log and for admission, which reports it. */
function doesNotFit(cause: DoesNotFit): ApiError {
  const error = new ApiError({
    code: 422,
    reason: "Invalid",
    message: "the server rejected our request due to an error in our request",
    details: {},
  });
  error.cause = cause;
  return error;
}

/** Applies all operations or none. Throws ApiError 422 when one does not fit. */
export function applyJsonPatch<T>(document: T, patch: JsonPatch): T {
  const state: State = { root: copyJson(document), copiedBytes: 0 };
  try {
    for (const operation of patch.operations) applyOperation(state, operation);
  } catch (error) {
    if (error instanceof DoesNotFit) throw doesNotFit(error);
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
  const { op, path, value } = operation;
  switch (op) {
    case "add": {
      if (path === undefined) throw failure(op, "to decode path");
      const target = placeOf(state, path);
      if (!target)
        throw missing(op, `doc is missing path: ${JSON.stringify(path)}`);
      return within(`error in add for path: '${path}'`, () =>
        add(target, copyJson(value ?? null)),
      );
    }
    case "replace":
      return replace(state, operation);
    case "remove": {
      if (path === undefined) throw failure(op, "to decode path");
      const target = placeOf(state, path);
      if (!target)
        throw missing(op, `doc is missing path: ${JSON.stringify(path)}`);
      return within(`error in remove for path: '${path}'`, () =>
        remove(target),
      );
    }
    case "test":
      return test(state, operation);
    case "move":
      return move(state, operation);
    case "copy":
      return copy(state, operation);
    default:
      throw new DoesNotFit(`Unexpected kind: ${op}`);
  }
}

/** `add operation failed to decode path: missing value` */
const failure = (op: string, what: string): DoesNotFit =>
  new DoesNotFit(`${op} operation failed ${what}: missing value`);

const missing = (op: string, what: string): DoesNotFit =>
  new DoesNotFit(`${op} operation does not apply: ${what}: missing value`);

/** What `run` fails with is reported behind `what`. */
function within<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof DoesNotFit)) throw error;
    throw new DoesNotFit(`${what}: ${error.message}`);
  }
}

/** The text before the first slash is ignored. Undefined: there is nothing that could hold the last part. */
function placeOf(state: State, path: string): Place | undefined {
  const [, ...parts] = path.split("/");
  const key = parts.pop();
  if (key === undefined) return undefined;
  let container = state.root;
  for (const part of parts) {
    if (!isContainer(container)) return undefined;
    container = found({ container, key: unescaped(part) });
  }
  return isContainer(container)
    ? { container, key: unescaped(key) }
    : undefined;
}

const unescaped = (part: string): string =>
  part.replace(/~1/g, "/").replace(/~0/g, "~");

const isContainer = (value: unknown): value is JsonObject | unknown[] =>
  Array.isArray(value) || isJsonObject(value);

/** Throws when it is no index of a list of that length. */
function listIndex(key: string, length: number): number {
  if (!/^[-+]?[0-9]{1,15}$/.test(key))
    throw new DoesNotFit(
      `strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`,
    );
  const index = Number(key);
  const at = index < 0 ? index + length : index;
  if (at >= 0 && at < length) return at;
  throw new DoesNotFit(
    `Unable to access invalid index: ${index}: invalid index referenced`,
  );
}

/** Undefined for a key that is not there; throws for such an index. */
function get({ container, key }: Place): unknown {
  return Array.isArray(container)
    ? container[listIndex(key, container.length)]
    : getOwn(container, key);
}

/** Undefined for a key and for an index that is not there. */
function found(place: Place): unknown {
  try {
    return get(place);
  } catch (error) {
    if (error instanceof DoesNotFit) return undefined;
    throw error;
  }
}

function add({ container, key }: Place, value: unknown): void {
  if (!Array.isArray(container)) return setOwn(container, key, value);
  if (key !== "-" && !/^[-+]?[0-9]{1,15}$/.test(key))
    throw new DoesNotFit(
      `value was not a proper array index: '${key}': strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`,
    );
  const index =
    key === "-" ? container.length : listIndex(key, container.length + 1);
  container.splice(index, 0, value);
}

/** The whole document is replaced by an object or a list only; for other values nothing happens. */
function replace(state: State, { op, path, value }: JsonPatchOperation): void {
  if (path === undefined)
    throw failure(op, "to decode path: operation missing path field");
  const copied = copyJson(value ?? null);
  if (path === "") {
    if (isContainer(copied)) state.root = copied;
    return;
  }
  const target = placeOf(state, path);
  if (!target) throw missing(op, `doc is missing path: ${path}`);
  const { container, key } = target;
  if (!Array.isArray(container)) return setOwn(container, key, copied);
  try {
    container[listIndex(key, container.length)] = copied;
  } catch (error) {
    if (!(error instanceof DoesNotFit)) throw error;
    throw missing(op, `doc is missing key: ${path}`);
  }
}

function remove({ container, key }: Place): void {
  if (Array.isArray(container)) {
    container.splice(listIndex(key, container.length), 1);
    return;
  }
  if (!Object.hasOwn(container, key))
    throw new DoesNotFit(
      `Unable to remove nonexistent key: ${key}: missing value`,
    );
  delete container[key];
}

function move(state: State, { op, path, from }: JsonPatchOperation): void {
  if (from === undefined)
    throw failure(op, "to decode from: operation, missing from field");
  const source = placeOf(state, from);
  if (!source) throw missing(op, `doc is missing from path: ${from}`);
  const moved = within(`error in move for path: '${source.key}'`, () => {
    const value = get(source);
    remove(source);
    return value ?? null;
  });
  if (path === undefined)
    throw failure(op, "to decode path: operation missing path field");
  const target = placeOf(state, path);
  if (!target) throw missing(op, `doc is missing destination path: ${path}`);
  within(`error in move for path: '${path}'`, () => add(target, moved));
}

function copy(state: State, { op, path, from }: JsonPatchOperation): void {
  if (from === undefined)
    throw failure(op, "to decode from: operation, missing from field");
  const source = placeOf(state, from);
  if (!source) throw missing(op, `doc is missing from path: ${from}`);
  const copied = within(
    `error in copy for from: '${from}'`,
    () => get(source) ?? null,
  );
  if (path === undefined) throw failure(op, "to decode path");
  const target = placeOf(state, path);
  if (!target) throw missing(op, `doc is missing destination path: ${path}`);
  state.copiedBytes += jsonSize(copied, maxCopyBytes);
  if (state.copiedBytes > maxCopyBytes)
    throw new DoesNotFit(
      `Unable to complete the copy, the accumulated size increase of copy is ${state.copiedBytes}, exceeding the limit ${maxCopyBytes}`,
    );
  within("error while adding value during copy", () =>
    add(target, copyJson(copied)),
  );
}

/** A key that is not there equals null, and nothing equals a value that is not given. */
function test(state: State, { op, path, value }: JsonPatchOperation): void {
  if (path === undefined)
    throw failure(op, "to decode path: operation missing path field");
  const target = path === "" ? undefined : placeOf(state, path);
  if (path !== "" && !target) throw missing(op, `is missing path: ${path}`);
  const actual = target
    ? (within(`error in test for path: '${path}'`, () => get(target)) ?? null)
    : state.root;
  if (value === undefined || !sameJson(actual, value))
    throw new PatchTestFailed(`testing value ${path} failed: test failed`);
}
