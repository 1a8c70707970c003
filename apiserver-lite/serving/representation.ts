// From what the registry gives to the bytes of an answer: an entry, a list, a watch event, in the negotiated format and
// shape. An entry's bytes are made once per representation and kept while there is room; only ages in Tables are new.
import { internalTypeName } from "../../api/codec/value-type-names.ts";
import { aliasApiVersion, aliasDocument } from "../../api/dialect.ts";
import { errors } from "../../api/errors.ts";
import { stringified } from "../../api/escaped-json.ts";
import type { AnyObject } from "../../api/object.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import type { DerivedBytes } from "../cache/derived-bytes.ts";
import type { CacheEvent } from "../cache/history.ts";
import { encodeObject } from "../../api/codec/object-text.ts";
import type { Endpoint } from "../registry/endpoint.ts";
import type { Listed } from "../registry/verbs/list.ts";
import { listMetadata } from "../registry/verbs/list-metadata.ts";
import type { WatchType } from "../registry/verbs/watch.ts";
import type { ChunkPool } from "./chunk-pool.ts";
import { chunkOf } from "../../http-kit/exchange.ts";
import { frameIdsOf, type FrameIds } from "./frame-ids.ts";
import {
  joined,
  piecesOf,
  jsonListParts,
  prettyListParts,
  type Format,
  type JsonPieces,
  type ListItems,
  type ListParts,
} from "./formats.ts";
import type { Negotiated } from "./negotiation.ts";
import { partialMetadata, TableMaker, type IncludeObject } from "./table.ts";

interface RepresentationOptions {
  readonly negotiated: Negotiated;
  readonly format: Format;
  readonly endpoint: Endpoint;
  readonly pretty: boolean;
  readonly includeObject: IncludeObject;
  readonly nowMs: () => number;
  readonly derived: DerivedBytes;
  readonly pool: ChunkPool;
  /** Asked for under an alias of the group: documents speak the specification's dialect. */
  readonly alias?: boolean;
}

/** A list that is made while it is sent. */
interface EncodedList {
  /** Of all parts, when it is known before they are made. */
  readonly bytes: number | undefined;
  readonly parts: ListParts;
}

/** Of longer lists it is not said how many bytes they have: adding these up takes its time as well. */
const maxCounted = 2048;
const brace = Buffer.from("{");
const closingBrace = Buffer.from("}");
const nothing = Buffer.alloc(0);

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

  /** The kind's, where one state always gives the same bytes; undefined elsewhere: a Table holds ages. */
  get cacheId(): number | undefined {
    const changes = this.#as === "Table" || this.#pretty;
    return changes ? undefined : this.#endpoint.kindNumber;
  }

  /** Does what a frame holds depend on those before it? The first table of a watch has the columns. */
  get ordered(): boolean {
    return this.#as === "Table";
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

  /** Throws ApiError 406 where one object was asked for, unless it is the blueprint of a list in a bookmark. */
  list(listed: Listed, blueprint = false): EncodedList {
    if (!blueprint) this.#checkList(true);
    const metadata = listMetadata(listed, this.#endpoint.custom && !this.#as);
    if (this.#as === "Table") {
      const tables = this.#tables();
      const entries = tables.ordered(listed.entries);
      const head = tables.head(metadata);
      if (this.#format.name === "json" && !this.#pretty)
        return {
          bytes: undefined,
          parts: tables.jsonParts(entries, head, this.options.pool),
        };
      const row = (index: number): object => tables.entryRow(entries[index]!);
      return {
        bytes: undefined,
        parts: this.#listParts(head, "rows", {
          count: entries.length,
          object: row,
          bytes: (index) => this.#format.encode(row(index)),
          length: () => undefined,
        }),
      };
    }
    const { entries } = listed;
    const kind = this.#partial
      ? "PartialObjectMetadataList"
      : this.#endpoint.listKind;
    const apiVersion = this.#partial ? this.#metaVersion : this.#apiVersion;
    const head = { kind, apiVersion, metadata };
    if (this.#format.name !== "json" || this.#pretty)
      return {
        bytes: undefined,
        parts: this.#listParts(head, "items", this.#items(entries)),
      };
    return {
      bytes:
        this.#ready && entries.length <= maxCounted
          ? this.#listBytes(head, entries)
          : undefined,
      parts: jsonListParts(head, this.#pieces(entries), this.options.pool),
    };
  }

  get #partial(): boolean {
    return this.#as !== "" && this.#as !== "Table";
  }

  /** The entry's own bytes are those of the answer. */
  get #ready(): boolean {
    return (
      this.#as === "" &&
      this.#format.name === "json" &&
      this.#endpoint.asIs &&
      !this.#alias
    );
  }

  #listBytes(head: object, entries: readonly CacheEntry[]): number {
    // Of the brace, the comma and the newline of each item's bytes, the first two stay; the first item has no comma.
    let bytes = Buffer.byteLength(JSON.stringify({ ...head, items: [] })) + 1;
    const less = this.#endpoint.itemStart(this.#apiVersion) - 1;
    for (const entry of entries) bytes += entry.bytes - less;
    return entries.length === 0 ? bytes : bytes - 1;
  }

  #listParts(
    head: { kind: string; apiVersion: string; metadata: object },
    field: "items" | "rows",
    items: ListItems,
  ): ListParts {
    const { pool } = this.options;
    return this.#pretty
      ? prettyListParts(head, field, items.count, items.object, pool)
      : this.#format.list(head, field, items, pool);
  }

  #items(entries: readonly CacheEntry[]): ListItems {
    return {
      count: entries.length,
      bytes: (index) => this.#single(entries[index]!),
      fresh: (index) => this.#encodeOne(entries[index]!.transient as AnyObject),
      length: (index) => entries[index]!.encodedLength(this.#id),
      object: (index) => {
        const shown = this.#shown(entries[index]!.transient as AnyObject);
        if (this.#partial || this.#endpoint.custom) return shown;
        const { kind: _, apiVersion: __, ...rest } = shown;
        return rest;
      },
    };
  }

  /** What of each entry's bytes a JSON list shows. */
  #pieces(entries: readonly CacheEntry[]): JsonPieces {
    const { itemSkip } = this.#endpoint;
    const count = entries.length;
    if (!this.#partial) {
      // Each item is a brace, then what follows its kind and apiVersion, without the final newline.
      const start = this.#endpoint.itemStart(this.#apiVersion);
      return {
        count,
        before: brace,
        behind: nothing,
        ready: this.#ready,
        piece: (index) => {
          const entry = entries[index]!;
          if (this.#ready) return entry.slice(start, entry.bytes - 1);
          const bytes = this.#single(entry);
          return bytes.subarray(start, bytes.length - 1);
        },
      };
    }
    // Items of a partial list keep their kind, as in the reference; their metadata are part of the entry's own bytes.
    const before = Buffer.from(
      `${JSON.stringify({ kind: "PartialObjectMetadata", apiVersion: this.#metaVersion }).slice(0, -1)},`,
    );
    const cut = this.#endpoint.asIs && !this.#alias;
    return {
      count,
      before,
      behind: closingBrace,
      ready: false,
      piece: (index) => {
        const entry = entries[index]!;
        const end = cut ? entry.metadataEnd(itemSkip) : -1;
        if (end >= 0) return entry.slice(itemSkip, end);
        const bytes = this.#single(entry);
        return bytes.subarray(before.length, bytes.length - "}\n".length);
      },
    };
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
    if (this.#firstTable) return this.pastFrame(type, event);
    const id = this.#frameIds.event[type];
    const frames = (event.frames ??= new Map<string, Buffer>());
    let frame = frames.get(id);
    if (!frame) {
      frame = this.pastFrame(type, event);
      frames.set(id, frame);
    }
    return frame;
  }

  frame(type: string, entry: CacheEntry): Buffer {
    if (this.#as === "Table")
      return this.#tableFrame(
        type,
        entry.transient as AnyObject,
        entry.revision,
      );
    return this.#format.frame(type, this.#single(entry));
  }

  /** The state a watch begins with, as ADDED events joined to chunks. */
  initialFrames(
    entries: readonly CacheEntry[],
    selected: (entry: CacheEntry) => boolean,
  ): ListParts {
    // Cut out of the entries where they are the answer's.
    const around = this.#ready ? this.#format.around?.("ADDED") : undefined;
    const pieces = (entry: CacheEntry): readonly Uint8Array[] | undefined => {
      if (!selected(entry)) return undefined;
      return around
        ? [around[0], entry.slice(0, entry.bytes - 1), around[1]]
        : [this.frame("ADDED", entry)];
    };
    return joined(piecesOf(entries, pieces), this.options.pool);
  }

  /** An event for one watcher that comes later: not kept for others. */
  pastFrame(type: WatchType, event: CacheEvent): Buffer {
    return type === "DELETED"
      ? this.#deleted(event)
      : this.frame(type, event.entry!);
  }

  /** The events a watch begins with, joined to chunks. */
  pastFrames(
    events: readonly CacheEvent[],
    typeOf: (event: CacheEvent) => WatchType | undefined,
  ): ListParts {
    const pieces = (event: CacheEvent): readonly Uint8Array[] | undefined => {
      const type = typeOf(event);
      return type && [this.pastFrame(type, event)];
    };
    return joined(piecesOf(events, pieces), this.options.pool);
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
    const parts = [...this.list({ entries: [], revision: 0 }, true).parts];
    return Buffer.concat(parts.filter((part) => part !== undefined));
  }

  error(status: object): Buffer {
    return this.#format.frame("ERROR", this.#format.encode(status));
  }

  #deleted(event: CacheEvent): Buffer {
    const last = event.previous!.copy();
    last.metadata.resourceVersion = String(event.revision);
    if (this.#as === "Table")
      return this.#tableFrame("DELETED", last, event.revision);
    return this.#format.frame("DELETED", this.#encodeOne(last));
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
    if (this.#ready) return entry.json;
    return entry.encoding(this.options.derived, this.#id, this.#encodeEntry);
  }

  readonly #encodeEntry = (entry: CacheEntry): Buffer => {
    const { transcode } = this.#format;
    const { native, apiVersion, info } = this.#endpoint;
    return transcode && native && this.#as === "" && !this.#alias
      ? transcode(entry.json, apiVersion, info.kind)
      : this.#encodeOne(entry.transient as AnyObject);
  };

  /** @param object in the stored version */
  #encodeOne(object: AnyObject): Buffer {
    const shown = this.#shown(object);
    return this.#format.name === "json"
      ? encodeObject(shown)
      : this.#format.encode(shown);
  }

  #shown(object: AnyObject): AnyObject {
    const served = this.#served(object);
    return this.#as === ""
      ? served
      : partialMetadata(served, this.#metaVersion);
  }

  #served(object: Readonly<AnyObject>): AnyObject {
    const served = this.#endpoint.show(object as AnyObject);
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
    if (this.#pretty) return Buffer.from(stringified(object, 2));
    return this.#format.encode(object);
  }

  #tables(): TableMaker {
    return (this.#table ??= new TableMaker(
      this.#endpoint,
      this.options.includeObject,
      this.#metaVersion,
      this.options.nowMs,
      this.options.derived,
    ));
  }
}
