// The body of a request of this process: an object, taken as its JSON text would be read (undefined is left out, dates
// become text) but without making one. The caller's object is never kept: the registry gets a private copy in the shape
// of its type.
import {
  conformObject,
  decodeJson,
  objectOf,
  unrecognised,
  type Decoded,
} from "../../api/codec/json.ts";
import { JsonSyntaxError, MAX_DEPTH } from "../../api/codec/json-text.ts";
import { canonicaliseDocument, namesAlias } from "../../api/dialect.ts";
import { errors } from "../../api/errors.ts";
import type { Patch } from "../../client/client.ts";
import type { RequestBody, WantedBody } from "../dispatch/request.ts";
import type { PatchText, ReadPatch } from "../registry/verbs/patch-text.ts";

/** @param received is given a patch's text, for the audit */
export function objectBody(
  object: object | undefined,
  patch: Patch | undefined,
  received?: (patch: Buffer, type: Patch["type"]) => void,
): RequestBody {
  return {
    ...(patch ? { patchType: patch.type } : {}),
    decode: (wanted) => decode(object, wanted),
    patch: () => {
      received?.(encode(patch!.body), patch!.type);
      return () => reading(patch!.body);
    },
  };
}

function* reading(body: Patch["body"]): ReturnType<ReadPatch> {
  yield;
  return patchText(body);
}

function decode(
  object: object | undefined,
  wanted: WantedBody,
): Decoded | undefined {
  const { schema, apiVersion, fieldValidation, optional } = wanted;
  const options = { fieldValidation, apiVersion };
  if (object === undefined)
    return optional ? undefined : decodeJson(Buffer.alloc(0), schema, options);
  const name = schema?.shortName ?? "unstructured object";
  let copied: Copied;
  try {
    copied = copyAsJson(object);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw unrecognised(
      name,
      `couldn't get version/kind; json parse error: ${error.message}`,
      encode(object),
    );
  }
  const value = isDocument(copied.value)
    ? copied.value
    : objectOf(copied.value, name, encode(object));
  const decoded = schema
    ? conformObject(value, schema, options)
    : { object: value, problems: [] };
  if (copied.aliased) canonicaliseDocument(decoded.object);
  return decoded;
}

function patchText(body: unknown): PatchText {
  try {
    const { value, aliased } = copyAsJson(body);
    return {
      value: aliased ? canonicaliseDocument(value) : value,
      problems: [],
    };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw errors.badRequest(error.message);
  }
}

/** Is it plainly an object with a version and a kind, so that the slow check needs no text of it? */
function isDocument(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return false;
  const { apiVersion = "", kind = "" } = value as Record<string, unknown>;
  return (
    typeof kind === "string" &&
    typeof apiVersion === "string" &&
    apiVersion.indexOf("/") === apiVersion.lastIndexOf("/")
  );
}

/** For errors and the audit; "" where there is no text of it. */
function encode(value: unknown): Buffer {
  try {
    return Buffer.from(JSON.stringify(value) ?? "");
  } catch {
    return Buffer.alloc(0);
  }
}

interface Copied {
  readonly value: unknown;
  /** Somewhere it names a group as the specification's dialect does. */
  readonly aliased: boolean;
}

/** What `JSON.parse(JSON.stringify(value))` gives. Throws JsonSyntaxError for what is nested too deeply, or in itself. */
function copyAsJson(value: unknown): Copied {
  const copying = new Copying();
  const copy = copying.value(value, 0);
  return { value: copy, aliased: copying.aliased };
}

class Copying {
  aliased = false;

  value(value: unknown, depth: number): unknown {
    if (typeof value === "string" || value === null) return value;
    switch (typeof value) {
      case "boolean":
        return value;
      case "number":
        return Number.isFinite(value) ? value : null;
      case "object":
        return this.#object(value, depth);
      case "bigint":
        throw new TypeError("Do not know how to serialize a BigInt");
      default:
        return undefined;
    }
  }

  #object(value: object, depth: number): unknown {
    if (depth === MAX_DEPTH) throw new JsonSyntaxError("exceeded max depth");
    if (Array.isArray(value))
      return value.map((item) => this.value(item, depth + 1) ?? null);
    if (
      "toJSON" in value &&
      typeof (value as { toJSON: unknown }).toJSON === "function"
    )
      return this.value((value as { toJSON(): unknown }).toJSON(), depth + 1);
    // Spreading copies own properties whatever their name, and the shape with them.
    const copy: Record<string, unknown> = { ...value };
    for (const key in copy) {
      const inner = copy[key];
      if (typeof inner === "string") {
        if (namesAlias(key, inner)) this.aliased = true;
        continue;
      }
      const copied = this.value(inner, depth + 1);
      if (copied === undefined) delete copy[key];
      else if (copied !== inner) copy[key] = copied;
      if (key === "apiGroups") this.aliased ||= mentionsAliases(copied);
    }
    return copy;
  }
}

function mentionsAliases(groups: unknown): boolean {
  return (
    Array.isArray(groups) &&
    groups.some((group) => namesAlias("apiGroup", group))
  );
}
