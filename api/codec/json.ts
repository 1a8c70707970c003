// JSON bodies of API objects: strict decoding as the reference does it. Names are case-sensitive, unknown and duplicate
// fields are reported and dropped, values of a wrong type are a 400 in the reference's words.
import { isUtf8 } from "node:buffer";
import type { ApiError } from "../errors.ts";
import { NumberOverflow, plainNumbers } from "../exact-number.ts";
import { parseApiVersion } from "../object.ts";
import { jsonKind } from "../patch/json-value.ts";
import type { ObjectSchema, StrictProblem } from "../schema.ts";
import { finish, type Steps } from "../queueing/steps.ts";
import {
  cannotBeHandled,
  conform,
  TypeMismatch,
  UndecodableBody,
} from "./conform.ts";
import { parsingParts } from "./json-parts.ts";
import {
  countKeys,
  JsonSyntaxError,
  parseJsonSlowly,
  scanText,
} from "./json-text.ts";

/** Longer texts are parsed in parts. */
const bytesInParts = 128 * 1024;

export type FieldValidation = "Ignore" | "Warn" | "Strict";

export interface DecodeOptions {
  /** Default: Strict, so that problems are collected; the caller refuses, warns or ignores. */
  fieldValidation?: FieldValidation;
  /** Of a document that does not say. */
  apiVersion?: string;
}

export interface Decoded {
  object: Record<string, unknown>;
  /** `unknown field "spec.foo"`, `duplicate field "spec.bar"`, in the document's order. Empty with Ignore. */
  problems: string[];
}

/**
 * Decodes a body into the shape of `schema`; without a schema the tree stays as parsed. apiVersion and kind are kept as
 * sent (the caller compares them). Throws ApiError 400.
 */
export function decodeJson(
  bytes: Uint8Array,
  schema?: ObjectSchema,
  options?: DecodeOptions,
): Decoded {
  return finish(decodingJson(bytes, schema, options));
}

/** The same in steps. */
export function* decodingJson(
  bytes: Uint8Array,
  schema?: ObjectSchema,
  options: DecodeOptions = {},
): Steps<Decoded> {
  const strict = options.fieldValidation !== "Ignore";
  const wanted = schema?.shortName ?? "unstructured object";
  const { value: parsed, keys } = yield* parseBytes(bytes, wanted);
  yield;
  const value = objectOf(parsed, wanted, bytes);
  if (schema?.conform && !value["kind"])
    throw missingKind(bytes, schema, strict, options);
  const once = fit(value, schema, strict, options);
  if (once.found === keys || (!strict && !schema))
    return { object: once.object, problems: once.problems.map(problemText) };
  // Some key was given twice: find out which. An object given twice is read twice, into the same one.
  const custom = schema?.conform !== undefined;
  const slow = parseJsonSlowly(decodeText(bytes), !custom);
  const { object, problems } = fit(
    slow.value as Record<string, unknown>,
    schema,
    strict,
    options,
  );
  if (!strict) return { object, problems: [] };
  if (custom) {
    const twice = slow.duplicates.map((path) => `duplicate field "${path}"`);
    return { object, problems: [...twice, ...problems.map(problemText)] };
  }
  const unknown = problems.map(({ path }) => path);
  const all = [...problems];
  for (const path of slow.duplicates) {
    // Unknown fields are not looked into.
    if (
      !unknown.some(
        (outer) =>
          path === outer ||
          path.startsWith(`${outer}.`) ||
          path.startsWith(`${outer}[`),
      )
    )
      all.push({ kind: "duplicate", path });
  }
  all.sort(
    (a, b) => (slow.order.get(a.path) ?? 0) - (slow.order.get(b.path) ?? 0),
  );
  return { object, problems: all.map(problemText) };
}

/** The 400 of an object that does not say its kind, where nothing else does: custom resources. */
function missingKind(
  bytes: Uint8Array,
  schema: ObjectSchema,
  strict: boolean,
  { apiVersion = "" }: DecodeOptions,
): ApiError {
  const why = `Object 'Kind' is missing in '${decodeText(bytes)}'`;
  return strict
    ? unrecognised(schema.shortName, why, bytes)
    : cannotBeHandled(
        schema.shortName,
        parseApiVersion(apiVersion).version,
        schema.shortName,
        why,
      );
}

/**
 * The same for a tree that was parsed already (a patch's result, CBOR, YAML): `value` is used up. Throws ApiError 400.
 */
export function conformObject(
  value: Record<string, unknown>,
  schema: ObjectSchema,
  options: DecodeOptions = {},
): Decoded {
  const { object, problems } = fit(
    value,
    schema,
    options.fieldValidation !== "Ignore",
    options,
  );
  return { object, problems: problems.map(problemText) };
}

/** Parses any JSON text with the limits of bodies, duplicates reported. Throws JsonSyntaxError. */
export function* parsingJson(
  bytes: Uint8Array,
): Steps<{ value: unknown; duplicates: string[] }> {
  const { value, keys } = yield* parseText(bytes);
  yield;
  return {
    value,
    duplicates:
      countKeys(value) === keys
        ? []
        : parseJsonSlowly(decodeText(bytes)).duplicates,
  };
}

/** The text of the 400 (Strict) for a list of problems; `json` warnings use the single texts. */
export function strictDecodingError(problems: readonly string[]): string {
  return `strict decoding error: ${problems.join(", ")}`;
}

/** What to warn of for a strict problem: a list of YAML's is a warning each. */
export function warningsOf(problem: string): string[] {
  const [, list] = /yaml: unmarshal errors:\n(.*)$/s.exec(problem) ?? [];
  return list === undefined
    ? [problem]
    : list.split("\n").map((line) => line.trim());
}

/** The 400 for problems under fieldValidation=Strict. */
export function strictError(
  object: { kind?: unknown; apiVersion?: unknown },
  schema: ObjectSchema,
  problems: readonly string[],
  apiVersion?: string,
): ApiError {
  const { kind, version } = namesOf(object, schema, apiVersion);
  return cannotBeHandled(
    kind,
    version,
    schema.shortName,
    strictDecodingError(problems),
  );
}

export function problemText({ kind, path }: StrictProblem): string {
  return `${kind} field ${JSON.stringify(path)}`;
}

function namesOf(
  object: { kind?: unknown; apiVersion?: unknown },
  schema: ObjectSchema,
  fallback = "",
): { kind: string; version: string } {
  const apiVersion =
    typeof object.apiVersion === "string" && object.apiVersion !== ""
      ? object.apiVersion
      : fallback;
  const kind =
    typeof object.kind === "string" && object.kind !== ""
      ? object.kind
      : schema.shortName;
  return { kind, version: parseApiVersion(apiVersion).version };
}

function fit(
  value: Record<string, unknown>,
  schema: ObjectSchema | undefined,
  strict: boolean,
  { apiVersion = "" }: DecodeOptions,
): {
  found: number;
  object: Record<string, unknown>;
  problems: StrictProblem[];
} {
  if (!schema)
    return {
      found: strict ? countKeys(value) : 0,
      object: plainNumbers(value) as Record<string, unknown>,
      problems: [],
    };
  const names = namesOf(value, schema, apiVersion);
  try {
    const { object, keys, problems } = conform(value, schema, strict);
    return { found: keys, object, problems };
  } catch (error) {
    if (error instanceof TypeMismatch || error instanceof NumberOverflow)
      throw cannotBeHandled(
        names.kind,
        names.version,
        schema.shortName,
        error.message,
      );
    throw error;
  }
}

function decodeText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(
    "utf8",
  );
}

function* parseText(
  bytes: Uint8Array,
): Steps<{ value: unknown; keys: number }> {
  if (!isUtf8(bytes)) throw new JsonSyntaxError("invalid UTF-8");
  const { keys, special } = scanText(bytes);
  yield;
  if (bytes.length > bytesInParts) {
    const parsed = yield* parsingParts(bytes, special);
    if (parsed) return { value: parsed.value, keys };
  }
  const text = decodeText(bytes);
  if (special) return { value: parseJsonSlowly(text).value, keys };
  try {
    return { value: JSON.parse(text) as unknown, keys };
  } catch {
    parseJsonSlowly(text);
    throw new JsonSyntaxError("invalid JSON");
  }
}

function* parseBytes(
  bytes: Uint8Array,
  wanted: string,
): Steps<{ value: unknown; keys: number }> {
  try {
    return yield* parseText(bytes);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw unrecognised(
      wanted,
      `couldn't get version/kind; json parse error: ${error.message}`,
      bytes,
    );
  }
}

const typeMeta =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** Returns a document as an object whose type can be read; null becomes an empty object. Throws ApiError 400. */
export function objectOf(
  value: unknown,
  wanted: string,
  bytes: Uint8Array,
): Record<string, unknown> {
  if (value === null || value === undefined) return {};
  const refuse = (what: unknown, where: string): never => {
    throw unrecognised(
      wanted,
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(what)} into Go ${where}`,
      bytes,
    );
  };
  if (typeof value !== "object" || Array.isArray(value))
    refuse(value, `value of type ${typeMeta}`);
  const object = value as Record<string, unknown>;
  for (const name of ["apiVersion", "kind"]) {
    const text = object[name];
    if (text !== undefined && text !== null && typeof text !== "string")
      refuse(text, `struct field .${name} of type string`);
  }
  const apiVersion = object["apiVersion"];
  if (typeof apiVersion === "string" && apiVersion.split("/").length > 2)
    throw unrecognised(
      wanted,
      `unexpected GroupVersion string: ${apiVersion}`,
      bytes,
    );
  return object;
}

const SUMMARY_BYTES = 30;

/** The 400 for a body that is no object of any kind. */
export function unrecognised(
  wanted: string,
  why: string,
  bytes: Uint8Array,
): ApiError {
  const head = Buffer.from(bytes.subarray(0, SUMMARY_BYTES));
  const summary =
    bytes.length === 0
      ? "<empty>"
      : head.toString(bytes[0] === 0x7b ? "utf8" : "hex") +
        (bytes.length > SUMMARY_BYTES ? " ..." : "");
  return new UndecodableBody(
    `the object provided is unrecognized (must be of type ${wanted}): ${why} (${summary})`,
    why,
  );
}
