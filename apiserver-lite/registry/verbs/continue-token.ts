// Tokens of paged lists, the same as the reference's on one etcd: base64url of {"v":"meta.k8s.io/v1","rv":N,"start":"key"}.
// `start` counts from the list's directory (a namespace, or the resource) and is the last key sent with a NUL behind it.
// A negative rv continues on the newest state (the inconsistent token of an expired list). Forged tokens are a 400.
import {
  JsonSyntaxError,
  parseJsonSlowly,
} from "../../../api/codec/json-text.ts";
import { ExactNumber } from "../../../api/exact-number.ts";
import { errors, type ApiError } from "../../../api/errors.ts";

interface ContinueToken {
  /** Negative: the newest state. */
  readonly revision: number;
  /** The least key of the next page, within the resource. */
  readonly start: string;
}

const version = "meta.k8s.io/v1";

/** `start` as it is in the token. */
export function encodeContinue(revision: number, start: string): string {
  return Buffer.from(
    JSON.stringify({ v: version, rv: revision, start }),
  ).toString("base64url");
}

/** Throws ApiError 400. */
export function decodeContinue(text: string, directory: string): ContinueToken {
  const fields = objectOf(decodeBase64(text));
  const v = fieldOf(fields, "v", "string");
  const rv = fieldOf(fields, "rv", "int64");
  const start = fieldOf(fields, "start", "string");
  if (v !== version)
    throw refuse(
      `server does not recognize this encoded version ${String(v ?? "")}`,
    );
  if (!rv)
    throw refuse(
      `incorrect encoded start resourceVersion (version ${version})`,
    );
  if (!start) throw refuse(`encoded start key empty (version ${version})`);
  const path = String(start).replace(/^\/?/, "/");
  if (/\/\.{0,2}(\/|$)/.test(path)) throw refuse(String(start));
  return { revision: Number(rv), start: `${directory}${path.slice(1)}` };
}

function refuse(why: string): ApiError {
  return errors.badRequest(
    `invalid continue token: continue key is not valid: ${why}`,
  );
}

function decodeBase64(text: string): string {
  const illegal = text.search(/[^A-Za-z0-9_-]/);
  const at =
    illegal >= 0 ? illegal : text.length % 4 === 1 ? text.length - 1 : -1;
  if (at >= 0) throw refuse(`illegal base64 data at input byte ${at}`);
  return Buffer.from(text, "base64url").toString("utf8");
}

function objectOf(text: string): Map<string, unknown> {
  let value: unknown;
  try {
    ({ value } = parseJsonSlowly(text));
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw refuse(error.message);
  }
  if (value === null) return new Map();
  if (typeof value !== "object" || Array.isArray(value))
    throw refuse(
      `json: cannot unmarshal ${jsonType(value)} into Go value of type storage.continueToken`,
    );
  return new Map(
    Object.entries(value).map(([name, each]) => [name.toLowerCase(), each]),
  );
}

function fieldOf(
  fields: ReadonlyMap<string, unknown>,
  name: string,
  type: "string" | "int64",
): unknown {
  const value = fields.get(name);
  if (value === undefined || value === null) return undefined;
  if (type === "string" && typeof value === "string") return value;
  if (type === "int64" && Number.isSafeInteger(value)) return value;
  const number = typeof value === "number" || value instanceof ExactNumber;
  const shown = !number
    ? jsonType(value)
    : type === "int64"
      ? `number ${value instanceof ExactNumber ? value.text : value}`
      : "number";
  throw refuse(
    `json: cannot unmarshal ${shown} into Go struct field continueToken.${name} of type ${type}`,
  );
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}
