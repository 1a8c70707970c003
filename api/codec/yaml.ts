// YAML bodies and manifest files. Both go through the same strict decoding as JSON; what YAML adds is duplicate keys
// with their line, several documents, and positions for messages of files.
import { errors } from "../errors.ts";
import { sortedKeys } from "../patch/json-value.ts";
import { finish, type Steps } from "../queueing/steps.ts";
import type { ObjectSchema } from "../schema.ts";
import {
  conformObject,
  objectOf,
  decodingJson,
  unrecognised,
  type DecodeOptions,
  type Decoded,
} from "./json.ts";
import { emitYaml } from "./yaml-emit.ts";
import {
  parseYaml,
  parsingYaml,
  YamlSyntaxError,
  type DuplicateKey,
  type YamlDocument,
} from "./yaml-text.ts";
import { isUtf8 } from "node:buffer";

/** Decodes one YAML document; JSON is YAML too and takes the faster way. Throws ApiError 400. */
export function decodeYaml(
  bytes: Uint8Array,
  schema?: ObjectSchema,
  options?: DecodeOptions,
): Decoded {
  return finish(decodingYaml(bytes, schema, options));
}

/** How a text is parsed; default: here. */
export type ReadYaml = (text: () => string) => Steps<YamlDocument[]>;

const readHere: ReadYaml = (text) => parsingYaml(text());

/** The same in steps. @param read where its documents come from */
export function* decodingYaml(
  bytes: Uint8Array,
  schema?: ObjectSchema,
  options: DecodeOptions = {},
  read = readHere,
): Steps<Decoded> {
  if (bytes[0] === 0x7b) {
    try {
      return yield* decodingJson(bytes, schema, options);
    } catch (error) {
      // Flow style that is not JSON: {a: b}
      if (
        !String((error as Error).message).includes(
          "json parse error: invalid character",
        )
      )
        throw error;
    }
  }
  const { value, duplicates } = yield* parseBody(
    bytes,
    schema?.shortName ?? "unstructured object",
    read,
  );
  const problems =
    options.fieldValidation === "Ignore" || duplicates.length === 0
      ? []
      : [duplicateText(duplicates)];
  yield;
  // The reference makes JSON of it first, with the keys in order.
  const object = sortedKeys(value) as Record<string, unknown>;
  if (!schema) return { object, problems };
  yield;
  const decoded = conformObject(object, schema, options);
  return {
    object: decoded.object,
    problems: [...problems, ...decoded.problems],
  };
}

/** Parses the first document of a body (an apply patch) as it is, null for an empty one. Throws ApiError 400. */
export function parseYamlBody(bytes: Uint8Array): ParsedBody {
  return finish(parsingYamlBody(bytes));
}

interface ParsedBody {
  readonly value: unknown;
  readonly problems: readonly string[];
}

const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("utf8");

/** The same in steps. @param read where its documents come from */
export function* parsingYamlBody(
  bytes: Uint8Array,
  read = readHere,
): Steps<ParsedBody> {
  try {
    const [document] = yield* read(() => textOf(bytes));
    const { value = null, duplicates = [] } = document ?? {};
    return {
      value,
      problems: duplicates.length === 0 ? [] : [duplicateText(duplicates)],
    };
  } catch (error) {
    if (!(error instanceof YamlSyntaxError)) throw error;
    throw errors.badRequest(
      `error decoding YAML: error converting YAML to JSON: ${error.message}`,
    );
  }
}

export function encodeYaml(object: unknown): Buffer {
  return Buffer.from(emitYaml(object));
}

function* parseBody(
  bytes: Uint8Array,
  wanted: string,
  read: ReadYaml,
): Steps<YamlDocument> {
  if (!isUtf8(bytes))
    throw unrecognised(
      wanted,
      "error converting YAML to JSON: yaml: invalid UTF-8",
      bytes,
    );
  let documents: YamlDocument[];
  try {
    documents = yield* read(() => textOf(bytes));
  } catch (error) {
    if (!(error instanceof YamlSyntaxError)) throw error;
    throw unrecognised(wanted, error.message, bytes);
  }
  const [first = noDocument] = documents;
  return { ...first, value: objectOf(first.value, wanted, bytes) };
}

const noDocument: YamlDocument = { value: null, duplicates: [] } as never;

/** All duplicates of a document make one problem, as the reference reports them. */
function duplicateText(duplicates: readonly DuplicateKey[]): string {
  const lines = duplicates.map(
    ({ key, line }) =>
      `  line ${line}: key ${JSON.stringify(key)} already set in map`,
  );
  return `yaml: unmarshal errors:\n${lines.join("\n")}`;
}

/** One object of a manifest file. */
interface ManifestDocument {
  readonly object: Record<string, unknown>;
  readonly fileName: string;
  /** Of its first field, from 1. */
  readonly line: number;
  /** Where it is in its document. */
  readonly place: ManifestPlace;
  /** The line of a field by its path (`spec.containers[0].image`), or that of the nearest parent known. */
  lineOf(path: string): number;
}

export interface ManifestPlace {
  readonly document: Pick<YamlDocument, "line" | "lines">;
  /** Of the object in a List. */
  readonly prefix: string;
}

/** A manifest that can't be used. The message names file, line and field. */
export class ManifestError extends Error {
  readonly fileName: string;
  readonly line: number;
  readonly field: string;

  constructor(
    fileName: string,
    line: number,
    field: string,
    readonly reason: string,
  ) {
    super(`${fileName}:${line}: ${field === "" ? "" : `${field}: `}${reason}`);
    this.name = "ManifestError";
    this.fileName = fileName;
    this.line = line;
    this.field = field;
  }
}

/**
 * The objects of a YAML or JSON file, empty documents left out, `List` objects taken apart. Every object has apiVersion
 * and kind. Throws ManifestError for the first document that is no object or has a key twice.
 */
export function parseManifests(
  text: string,
  fileName: string,
): ManifestDocument[] {
  let documents: YamlDocument[];
  try {
    documents = parseYaml(text, { withLines: true });
  } catch (error) {
    if (error instanceof YamlSyntaxError)
      throw new ManifestError(fileName, error.line, "", error.reason);
    throw error;
  }
  const found: ManifestDocument[] = [];
  for (const document of documents) {
    if (document.value === null) continue;
    const [duplicate] = document.duplicates;
    if (duplicate)
      throw new ManifestError(
        fileName,
        duplicate.line,
        duplicate.path,
        "key is given twice",
      );
    found.push(...objectsOf(document, document.value, "", fileName));
  }
  return found;
}

function objectsOf(
  document: YamlDocument,
  value: unknown,
  prefix: string,
  fileName: string,
): ManifestDocument[] {
  const place = { document, prefix };
  const lineOf = (path: string): number => lineAt(place, path);
  const line = lineOf("");
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new ManifestError(
      fileName,
      line,
      prefix,
      "an API object is expected",
    );
  const object = value as Record<string, unknown>;
  for (const field of ["apiVersion", "kind"]) {
    if (typeof object[field] !== "string" || object[field] === "")
      throw new ManifestError(
        fileName,
        lineOf(field),
        prefix === "" ? field : `${prefix}.${field}`,
        "is required and must be a string",
      );
  }
  if (
    String(object["kind"]).endsWith("List") &&
    Array.isArray(object["items"])
  ) {
    return object["items"].flatMap((item, index) =>
      objectsOf(
        document,
        item,
        `${prefix === "" ? "" : `${prefix}.`}items[${index}]`,
        fileName,
      ),
    );
  }
  return [{ object, fileName, line, place, lineOf }];
}

export function lineAt(
  { document, prefix }: ManifestPlace,
  path: string,
): number {
  return lineIn(
    document,
    prefix === "" ? path : path === "" ? prefix : `${prefix}.${path}`,
  );
}

function lineIn(document: ManifestPlace["document"], path: string): number {
  for (
    let at = path;
    at !== "";
    at = at.slice(0, Math.max(at.lastIndexOf("."), at.lastIndexOf("["), 0))
  ) {
    const line = document.lines.get(at);
    if (line !== undefined) return line;
  }
  return document.line;
}
