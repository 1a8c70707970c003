// Answers for /openapi/v2 and /openapi/v3: documents are made on first demand, in steps, and kept as lists of fragments that
// they share, each with a digest of its fragments' digests as ETag; `invalidate` drops them when the catalogue changes
// (custom resources, aggregated APIs).
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import type { Catalogue } from "../catalogue.ts";
import type { FeatureGates } from "./operations.ts";
import type { JsonObject } from "./definitions.ts";
import { builtinDefinitions, loadDescriptions } from "./descriptions.ts";
import type { DocumentMaps } from "./document.ts";
import { Fragment, type Definitions } from "./fragments.ts";
import {
  contentTypeOf,
  JSON_TYPE,
  takesProtobuf,
  type MediaRange,
} from "./document-types.ts";
import { pieces } from "./pieces.ts";
import { addDocument } from "./merge.ts";
import { paced, type Pause, type Steps } from "../queueing/steps.ts";
import {
  gnosticFragments,
  jsonFragments,
  openApiV2,
  writeJson,
  writeProtobuf,
} from "./v2.ts";
import { upgraded } from "./upgrade.ts";
import {
  documentName,
  jsonForm,
  openApiV3,
  protobufForm,
  rootDocuments,
  V3Fragments,
} from "./v3.ts";

type Body = readonly Uint8Array[];

interface CachedDocument {
  readonly body: Body;
  readonly contentType: string;
  /** Upper-case hexadecimal SHA-512; the ETag header has it in double quotes. */
  readonly hash: string;
  readonly made: Date;
  /** Made when it is first asked for. */
  gzipped?: Promise<Body>;
}

interface OpenApiRequest {
  /** Best first; default: anything. */
  readonly accepts?: readonly MediaRange[];
  readonly hash?: string;
  readonly ifNoneMatch?: string;
  readonly acceptsGzip?: boolean;
}

interface OpenApiAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** In parts, which others share. */
  readonly body: Body;
}

export interface OpenApiService {
  v2(protobuf: boolean): Promise<CachedDocument>;
  /** The index of v3 documents. */
  v3Index(): Promise<CachedDocument>;
  /** `api/v1`, `apis/apps/v1`, `apis`, `version` …; undefined when there is none. */
  v3(name: string, protobuf?: boolean): Promise<CachedDocument> | undefined;
  /**
   * The whole answer for a path (`/openapi/v2`, `/openapi/v3`, `/openapi/v3/apis/apps/v1`); undefined for paths without
   * a document. 406 when `accepts` allows neither JSON nor a protobuf form that exists.
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
  /** By the name of the document: those of servers that have version 2 alone. */
  onlyV2?(): Readonly<Record<string, JsonObject>>;
}

interface CustomOpenApi {
  others?: OtherDocuments;
  /** Those that are on. */
  gates?: FeatureGates;
  /** Schemas of kinds that are not built in, in the form of this version. */
  v2?: Definitions;
  v3?: Definitions;
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
  own: Steps<DocumentMaps>,
  others: readonly JsonObject[],
): Steps<DocumentMaps> {
  const document = yield* own;
  for (const other of others) {
    addDocument(document, other);
    yield;
  }
  return document;
}

const yearMs = 31_536_000_000;

class Service implements OpenApiService {
  readonly #catalogue: Catalogue;
  readonly #custom: CustomOpenApi;
  readonly #gates: FeatureGates;
  readonly #pause: Pause;
  readonly #made = new Map<string, Promise<CachedDocument>>();
  /** Names of documents that were made of others' version 2. */
  readonly #upgraded = new Set<string>();
  readonly #json = jsonFragments();
  readonly #gnostic = gnosticFragments();
  readonly #third = new V3Fragments(jsonForm);
  readonly #thirdProtobuf = new V3Fragments(protobufForm);
  readonly #v2Definitions: Definitions;
  readonly #v3Definitions: Definitions;
  readonly #v3Roots = builtinDefinitions(3);

  constructor(catalogue: Catalogue, custom: CustomOpenApi) {
    this.#catalogue = catalogue;
    this.#custom = custom;
    this.#gates = custom.gates ?? {};
    this.#pause = custom.pause ?? (() => undefined);
    const builtin = builtinDefinitions(2);
    this.#v2Definitions = (name) => custom.v2?.(name) ?? builtin(name);
    this.#v3Definitions = (name) => custom.v3?.(name) ?? this.#v3Roots(name);
  }

  invalidate(changed?: readonly GroupVersion[]): void {
    if (!changed) {
      this.#made.clear();
      return;
    }
    for (const name of ["v2", "v2 protobuf", "v3"]) this.#made.delete(name);
    this.#forgetV3("apis");
    for (const name of this.#upgraded) this.#forgetV3(name);
    this.#upgraded.clear();
    for (const groupVersion of changed) {
      this.#forgetV3(documentName(groupVersion));
      this.#forgetV3(`apis/${groupVersion.group}`);
    }
  }

  #forgetV3(name: string): void {
    this.#made.delete(`v3/${name}`);
    this.#made.delete(`v3/${name} protobuf`);
  }

  async #paced<T>(steps: Steps<T>): Promise<T> {
    await loadDescriptions();
    return paced(steps, this.#pause);
  }

  /** Made once, also for those who ask meanwhile. */
  #cached(
    name: string,
    contentType: string,
    make: () => Promise<readonly Fragment[]>,
  ): Promise<CachedDocument> {
    let document = this.#made.get(name);
    if (!document) {
      document = make().then((fragments) => documentOf(fragments, contentType));
      this.#made.set(name, document);
      document.catch(() => this.#made.delete(name));
    }
    return document;
  }

  v2(protobuf: boolean): Promise<CachedDocument> {
    const fragments = protobuf ? this.#gnostic : this.#json;
    const others = this.#custom.others?.v2() ?? [];
    const write = protobuf ? writeProtobuf : writeJson;
    return this.#cached(
      protobuf ? "v2 protobuf" : "v2",
      contentTypeOf(2, protobuf),
      () => {
        const own = openApiV2(
          this.#catalogue,
          this.#v2Definitions,
          this.#gates,
          fragments,
        );
        return this.#paced(written(withOthers(own, others), write));
      },
    );
  }

  v3Index(): Promise<CachedDocument> {
    const roots = this.#roots();
    const names = new Set([
      ...Object.keys(this.#custom.others?.v3() ?? {}),
      ...Object.keys(this.#custom.others?.onlyV2?.() ?? {}),
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
      return [new Fragment(JSON.stringify({ paths }))];
    });
  }

  v3(name: string, protobuf = false): Promise<CachedDocument> | undefined {
    const json = this.#v3(name, this.#roots());
    return protobuf && json ? this.#v3Protobuf(name, json) : json;
  }

  /** With the tag of the one in JSON, as the index names both by it. */
  #v3Protobuf(
    name: string,
    json: Promise<CachedDocument>,
  ): Promise<CachedDocument> | undefined {
    const fragments = this.#thirdProtobuf;
    const key = `v3/${name} protobuf`;
    const known = this.#made.get(key);
    if (known) return known;
    const made =
      this.#roots(fragments).get(name)?.() ?? this.#v3Steps(name, fragments);
    if (!made) return undefined;
    const document = Promise.all([this.#paced(made), json]).then(
      ([written, { hash, made: at }]) => ({
        body: written.map(({ bytes }) => bytes),
        contentType: contentTypeOf(3, true),
        hash,
        made: at,
      }),
    );
    this.#made.set(key, document);
    document.catch(() => this.#made.delete(key));
    return document;
  }

  #roots(fragments = this.#third): ReturnType<typeof rootDocuments> {
    return rootDocuments(this.#catalogue, this.#v3Roots, fragments);
  }

  #v3(
    name: string,
    roots: ReturnType<typeof rootDocuments>,
  ): Promise<CachedDocument> | undefined {
    const known = this.#made.get(`v3/${name}`);
    if (known) return known;
    const made = roots.get(name)?.() ?? this.#v3Steps(name);
    return (
      made && this.#cached(`v3/${name}`, JSON_TYPE, () => this.#paced(made))
    );
  }

  #v3Steps(
    name: string,
    fragments = this.#third,
  ): Steps<Fragment[]> | undefined {
    const found = this.#catalogue
      .groupVersions()
      .find((groupVersion) => documentName(groupVersion) === name);
    if (!found) return this.#upgradedSteps(name, fragments);
    return openApiV3(
      this.#catalogue,
      found,
      this.#v3Definitions,
      this.#gates,
      fragments,
    );
  }

  #upgradedSteps(
    name: string,
    { written: form }: V3Fragments,
  ): Steps<Fragment[]> | undefined {
    const others = this.#custom.others?.onlyV2?.() ?? {};
    const document = Object.hasOwn(others, name) ? others[name] : undefined;
    if (!document) return undefined;
    this.#upgraded.add(name);
    return upgraded(document, form);
  }

  async answer(
    path: string,
    { accepts, hash, ifNoneMatch, acceptsGzip = false }: OpenApiRequest,
  ): Promise<OpenApiAnswer | undefined> {
    const name = path.replace(/^\/openapi\//, "");
    const v2 = name === "v2";
    if (name === "v3")
      return {
        status: 200,
        // Sniffed, not declared, in the reference.
        headers: { "Content-Type": "text/plain; charset=utf-8" },
        body: (await this.v3Index()).body,
      };
    const protobuf = takesProtobuf(v2 ? 2 : 3, accepts);
    const found = v2
      ? await this.v2(protobuf ?? false)
      : name.startsWith("v3/")
        ? await this.v3(name.slice(3), protobuf)
        : undefined;
    if (!found) return undefined;
    const empty: Body = [];
    const headers: Record<string, string> = {
      Vary: v2 ? "Accept-Encoding, Accept" : "Accept",
    };
    if (protobuf === undefined) return { status: 406, headers, body: empty };
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
    if (!v2 || !acceptsGzip) return { status: 200, headers, body: found.body };
    headers["Content-Encoding"] = "gzip";
    found.gzipped ??= compress(found.body);
    return { status: 200, headers, body: await found.gzipped };
  }
}

function documentOf(
  fragments: readonly Fragment[],
  contentType: string,
): CachedDocument {
  const hash = createHash("sha512");
  for (const { digest } of fragments) hash.update(digest);
  return {
    body: fragments.map(({ bytes }) => bytes),
    contentType,
    hash: hash.digest("hex").toUpperCase(),
    made: new Date(),
  };
}

/** Piece by piece on another thread. */
async function compress(body: Body): Promise<Body> {
  const stream = Readable.from(pieces(body)).pipe(createGzip({ level: 1 }));
  const compressed: Uint8Array[] = [];
  for await (const bytes of stream) compressed.push(bytes as Uint8Array);
  return compressed;
}

function* written(
  maps: Steps<DocumentMaps>,
  write: (maps: DocumentMaps) => Steps<Fragment[]>,
): Steps<Fragment[]> {
  return yield* write(yield* maps);
}
