// Answers for /openapi/v2 and /openapi/v3: documents are made and serialised on first demand, in steps, and kept, each with
// its SHA-512 as ETag; `invalidate` drops them when the catalogue changes (custom resources, aggregated APIs).
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Catalogue } from "../catalogue.ts";
import { apiVersionOf } from "../object.ts";
import { encodeGnostic, type KeptMessages } from "./gnostic.ts";
import type { FeatureGates } from "./operations.ts";
import { sortKeys, type JsonObject } from "./definitions.ts";
import { addDocument } from "./merge.ts";
import { paced, type Pause, type Steps } from "../queueing/steps.ts";
import { jsonChunks, type KeptTexts } from "./json-chunks.ts";
import { openApiV2, V2Parts, type CustomSchemas } from "./v2.ts";
import { documentName, openApiV3, rootDocuments } from "./v3.ts";

export const OPENAPI_V2_PROTOBUF =
  "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
/** The same as a well-formed media type ("@" is not allowed in one): clients may ask with it, answers carry it. */
const OPENAPI_V2_PROTOBUF_ANSWER =
  "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

interface CachedDocument {
  readonly bytes: Buffer;
  readonly contentType: string;
  /** Upper-case hexadecimal SHA-512; the ETag header has it in double quotes. */
  readonly hash: string;
  readonly made: Date;
  /** Made when it is first asked for. */
  gzipped?: Promise<Buffer>;
}

interface OpenApiRequest {
  readonly accept?: string;
  readonly hash?: string;
  readonly ifNoneMatch?: string;
  readonly acceptsGzip?: boolean;
}

interface OpenApiAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

export interface OpenApiService {
  v2(protobuf: boolean): Promise<CachedDocument>;
  /** The index of v3 documents. */
  v3Index(): Promise<CachedDocument>;
  /** `api/v1`, `apis/apps/v1`, `apis`, `version` …; undefined when there is none. */
  v3(name: string): Promise<CachedDocument> | undefined;
  /**
   * The whole answer for a path (`/openapi/v2`, `/openapi/v3`, `/openapi/v3/apis/apps/v1`); undefined for paths without
   * a document. 406 when `accept` allows neither JSON nor a protobuf form that exists.
   */
  answer(
    path: string,
    request: OpenApiRequest,
  ): Promise<OpenApiAnswer | undefined>;
  /** The documents of these group versions, or all, and those that hold them are made again when they are asked for. */
  invalidate(changed?: readonly GroupVersion[]): void;
}

/** What other servers serve, whose documents belong to these too. */
export interface OtherDocuments {
  /** By the name of the document: its path, with its hash. */
  v3(): Readonly<Record<string, string>>;
  /** Never changed. */
  v2(): readonly JsonObject[];
}

interface CustomOpenApi {
  others?: OtherDocuments;
  /** Those that are on. */
  gates?: FeatureGates;
  v2?: CustomSchemas;
  v3?: CustomSchemas;
  /** Called between the steps of making a document; default: they follow each other at once. */
  pause?: Pause;
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

export function createOpenApiService(
  catalogue: Catalogue,
  custom: CustomOpenApi = {},
): OpenApiService {
  return new Service(catalogue, custom);
}

function* withOthers(
  own: Steps<JsonObject>,
  others: readonly JsonObject[],
): Steps<JsonObject> {
  const document = yield* own;
  if (others.length === 0) return document;
  const merged = { ...document };
  for (const other of others) {
    addDocument(merged, other);
    yield;
  }
  for (const part of ["paths", "definitions", "parameters"])
    merged[part] = sortKeys(merged[part] as JsonObject);
  return merged;
}

const JSON_TYPE = "application/json";
const yearMs = 31_536_000_000;
/** Bytes that are hashed in one step. */
const hashedBytes = 64 * 1024;
const compress = promisify<Buffer, { level: number }, Buffer>(gzip);

class Service implements OpenApiService {
  readonly #catalogue: Catalogue;
  readonly #custom: CustomOpenApi;
  readonly #pause: Pause;
  readonly #made = new Map<string, Promise<CachedDocument>>();
  #parts = new V2Parts();
  readonly #texts: KeptTexts = new WeakMap();
  readonly #messages: KeptMessages = new WeakMap();

  constructor(catalogue: Catalogue, custom: CustomOpenApi) {
    this.#catalogue = catalogue;
    this.#custom = custom;
    this.#pause = custom.pause ?? (() => undefined);
  }

  invalidate(changed?: readonly GroupVersion[]): void {
    if (!changed) {
      this.#made.clear();
      this.#parts = new V2Parts();
      return;
    }
    for (const name of ["v2", "v2 protobuf", "v3", "v3/apis"])
      this.#made.delete(name);
    for (const groupVersion of changed) {
      const name = documentName(groupVersion);
      this.#made.delete(`v3/${name}`);
      this.#made.delete(`v3/apis/${groupVersion.group}`);
      this.#parts.drop(apiVersionOf(groupVersion));
    }
  }

  /** Made once, also for those who ask meanwhile. */
  #cached(
    name: string,
    contentType: string,
    make: () => Promise<Buffer[]>,
  ): Promise<CachedDocument> {
    let document = this.#made.get(name);
    if (!document) {
      document = this.#document(contentType, make);
      this.#made.set(name, document);
      document.catch(() => this.#made.delete(name));
    }
    return document;
  }

  async #document(
    contentType: string,
    make: () => Promise<Buffer[]>,
  ): Promise<CachedDocument> {
    const chunks = await make();
    const hash = createHash("sha512");
    for (const chunk of chunks) {
      hash.update(chunk);
      const paused = this.#pause();
      if (paused) await paused;
    }
    return {
      bytes: Buffer.concat(chunks),
      contentType,
      hash: hash.digest("hex").toUpperCase(),
      made: new Date(),
    };
  }

  #json(
    name: string,
    make: () => Steps<JsonObject>,
    chunks: (made: JsonObject) => Steps<Buffer[]> = jsonChunks,
  ): Promise<CachedDocument> {
    function* steps(): Steps<Buffer[]> {
      return yield* chunks(yield* make());
    }
    return this.#cached(name, JSON_TYPE, () => paced(steps(), this.#pause));
  }

  v2(protobuf: boolean): Promise<CachedDocument> {
    const { v2, gates } = this.#custom;
    const own = (): Steps<JsonObject> =>
      openApiV2(this.#catalogue, v2, gates, this.#parts);
    const others = this.#custom.others?.v2() ?? [];
    const make = (): Steps<JsonObject> => withOthers(own(), others);
    const [texts, messages] = [this.#texts, this.#messages];
    if (!protobuf)
      return this.#json("v2", make, (made) => jsonChunks(made, 2, texts));
    function* steps(): Steps<Buffer[]> {
      const bytes = yield* encodeGnostic(yield* make(), messages);
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += hashedBytes)
        chunks.push(bytes.subarray(at, at + hashedBytes));
      return chunks;
    }
    return this.#cached("v2 protobuf", OPENAPI_V2_PROTOBUF_ANSWER, () =>
      paced(steps(), this.#pause),
    );
  }

  v3Index(): Promise<CachedDocument> {
    const roots = rootDocuments(this.#catalogue);
    const names = new Set([
      ...Object.keys(this.#custom.others?.v3() ?? {}),
      ...roots.keys(),
      ...this.#catalogue
        .groupVersions()
        .map((groupVersion) => documentName(groupVersion)),
    ]);
    return this.#cached("v3", JSON_TYPE, async () => {
      const others = this.#custom.others?.v3() ?? {};
      const paths: JsonObject = {};
      for (const name of [...names].sort()) {
        const serverRelativeURL =
          others[name] ??
          `/openapi/v3/${name}?hash=${(await this.#v3(name, roots)!).hash}`;
        paths[name] = { serverRelativeURL };
      }
      return [Buffer.from(JSON.stringify({ paths }))];
    });
  }

  v3(name: string): Promise<CachedDocument> | undefined {
    return this.#v3(name, rootDocuments(this.#catalogue));
  }

  #v3(
    name: string,
    roots: ReturnType<typeof rootDocuments>,
  ): Promise<CachedDocument> | undefined {
    const known = this.#made.get(`v3/${name}`);
    if (known) return known;
    const root = roots.get(name);
    if (root) return this.#json(`v3/${name}`, root);
    for (const { group, version } of this.#catalogue.groupVersions()) {
      if (documentName({ group, version }) === name)
        return this.#json(`v3/${name}`, () =>
          openApiV3(
            this.#catalogue,
            group,
            version,
            this.#custom.v3,
            this.#custom.gates,
          ),
        );
    }
    return undefined;
  }

  async answer(
    path: string,
    { accept = "*/*", hash, ifNoneMatch, acceptsGzip = false }: OpenApiRequest,
  ): Promise<OpenApiAnswer | undefined> {
    const wanted = accept.toLowerCase();
    const takesJson =
      accept === "" || /\*\/\*|application\/(json|\*)/.test(wanted);
    const takesProtobuf =
      wanted.includes(OPENAPI_V2_PROTOBUF.toLowerCase()) ||
      wanted.includes(OPENAPI_V2_PROTOBUF_ANSWER.toLowerCase());
    const name = path.replace(/^\/openapi\//, "");
    const v2 = name === "v2";
    if (name === "v3")
      return {
        status: 200,
        // Sniffed, not declared, in the reference.
        headers: { "Content-Type": "text/plain; charset=utf-8" },
        body: (await this.v3Index()).bytes,
      };
    const found = v2
      ? await this.v2(takesProtobuf)
      : name.startsWith("v3/")
        ? await this.v3(name.slice(3))
        : undefined;
    if (!found) return undefined;
    const empty = Buffer.alloc(0);
    const headers: Record<string, string> = {
      Vary: v2 ? "Accept-Encoding, Accept" : "Accept",
    };
    if (!takesJson && !(v2 && takesProtobuf))
      return { status: 406, headers, body: empty };
    headers["Etag"] = `"${found.hash}"`;
    if (hash !== undefined && !v2) {
      if (hash !== found.hash) {
        headers["Location"] = `/openapi/${name}?hash=${found.hash}`;
        headers["Content-Type"] = found.contentType;
        return { status: 301, headers, body: empty };
      }
      headers["Cache-Control"] = "public, immutable";
      headers["Expires"] = new Date(Date.now() + yearMs)
        .toUTCString()
        .replace("GMT", "UTC");
    }
    const unchanged = ifNoneMatch
      ?.split(",")
      .some((tag) => tag.trim().replace(/^W\//, "") === headers["Etag"]);
    if (unchanged) return { status: 304, headers, body: empty };
    headers["Content-Type"] = found.contentType;
    headers["Last-Modified"] = found.made.toUTCString();
    if (!v2 || !acceptsGzip) return { status: 200, headers, body: found.bytes };
    headers["Content-Encoding"] = "gzip";
    found.gzipped ??= compress(found.bytes, { level: 1 });
    return { status: 200, headers, body: await found.gzipped };
  }
}
