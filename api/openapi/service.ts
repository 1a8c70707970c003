// Answers for /openapi/v2 and /openapi/v3: documents are made and serialised on first demand and kept, each with its
// SHA-512 as ETag; `invalidate` drops them when the catalogue changes (custom resources, aggregated APIs).
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Catalogue } from "../catalogue.ts";
import { encodeGnostic } from "./gnostic.ts";
import type { FeatureGates } from "./operations.ts";
import { openApiV2, type CustomSchemas } from "./v2.ts";
import { documentName, openApiV3, rootDocuments } from "./v3.ts";

export const OPENAPI_V2_PROTOBUF =
  "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
/** The same as a well-formed media type ("@" is not allowed in one): clients may ask with it, answers carry it. */
export const OPENAPI_V2_PROTOBUF_ANSWER =
  "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

export interface CachedDocument {
  readonly bytes: Buffer;
  readonly contentType: string;
  /** Upper-case hexadecimal SHA-512; the ETag header has it in double quotes. */
  readonly hash: string;
  readonly made: Date;
  /** Made when it is first asked for. */
  gzipped?: Buffer;
}

export interface OpenApiRequest {
  readonly accept?: string;
  readonly hash?: string;
  readonly ifNoneMatch?: string;
  readonly acceptsGzip?: boolean;
}

export interface OpenApiAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

export interface OpenApiService {
  v2(protobuf: boolean): CachedDocument;
  /** The index of v3 documents. */
  v3Index(): CachedDocument;
  /** `api/v1`, `apis/apps/v1`, `apis`, `version` …; undefined when there is none. */
  v3(name: string): CachedDocument | undefined;
  /**
   * The whole answer for a path (`/openapi/v2`, `/openapi/v3`, `/openapi/v3/apis/apps/v1`); undefined for paths without
   * a document. 406 when `accept` allows neither JSON nor a protobuf form that exists.
   */
  answer(path: string, request: OpenApiRequest): OpenApiAnswer | undefined;
  invalidate(): void;
}

export interface CustomOpenApi {
  /** Those that are on. */
  gates?: FeatureGates;
  v2?: CustomSchemas;
  v3?: CustomSchemas;
}

export function createOpenApiService(
  catalogue: Catalogue,
  custom: CustomOpenApi = {},
): OpenApiService {
  return new Service(catalogue, custom);
}

const JSON_TYPE = "application/json";
const yearMs = 31_536_000_000;

class Service implements OpenApiService {
  readonly #catalogue: Catalogue;
  readonly #custom: CustomOpenApi;
  readonly #made = new Map<string, CachedDocument>();

  constructor(catalogue: Catalogue, custom: CustomOpenApi) {
    this.#catalogue = catalogue;
    this.#custom = custom;
  }

  invalidate(): void {
    this.#made.clear();
  }

  #cached(
    name: string,
    contentType: string,
    make: () => Buffer,
  ): CachedDocument {
    let document = this.#made.get(name);
    if (!document) {
      const bytes = make();
      const hash = createHash("sha512")
        .update(bytes)
        .digest("hex")
        .toUpperCase();
      document = { bytes, contentType, hash, made: new Date() };
      this.#made.set(name, document);
    }
    return document;
  }

  #json(name: string, make: () => object): CachedDocument {
    return this.#cached(name, JSON_TYPE, () =>
      Buffer.from(JSON.stringify(make())),
    );
  }

  v2(protobuf: boolean): CachedDocument {
    const make = (): Record<string, unknown> =>
      openApiV2(this.#catalogue, this.#custom.v2, this.#custom.gates);
    return protobuf
      ? this.#cached("v2 protobuf", OPENAPI_V2_PROTOBUF_ANSWER, () =>
          encodeGnostic(make()),
        )
      : this.#json("v2", make);
  }

  v3Index(): CachedDocument {
    return this.#json("v3", () => {
      const names = [
        ...rootDocuments(this.#catalogue).keys(),
        ...this.#catalogue
          .groupVersions()
          .map((groupVersion) => documentName(groupVersion)),
      ].sort();
      return {
        paths: Object.fromEntries(
          names.map((name) => [
            name,
            {
              serverRelativeURL: `/openapi/v3/${name}?hash=${this.v3(name)!.hash}`,
            },
          ]),
        ),
      };
    });
  }

  v3(name: string): CachedDocument | undefined {
    const root = rootDocuments(this.#catalogue).get(name);
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

  answer(
    path: string,
    { accept = "*/*", hash, ifNoneMatch, acceptsGzip = false }: OpenApiRequest,
  ): OpenApiAnswer | undefined {
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
        body: this.v3Index().bytes,
      };
    const found = v2
      ? this.v2(takesProtobuf)
      : name.startsWith("v3/")
        ? this.v3(name.slice(3))
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
    const body = (found.gzipped ??= gzipSync(found.bytes, { level: 1 }));
    return { status: 200, headers, body };
  }
}
