// From the bytes of a body to an object or a patch, in every encoding. The dispatch decides which object it accepts.
import {
  decodingJson,
  parsingJson,
  type Decoded,
  type DecodeOptions,
  type FieldValidation,
} from "../../api/codec/json.ts";
import { JsonSyntaxError } from "../../api/codec/json-text.ts";
import { canonicaliseDocument, mentionsAlias } from "../../api/dialect.ts";
import { errors } from "../../api/errors.ts";
import type { ObjectSchema } from "../../api/schema.ts";
import { finish, paced, type Steps } from "../../api/queueing/steps.ts";
import type { RequestBody, WantedBody } from "../dispatch/request.ts";
import type {
  PatchText,
  PatchType,
  ReadPatch,
} from "../registry/verbs/patch-text.ts";
import type { ReadYaml } from "../../api/codec/yaml.ts";
import { documentsOfJson } from "../../api/codec/yaml-json.ts";
import type { MaybePromise } from "../registry/kinds/when-ready.ts";
import { YamlThread } from "./yaml/yaml-thread.ts";
import { readBody } from "../../http-kit/body.ts";
import { largeBytes } from "../registry/call.ts";
import type { LoopWatch } from "../loop/loop-watch.ts";
import type { BodySizes } from "../registry/body-sizes.ts";
import type { TimeSlices } from "../loop/time-slices.ts";
import type { Exchange } from "../../http-kit/exchange.ts";
import type { HttpRequest } from "./http-request.ts";
import { mediaType } from "../request/media-type.ts";
import { acceptedTypes } from "./negotiation.ts";
import type { AskedPatch } from "../dispatch/patch-types.ts";

/** The library takes some 50 microseconds for each KiB, in one go. */
const largeYamlBytes = 48 * 1024;

/** Decoders of the encodings beside JSON. */
export interface BodyDecoders {
  yaml?: (
    bytes: Buffer,
    schema: ObjectSchema | undefined,
    options: DecodeOptions,
    read?: ReadYaml,
  ) => Steps<Decoded>;
  /** Any YAML document, for apply patches. */
  yamlValue?: (bytes: Buffer, read?: ReadYaml) => Steps<PatchText>;
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

export class Bodies {
  readonly #receiving = new Set<() => void>();

  constructor(
    private readonly decoders: BodyDecoders,
    private readonly slices: TimeSlices,
    private readonly loopWatch?: LoopWatch,
    private readonly yamlThread = YamlThread.of(),
    private readonly sizes?: BodySizes,
  ) {}

  /** A body has come as a whole. */
  received({ info }: HttpRequest, bytes: number): void {
    if (info.resourceRequest) this.sizes?.received(info, bytes);
  }

  /** Is apply in CBOR possible? */
  get cbor(): boolean {
    return this.decoders.cbor !== undefined;
  }

  /** Bodies that have not come as a whole are waited for no longer (shutdown). */
  giveUp(): void {
    for (const stop of [...this.#receiving]) stop();
  }

  /** Nothing is read before it is asked for. */
  of(request: HttpRequest, patch: AskedPatch | undefined): RequestBody {
    return new ReceivedBody(this, request, patch);
  }

  /** Rejects with ApiError 400, 413, 503. */
  read({ exchange, place }: HttpRequest): Promise<Buffer> {
    const { body, headers } = exchange;
    return readBody(body, headers["content-length"], {
      gate: place,
      receiving: this.#receiving,
      onClose: (callback) => exchange.onClose(callback),
    });
  }

  /** A body has been received, and the work begins: that of a large one in a turn of its own. */
  begin(exchange: Exchange, bytes: Buffer): Promise<void> | undefined {
    if (bytes.length > largeBytes) return this.slices.next(exchange);
    this.loopWatch?.enter(exchange);
    return undefined;
  }

  /** The documents of a large YAML body, parsed on another thread; undefined for every other one. Rejects with ApiError 500. */
  parsedElsewhere(type: string, bytes: Buffer): Promise<ReadYaml> | undefined {
    if (bytes.length <= largeYamlBytes || !type.endsWith("yaml"))
      return undefined;
    if (looksLikeJson(bytes)) return undefined;
    return this.yamlThread
      ?.parse(bytes)
      .then((parsed) => () => documentsOfJson(parsed));
  }

  /** Throws ApiError 400, 415. */
  decode(
    exchange: Exchange,
    bytes: Buffer,
    wanted: WantedBody,
  ): MaybePromise<Decoded> {
    const type = mediaType(exchange.headers["content-type"]);
    const decoded = (read?: ReadYaml): MaybePromise<Decoded> => {
      const decoding = this.#decode(type, bytes, wanted, read);
      return bytes.length > largeBytes
        ? paced(decoding, () => this.slices.next(exchange))
        : finish(decoding);
    };
    return this.parsedElsewhere(type, bytes)?.then(decoded) ?? decoded();
  }

  /** Throws ApiError 400. */
  *patchText(
    type: PatchType,
    contentType: string,
    bytes: Buffer,
    fieldValidation: FieldValidation,
    read?: ReadYaml,
  ): Steps<PatchText> {
    const text =
      type === "apply"
        ? yield* this.#applyText(contentType, bytes, read)
        : yield* jsonPatchText(type, bytes, fieldValidation !== "Ignore");
    if (mentionsAlias(bytes)) canonicaliseDocument(text.value);
    return text;
  }

  /** Reads YAML, of which JSON is a part; null means an empty document. */
  *#applyText(
    mediaType: string,
    bytes: Buffer,
    read: ReadYaml | undefined,
  ): Steps<PatchText> {
    const { decoders } = this;
    if (mediaType === "application/apply-patch+cbor")
      return { value: decoders.cborValue!(bytes), problems: [] };
    if (looksLikeJson(bytes) || !decoders.yamlValue) {
      try {
        const { value, duplicates } = yield* parsingJson(bytes);
        if (duplicates.length === 0) return { value, problems: [] };
      } catch (error) {
        if (!(error instanceof JsonSyntaxError)) throw error;
      }
    }
    return yield* decoders.yamlValue!(bytes, read);
  }

  *#decode(
    type: string,
    bytes: Buffer,
    wanted: WantedBody,
    read: ReadYaml | undefined,
  ): Steps<Decoded> {
    const decoded = yield* this.#decodeAs(type, bytes, wanted, read);
    if (mentionsAlias(bytes)) canonicaliseDocument(decoded.object);
    return decoded;
  }

  *#decodeAs(
    type: string,
    bytes: Buffer,
    wanted: WantedBody,
    read: ReadYaml | undefined,
  ): Steps<Decoded> {
    const { decoders } = this;
    const { schema, apiVersion, kind, fieldValidation, protobuf } = wanted;
    const options = { fieldValidation, apiVersion };
    if (type === "" || type === "application/json")
      return yield* decodingJson(bytes, schema, options);
    if (type === "application/yaml" && decoders.yaml)
      return yield* decoders.yaml(bytes, schema, options, read);
    if (
      (type === "application/vnd.kubernetes.protobuf" ||
        type === "application/vnd.orbit.protobuf") &&
      decoders.protobuf &&
      protobuf
    )
      return {
        object: decoders.protobuf(bytes, {
          apiVersion: apiVersion || "v1",
          kind,
        }),
        problems: [],
      };
    if (type === "application/cbor" && decoders.cbor)
      return decoders.cbor(bytes, schema, options);
    const accepted = acceptedTypes({
      protobuf: decoders.protobuf !== undefined,
      cbor: decoders.cbor !== undefined,
      table: true,
      partial: true,
    });
    throw errors.unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
    );
  }
}

/** A class: making an object literal of closures, some of it spread, takes the time of all the rest of a request's set-up. */
class ReceivedBody implements RequestBody {
  readonly patchType: PatchType | undefined;
  bytes = 0;

  constructor(
    private readonly bodies: Bodies,
    private readonly request: HttpRequest,
    private readonly asked: AskedPatch | undefined,
  ) {
    this.patchType = asked?.type;
  }

  async decode(wanted: WantedBody): Promise<Decoded | undefined> {
    const bytes = await this.#read();
    if (wanted.optional && bytes.length === 0) return undefined;
    return this.bodies.decode(this.request.exchange, bytes, wanted);
  }

  async patch(fieldValidation: FieldValidation): Promise<ReadPatch> {
    const { type, mediaType } = this.asked!;
    const bytes = await this.#read();
    const { bodies, request } = this;
    request.trail?.receivedPatch(bytes, mediaType);
    const elsewhere = bodies.parsedElsewhere(mediaType, bytes);
    const read = elsewhere && (await elsewhere);
    return () =>
      bodies.patchText(type, mediaType, bytes, fieldValidation, read);
  }

  #read(): Promise<Buffer> {
    const { bodies, request } = this;
    return bodies.read(request).then((bytes) => {
      this.bytes = bytes.length;
      bodies.received(request, bytes.length);
      const turn = bodies.begin(request.exchange, bytes);
      return turn ? turn.then(() => bytes) : bytes;
    });
  }
}

function looksLikeJson(bytes: Buffer): boolean {
  for (const byte of bytes.subarray(0, 64)) {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09)
      continue;
    return byte === 0x7b;
  }
  return false;
}

type JsonPatchType = Exclude<PatchType, "apply">;

/** The reference's text before a syntax error; without strict validation the answers have none. */
const syntaxPrefixes: Readonly<Record<JsonPatchType, string>> = {
  json: "error decoding patch: ",
  merge: "error decoding patch: ",
  strategic: "",
};

function* jsonPatchText(
  type: JsonPatchType,
  bytes: Buffer,
  strict: boolean,
): Steps<PatchText> {
  try {
    const { value, duplicates } = yield* parsingJson(bytes);
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
