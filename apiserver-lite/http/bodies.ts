// From the bytes of a body to an object: every encoding, fieldValidation, kind and version; DeleteOptions and patches.
import {
  decodeJson,
  parseJson,
  strictDecodingError,
  strictError,
  warningsOf,
  type Decoded,
  type DecodeOptions,
} from "../../api/codec/json.ts";
import { JsonSyntaxError } from "../../api/codec/json-text.ts";
import { canonicaliseDocument, mentionsAlias } from "../../api/dialect.ts";
import {
  cannotBeHandled,
  UndecodableBody,
  unknownKind,
} from "../../api/codec/conform.ts";
import { internalTypeName } from "../../api/codec/value-type-names.ts";
import type { ApiError } from "../../api/errors.ts";
import { errors } from "../../api/errors.ts";
import { plainNumbers } from "../../api/exact-number.ts";
import { parseApiVersion, type AnyObject } from "../../api/object.ts";
import { isJsonObject, jsonKind } from "../../api/patch/json-value.ts";
import { schemaFor, type ObjectSchema } from "../../api/schema.ts";
import { messageNameOfKind } from "../../api/type-table.ts";
import type { DeleteOptions } from "../../api/types/meta-v1.ts";
import type { Call } from "../registry/call.ts";
import { integer } from "../registry/list.ts";
import type { PatchText, PatchType } from "../registry/patch-text.ts";
import { isTrue } from "../registry/watch.ts";
import { readBody } from "./body.ts";
import type { Exchange } from "./exchange.ts";
import { acceptedTypes } from "./negotiation.ts";

/** Decoders of the encodings beside JSON. */
export interface BodyDecoders {
  yaml?: (
    bytes: Buffer,
    schema: ObjectSchema | undefined,
    options: DecodeOptions,
  ) => Decoded;
  /** Any YAML document, for apply patches. */
  yamlValue?: (bytes: Buffer) => { value: unknown; problems: string[] };
  protobuf?: (
    bytes: Buffer,
    fallback?: { apiVersion: string; kind: string },
  ) => Record<string, unknown>;
  cbor?: (
    bytes: Buffer,
    schema: ObjectSchema | undefined,
    options: DecodeOptions,
  ) => Decoded;
  cborValue?: (bytes: Buffer) => unknown;
}

const ignoreReadError = "ignoreStoreReadErrorWithClusterBreakingPotential";

export class Bodies {
  constructor(private readonly decoders: BodyDecoders) {}

  /** Is apply in CBOR possible? */
  get cbor(): boolean {
    return this.decoders.cbor !== undefined;
  }

  /** Throws ApiError 400. */
  patchText(
    call: Call,
    type: PatchType,
    contentType: string,
    bytes: Buffer,
  ): PatchText {
    const text =
      type === "apply"
        ? this.#applyText(contentType, bytes)
        : jsonPatchText(type, bytes, call.options.fieldValidation !== "Ignore");
    if (mentionsAlias(bytes)) canonicaliseDocument(text.value);
    return text;
  }

  /** YAML, of which JSON is a part; null stands for an empty document. */
  #applyText(mediaType: string, bytes: Buffer): PatchText {
    const { decoders } = this;
    let text: PatchText | undefined;
    if (mediaType === "application/apply-patch+cbor")
      text = { value: decoders.cborValue!(bytes), problems: [] };
    else if (looksLikeJson(bytes) || !decoders.yamlValue) {
      try {
        const { value, duplicates } = parseJson(bytes);
        if (duplicates.length === 0) text = { value, problems: [] };
      } catch (error) {
        if (!(error instanceof JsonSyntaxError)) throw error;
      }
    }
    text ??= decoders.yamlValue!(bytes);
    const { value, problems } = text;
    if (value !== null && !isJsonObject(value))
      throw errors.badRequest(
        `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`,
      );
    return { value: plainNumbers(value), problems };
  }

  /** From the body, or without one from the query, whose dryRun counts in any case. Throws ApiError 400. */
  async deleteOptions(exchange: Exchange, call: Call): Promise<DeleteOptions> {
    const bytes = await this.read(exchange);
    const { query } = call;
    const dryRun = query.getAll("dryRun").filter((value) => value !== "");
    let options: DeleteOptions = {};
    if (bytes.length > 0) {
      options = this.#decodeDeleteOptions(exchange, call, bytes);
      if (dryRun.includes("All")) options.dryRun = ["All"];
    } else {
      if (dryRun.length > 0) options.dryRun = dryRun;
      const grace = query.get("gracePeriodSeconds");
      if (grace !== null) options.gracePeriodSeconds = integer(grace);
      const policy = query.get("propagationPolicy");
      if (policy !== null) options.propagationPolicy = policy;
      const orphans = query.get("orphanDependents");
      if (orphans !== null) options.orphanDependents = isTrue(orphans);
      const uid = query.get("uid");
      if (uid) options.preconditions = { uid };
      if (isTrue(query.get(ignoreReadError))) options[ignoreReadError] = true;
    }
    if (options.dryRun?.length) Object.assign(call, { dryRun: true });
    return options;
  }

  /** Throws ApiError 400 with the reference's words, which it says with a 500. */
  #decodeDeleteOptions(
    exchange: Exchange,
    call: Call,
    bytes: Buffer,
  ): DeleteOptions {
    const wanted = "DeleteOptions";
    const schema = schemaFor("", "v1", wanted);
    try {
      const options = this.decode(
        exchange,
        call,
        bytes,
        schema,
        "",
        wanted,
        "Ignore",
      );
      const { kind = wanted, apiVersion = "meta.k8s.io/v1" } = options;
      if (kind !== wanted)
        throw errors.badRequest(
          `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"`,
        );
      return options as unknown as DeleteOptions;
    } catch (error) {
      if (!(error instanceof UndecodableBody)) throw error;
      throw errors.badRequest(error.why);
    }
  }

  read(exchange: Exchange): Promise<Buffer> {
    return readBody(exchange.body, exchange.headers["content-length"]);
  }

  decode(
    exchange: Exchange,
    call: Call,
    bytes: Buffer,
    schema: ObjectSchema | undefined,
    apiVersion: string,
    kind: string,
    fieldValidation = call.options.fieldValidation ?? "Warn",
  ): AnyObject {
    const type = mediaType(exchange.headers["content-type"]);
    const { decoders } = this;
    let decoded: Decoded;
    const options = { fieldValidation, apiVersion };
    if (type === "" || type === "application/json") {
      decoded = decodeJson(bytes, schema, options);
    } else if (type === "application/yaml" && decoders.yaml) {
      decoded = decoders.yaml(bytes, schema, options);
    } else if (
      (type === "application/vnd.kubernetes.protobuf" ||
        type === "application/vnd.orbit.protobuf") &&
      decoders.protobuf &&
      schema
    ) {
      decoded = {
        object: decoders.protobuf(bytes, {
          apiVersion: apiVersion || "v1",
          kind,
        }),
        problems: [],
      };
    } else if (type === "application/cbor" && decoders.cbor) {
      decoded = decoders.cbor(bytes, schema, options);
    } else {
      const accepted = acceptedTypes({
        protobuf: decoders.protobuf !== undefined && schema !== undefined,
        cbor: decoders.cbor !== undefined,
        table: true,
        partial: true,
      });
      throw errors.unsupportedMediaType(
        `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
      );
    }
    this.#judge(
      call,
      decoded.problems,
      schema &&
        decoded.problems.length > 0 &&
        strictError(decoded.object, schema, decoded.problems, apiVersion),
    );
    const object = decoded.object as AnyObject;
    if (mentionsAlias(bytes)) canonicaliseDocument(object);
    if (apiVersion !== "") {
      refuseOther(object, apiVersion, kind);
      object.kind = kind;
      object.apiVersion = apiVersion;
      object.metadata ??= {} as AnyObject["metadata"];
    }
    return object;
  }

  /** `refusal` is the 400 of Strict where more than the problems is known. */
  #judge(
    call: Call,
    problems: readonly string[],
    refusal?: ApiError | false,
  ): void {
    if (problems.length === 0) return;
    const mode = call.options.fieldValidation ?? "Warn";
    if (mode === "Strict")
      throw refusal || errors.badRequest(strictDecodingError(problems));
    if (mode === "Warn")
      for (const problem of problems)
        warningsOf(problem).forEach(call.warn, call);
  }
}

const mediaTypePattern =
  /^\s*([^\s;,]+)\s*((?:;\s*[^\s;=",]+\s*=\s*(?:[^\s;,"]+|"(?:[^"\\]|\\.)*")\s*)*);?\s*$/;

/** In lower case; "" without a header, "malformed" for one that cannot be read. */
export function mediaType(header: string | undefined): string {
  if (!header) return "";
  return mediaTypePattern.exec(header)?.[1]?.toLowerCase() ?? "malformed";
}

function looksLikeJson(bytes: Buffer): boolean {
  for (const byte of bytes.subarray(0, 64)) {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09)
      continue;
    return byte === 0x7b;
  }
  return false;
}

/** Throws ApiError 400 for an object of another kind or version. */
function refuseOther(
  object: { kind?: string; apiVersion?: string },
  apiVersion: string,
  kind: string,
): void {
  const found = {
    kind: object.kind || kind,
    apiVersion: object.apiVersion || apiVersion,
  };
  if (found.kind === kind && found.apiVersion === apiVersion) return;
  const { group } = parseApiVersion(apiVersion);
  const { version } = parseApiVersion(found.apiVersion);
  if (messageNameOfKind(found.apiVersion, found.kind) === undefined)
    throw cannotBeHandled(
      found.kind,
      version,
      kind,
      unknownKind(found.apiVersion, found.kind),
    );
  if (found.kind !== kind)
    throw cannotBeHandled(
      found.kind,
      version,
      kind,
      `converting (${version}.${found.kind}) to (${internalTypeName(group, kind)}): unknown conversion`,
    );
  throw errors.badRequest(
    `the API version in the data (${found.apiVersion}) does not match the expected API version (${apiVersion})`,
  );
}

type JsonPatchType = Exclude<PatchType, "apply">;

/** What the reference says before a syntax error; a merge patch that nobody wants checked has no word of its own. */
const syntaxPrefixes: Readonly<Record<JsonPatchType, string>> = {
  json: "error decoding patch: ",
  merge: "error decoding patch: ",
  strategic: "",
};

function jsonPatchText(
  type: JsonPatchType,
  bytes: Buffer,
  strict: boolean,
): PatchText {
  try {
    const { value, duplicates } = parseJson(bytes);
    return {
      value,
      problems: strict
        ? duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`)
        : [],
    };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw errors.badRequest(
      strict
        ? `${syntaxPrefixes[type]}${error.message}`
        : type === "merge"
          ? "Invalid JSON Patch"
          : error.message,
    );
  }
}
