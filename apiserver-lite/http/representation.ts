// From what the registry gives to the bytes of an answer: an entry, a list, a watch event, in the negotiated format and
// shape. Bytes of an entry are made once per representation and kept with it; only a Table's cells (ages) are made anew.
import { internalTypeName } from "../../api/codec/value-type-names.ts";
import { aliasApiVersion, aliasDocument } from "../../api/dialect.ts";
import { errors } from "../../api/errors.ts";
import type { AnyObject } from "../../api/object.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import type { CacheEvent } from "../cache/history.ts";
import { encodeObject } from "../cache/watch-cache.ts";
import type { Endpoint } from "../registry/endpoint.ts";
import type { Listed } from "../registry/list.ts";
import type { WatchType } from "../registry/watch.ts";
import { chunkOf } from "./exchange.ts";
import type { Format } from "./formats.ts";
import type { Negotiated } from "./negotiation.ts";
import { partialMetadata, TableMaker } from "./table.ts";

export type IncludeObject = "None" | "Metadata" | "Object";

export interface RepresentationOptions {
  readonly negotiated: Negotiated;
  readonly format: Format;
  readonly endpoint: Endpoint;
  readonly pretty: boolean;
  readonly includeObject: IncludeObject;
  readonly nowMs: () => number;
  /** Asked for under an alias of the group: documents speak the specification's dialect. */
  readonly alias?: boolean;
}

export class Representation {
  readonly contentType: string;
  readonly #format: Format;
  readonly #endpoint: Endpoint;
  readonly #as: Negotiated["as"];
  readonly #metaVersion: string;
  readonly #pretty: boolean;
  readonly #id: string;
  readonly #frameIds: FrameIds;
  readonly #alias: boolean;
  #table: TableMaker | undefined;
  /** Of a watch: its columns have not been sent. */
  #firstTable: boolean;

  constructor(private readonly options: RepresentationOptions) {
    const { negotiated, format, endpoint, pretty } = options;
    this.contentType = negotiated.contentType;
    this.#format = format;
    this.#endpoint = endpoint;
    this.#as = negotiated.as;
    this.#firstTable = this.#as === "Table";
    this.#metaVersion = `${negotiated.alias ? "meta.orbit.io" : "meta.k8s.io"}/${negotiated.asVersion}`;
    this.#pretty = pretty && format.name === "json";
    this.#alias = options.alias ?? false;
    this.#id = `${format.name}|${this.#apiVersion}|${this.#as}|${this.#metaVersion}`;
    this.#frameIds = frameIdsOf(`${this.#id}|${options.includeObject}`);
  }

  /** Does the same state always give the same bytes? A Table holds ages. */
  get cacheable(): boolean {
    return this.#as !== "Table" && !this.#pretty;
  }

  get streamType(): string {
    return this.#format.streamType(this.contentType);
  }

  get #apiVersion(): string {
    const { apiVersion } = this.#endpoint;
    return this.#alias ? aliasApiVersion(apiVersion) : apiVersion;
  }

  /** One object. Throws ApiError 406 where a list was asked for. */
  entry(entry: CacheEntry): Buffer {
    this.#checkList(false);
    if (this.#as === "Table")
      return this.#finish(
        this.#tables().table([entry], {
          resourceVersion: String(entry.revision),
        }),
      );
    const bytes = this.#single(entry);
    return this.#pretty
      ? this.#finish(JSON.parse(bytes.toString()) as object)
      : bytes;
  }

  /** Any other object: a Status, which has no other shape, or a subresource's. Throws ApiError 406. */
  value(object: object): Buffer {
    const shown = (this.#alias ? aliasDocument(object) : object) as AnyObject;
    if (this.#as === "" || shown.kind === "Status") return this.#finish(shown);
    this.#checkList(false);
    return this.#finish(
      this.#as === "Table"
        ? this.#tables().valueTable(shown)
        : partialMetadata(shown, this.#metaVersion),
    );
  }

  /** Throws ApiError 406 where one object was asked for. */
  list(listed: Listed): Uint8Array[] {
    this.#checkList(true);
    const metadata = {
      ...(listed.revision > 0
        ? { resourceVersion: String(listed.revision) }
        : {}),
      ...(listed.continue ? { continue: listed.continue } : {}),
      ...(listed.remainingItemCount === undefined
        ? {}
        : { remainingItemCount: listed.remainingItemCount }),
    };
    if (this.#as === "Table") {
      const tables = this.#tables();
      if (this.#format.name !== "json" || this.#pretty)
        return [this.#finish(tables.table(listed.entries, metadata))];
      return tables.jsonParts(listed.entries, metadata);
    }
    const partial = this.#as !== "";
    const kind = partial
      ? "PartialObjectMetadataList"
      : `${this.#endpoint.info.kind}List`;
    const apiVersion = partial ? this.#metaVersion : this.#apiVersion;
    const items: Buffer[] = [];
    for (const entry of listed.entries) items.push(this.#single(entry));
    // Items of a partial list keep their kind, as in the reference.
    const skip = partial
      ? 1
      : this.#endpoint.itemSkip +
        apiVersion.length -
        this.#endpoint.apiVersion.length;
    const parts = this.#format.list(kind, apiVersion, metadata, items, skip);
    return this.#pretty
      ? [this.#finish(JSON.parse(Buffer.concat(parts).toString()) as object)]
      : parts;
  }

  /** The same as a chunk of HTTP/1.1. */
  chunk(type: WatchType, event: CacheEvent): Buffer {
    if (this.#firstTable) return chunkOf(this.event(type, event));
    const id = this.#frameIds.chunk[type];
    const frames = (event.frames ??= new Map<string, Buffer>());
    let chunk = frames.get(id);
    if (!chunk) {
      chunk = chunkOf(this.event(type, event));
      frames.set(id, chunk);
    }
    return chunk;
  }

  /** The watch event; shared by all watchers of this representation. */
  event(type: WatchType, event: CacheEvent): Buffer {
    if (this.#firstTable)
      return type === "DELETED"
        ? this.#deleted(event)
        : this.frame(type, event.entry!);
    const id = this.#frameIds.event[type];
    const frames = (event.frames ??= new Map<string, Buffer>());
    let frame = frames.get(id);
    if (!frame) {
      frame =
        type === "DELETED"
          ? this.#deleted(event)
          : this.frame(type, event.entry!);
      frames.set(id, frame);
    }
    return frame;
  }

  frame(type: string, entry: CacheEntry): Buffer {
    if (this.#as === "Table")
      return this.#tableFrame(type, entry.raw as AnyObject, entry.revision);
    return this.#format.frame(type, this.#single(entry));
  }

  bookmark(revision: number, initialEnd: boolean): Buffer {
    const metadata = {
      resourceVersion: String(revision),
      creationTimestamp: null,
      ...(initialEnd
        ? {
            annotations: {
              "k8s.io/initial-events-end": "true",
              "kubernetes.io/initial-events-list-blueprint":
                this.#emptyList().toString("base64"),
            },
          }
        : {}),
    };
    let object: object;
    if (this.#as === "Table")
      object = {
        ...this.#tables().tableOf(
          [],
          { resourceVersion: String(revision) },
          this.#firstTable,
        ),
        rows: [
          {
            cells: [],
            object: {
              kind: "PartialObjectMetadata",
              apiVersion: this.#metaVersion,
              metadata,
            },
          },
        ],
      };
    else if (this.#as !== "")
      object = {
        kind: "PartialObjectMetadata",
        apiVersion: this.#metaVersion,
        metadata,
      };
    else
      object = {
        kind: this.#endpoint.info.kind,
        apiVersion: this.#apiVersion,
        metadata,
      };
    this.#firstTable = false;
    return this.#format.frame("BOOKMARK", this.#format.encode(object));
  }

  /** What clients that stream a list decode first, so that the list they put together has the right kind. */
  #emptyList(): Buffer {
    return Buffer.concat(this.list({ entries: [], revision: 0 }));
  }

  error(status: object): Buffer {
    return this.#format.frame("ERROR", this.#format.encode(status));
  }

  #deleted(event: CacheEvent): Buffer {
    const last = event.previous!.copy();
    last.metadata.resourceVersion = String(event.revision);
    if (this.#as === "Table")
      return this.#tableFrame("DELETED", last, event.revision);
    return this.#format.frame("DELETED", this.#encodeOne(this.#served(last)));
  }

  /** Only the first table of a watch has columns. */
  #tableFrame(type: string, object: AnyObject, revision: number): Buffer {
    const columns = this.#firstTable;
    this.#firstTable = false;
    const table = this.#tables().tableOf(
      [object],
      { resourceVersion: String(revision) },
      columns,
    );
    return this.#format.frame(type, this.#format.encode(table));
  }

  #single(entry: CacheEntry): Buffer {
    if (
      this.#as === "" &&
      this.#format.name === "json" &&
      this.#endpoint.native &&
      !this.#alias
    )
      return entry.json;
    return entry.encoding(this.#id, (one) =>
      this.#encodeOne(this.#served(one.raw)),
    );
  }

  #encodeOne(object: AnyObject): Buffer {
    const shown =
      this.#as === "" ? object : partialMetadata(object, this.#metaVersion);
    return this.#format.name === "json"
      ? encodeObject(shown)
      : this.#format.encode(shown);
  }

  #served(object: Readonly<AnyObject>): AnyObject {
    const served = this.#endpoint.toServed(object as AnyObject);
    return this.#alias ? aliasDocument(served) : served;
  }

  #checkList(list: boolean): void {
    const problem =
      this.#as === "PartialObjectMetadata" && list
        ? "is a list"
        : this.#as === "PartialObjectMetadataList" && !list
          ? "is not a list"
          : undefined;
    const { group, kind } = this.#endpoint.info;
    if (problem)
      throw errors.notAcceptable(
        `you requested ${this.#as}, but the requested object ${problem} (*${internalTypeName(group, kind)}${list ? "List" : ""})`,
      );
  }

  #finish(object: object): Buffer {
    return this.#pretty
      ? Buffer.from(JSON.stringify(object, null, 2))
      : this.#format.encode(object);
  }

  #tables(): TableMaker {
    return (this.#table ??= new TableMaker(
      this.#endpoint,
      this.options.includeObject,
      this.#metaVersion,
      this.options.nowMs,
    ));
  }
}

interface FrameIds {
  readonly event: Readonly<Record<WatchType, string>>;
  readonly chunk: Readonly<Record<WatchType, string>>;
}

function frameIdsOf(id: string): FrameIds {
  const named = (prefix: string) => ({
    ADDED: `${prefix}ADDED|${id}`,
    MODIFIED: `${prefix}MODIFIED|${id}`,
    DELETED: `${prefix}DELETED|${id}`,
  });
  return { event: named(""), chunk: named("chunk|") };
}
