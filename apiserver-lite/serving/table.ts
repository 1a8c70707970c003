// Tables of entries: cells by the kind's strategy, and in each row what includeObject asks for. A row's cells are kept as
// a template, into which every answer writes the ages; its object is cut out of the entry's own bytes where it can be.
import { stringified } from "../../api/escaped-json.ts";
import { parseApiVersion, type AnyObject } from "../../api/object.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import type { DerivedBytes } from "../cache/derived-bytes.ts";
import { fillTemplate, rowTemplate } from "../printing/row-template.ts";
import { scaleRows } from "../printing/scale.ts";
import { printerOf, type Cell } from "../printing/table.ts";
import type { Endpoint } from "../registry/endpoint.ts";
import type { ChunkPool } from "./chunk-pool.ts";
import { itemsPerLook, type ListParts } from "./formats.ts";

export type IncludeObject = "None" | "Metadata" | "Object";

interface TableHead {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: object;
  readonly columnDefinitions: readonly object[];
}

/** How the JSON of a row's object is put together. */
interface RowObjects {
  /** What begins each object, and the braces that end it and its row. */
  readonly before: string;
  readonly behind: string;
  /** What is between: cut out of the entry's own bytes where that can be. */
  bytes(entry: CacheEntry): Uint8Array;
}

const nothing = Buffer.alloc(0);
const comma = 0x2c;
const closingBrace = 0x7d;

export function partialMetadata(
  object: Readonly<AnyObject>,
  metaVersion: string,
): AnyObject {
  return {
    kind: "PartialObjectMetadata",
    apiVersion: metaVersion,
    metadata: object.metadata,
  };
}

export class TableMaker {
  constructor(
    private readonly endpoint: Endpoint,
    private readonly include: IncludeObject,
    private readonly metaVersion: string,
    private readonly now: () => number,
    private readonly derived: DerivedBytes,
  ) {}

  table(entries: readonly CacheEntry[], metadata: object): object {
    return this.tableOf(
      entries.map((entry) => entry.transient as AnyObject),
      metadata,
    );
  }

  /** `objects` in the stored version. `columns`: false for the frames of a watch after the first. */
  tableOf(
    objects: readonly AnyObject[],
    metadata: object,
    columns = true,
  ): object {
    return {
      ...this.head(metadata, columns),
      rows: objects.map((object) => this.row(object)),
    };
  }

  /** @param object in the stored version */
  row(object: AnyObject): object {
    return {
      cells: this.#cells(object),
      object: this.#shown(this.endpoint.show(object)),
    };
  }

  entryRow(entry: CacheEntry): object {
    return this.row(entry.transient as AnyObject);
  }

  /** Of an object that is not of the endpoint's kind: a subresource's. */
  valueTable(object: AnyObject): object {
    const { kind = "", apiVersion = "", metadata } = object;
    const { group } = parseApiVersion(apiVersion);
    const printer = printerOf(
      { group, kind },
      kind === "Scale" ? scaleRows : {},
    );
    const { resourceVersion } = metadata;
    return {
      kind: "Table",
      apiVersion: this.metaVersion,
      metadata: resourceVersion ? { resourceVersion } : {},
      columnDefinitions: printer.columns,
      rows: [
        {
          cells: printer.cells(object, this.now()),
          object: this.#shown(object),
        },
      ],
    };
  }

  /** A page's entries in the order of their rows. */
  ordered(entries: readonly CacheEntry[]): readonly CacheEntry[] {
    const { printer } = this.endpoint;
    if (!printer.compare) return entries;
    return entries
      .map((entry) => ({ entry, object: entry.transient as AnyObject }))
      .sort((one, other) => printer.compare!(one.object, other.object))
      .map(({ entry }) => entry);
  }

  /** The table's JSON, from kept pieces. */
  *jsonParts(
    entries: readonly CacheEntry[],
    head: TableHead,
    pool: ChunkPool,
  ): ListParts {
    const now = this.now();
    const { printer, asIs, itemSkip, apiVersion } = this.endpoint;
    const objects = this.#rowObjects();
    const { before, behind } = objects;
    const id = `cells|${apiVersion}|${before}`;
    // Cells say nothing of managed fields.
    const template = (entry: CacheEntry): Buffer =>
      rowTemplate(
        printer,
        asIs ? entry.lean(itemSkip, printer.projection) : entry.transient,
        before,
      );
    let chunk = pool.take();
    let used = chunk.write(JSON.stringify({ ...head, rows: [] }).slice(0, -2));
    for (let index = 0; index < entries.length; index++) {
      const entry = entries[index]!;
      const cells = entry.encoding(this.derived, id, template);
      const bytes = objects.bytes(entry);
      const most = 1 + cells.length + bytes.length + behind.length;
      if (used + most > chunk.length) {
        yield chunk.subarray(0, used);
        chunk = pool.take(most);
        used = 0;
      }
      if (index > 0) chunk[used++] = comma;
      used = fillTemplate(cells, now, chunk, used);
      chunk.set(bytes, used);
      used += bytes.length;
      for (let brace = 0; brace < behind.length; brace++)
        chunk[used++] = closingBrace;
      if (index % itemsPerLook === 0) yield undefined;
    }
    yield chunk.subarray(0, used);
    yield Buffer.from("]}\n");
  }

  #rowObjects(): RowObjects {
    const { endpoint, include, metaVersion, derived } = this;
    if (include === "None")
      return { before: "null", behind: "}", bytes: () => nothing };
    if (endpoint.asIs && include === "Object")
      return {
        before: "",
        behind: "}",
        bytes: (entry) => entry.slice(0, entry.bytes - 1),
      };
    const { itemSkip, asIs } = endpoint;
    const id = `row|${include}|${metaVersion}|${endpoint.apiVersion}`;
    const encoded = (entry: CacheEntry): Buffer =>
      entry.encoding(derived, id, ({ transient }) =>
        Buffer.from(
          stringified(this.#shown(endpoint.show(transient as AnyObject))),
        ),
      );
    if (!asIs || include === "Object")
      return { before: "", behind: "}", bytes: encoded };
    const before = `${JSON.stringify({ kind: "PartialObjectMetadata", apiVersion: metaVersion }).slice(0, -1)},`;
    return {
      before,
      behind: "}}",
      bytes: (entry) => {
        const end = entry.metadataEnd(itemSkip);
        return end > 0
          ? entry.slice(itemSkip, end)
          : encoded(entry).subarray(before.length, -"}".length);
      },
    };
  }

  head(metadata: object, columns = true): TableHead {
    return {
      kind: "Table",
      apiVersion: this.metaVersion,
      metadata,
      columnDefinitions: columns ? this.endpoint.printer.columns : [],
    };
  }

  #cells(object: AnyObject): Cell[] {
    return this.endpoint.printer.cells(object, this.now());
  }

  #shown(object: AnyObject): object | null {
    if (this.include === "None") return null;
    if (this.include === "Object") return object;
    return partialMetadata(object, this.metaVersion);
  }
}
