// Tables of entries: cells by the kind's strategy, and in each row what includeObject asks for. A row's cells are kept as a
// template, in which every answer writes the ages anew; its object is cut out of the entry's own bytes where it can be.
import { parseApiVersion, type AnyObject } from "../../api/object.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import type { DerivedBytes } from "../cache/derived-bytes.ts";
import {
  filledBytes,
  fillTemplate,
  rowTemplate,
} from "../printing/row-template.ts";
import { scaleRows } from "../printing/scale.ts";
import { cellsOf, columnsOf, type Cell } from "../printing/table.ts";
import type { Endpoint } from "../registry/endpoint.ts";
import { chunkBytes, itemsPerLook, type ListParts } from "./formats.ts";
import type { IncludeObject } from "./representation.ts";

interface TableHead {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: object;
  readonly columnDefinitions: readonly object[];
}

/** A row's object in JSON. */
interface RowObject {
  readonly before: Buffer;
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly behind: Buffer;
}

const nothing = Buffer.alloc(0);
const nullObject: RowObject = {
  before: nothing,
  bytes: Buffer.from("null"),
  start: 0,
  end: 4,
  behind: nothing,
};
const closingBrace = Buffer.from("}");

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
      object: this.#shown(this.endpoint.toServed(object)),
    };
  }

  /** Of an object that is not of the endpoint's kind: a subresource's. */
  valueTable(object: AnyObject): object {
    const { kind = "", apiVersion = "", metadata } = object;
    const { group } = parseApiVersion(apiVersion);
    const rows = kind === "Scale" ? scaleRows : {};
    const { resourceVersion } = metadata;
    return {
      kind: "Table",
      apiVersion: this.metaVersion,
      metadata: resourceVersion ? { resourceVersion } : {},
      columnDefinitions: columnsOf({ group, kind }, rows),
      rows: [
        {
          cells: cellsOf(rows, object, this.now()),
          object: this.#shown(object),
        },
      ],
    };
  }

  /** The table's JSON, from kept pieces. */
  *jsonParts(entries: readonly CacheEntry[], head: TableHead): ListParts {
    const now = this.now();
    const id = `cells|${this.endpoint.apiVersion}`;
    const { strategy, native, itemSkip } = this.endpoint;
    // Cells say nothing of managed fields.
    const template = (entry: CacheEntry): Buffer =>
      rowTemplate(strategy, native ? entry.lean(itemSkip) : entry.transient);
    const objectOf = this.#rowObjects();
    let chunk = Buffer.allocUnsafe(chunkBytes);
    let used = chunk.write(JSON.stringify({ ...head, rows: [] }).slice(0, -2));
    for (let index = 0; index < entries.length; index++) {
      const entry = entries[index]!;
      const cells = entry.encoding(this.derived, id, template);
      const { before, bytes, start, end, behind } = objectOf(entry);
      const around = before.length + behind.length + ",}".length;
      const most = filledBytes(cells) + around + end - start;
      if (used + most > chunk.length) {
        yield chunk.subarray(0, used);
        chunk = Buffer.allocUnsafe(Math.max(chunkBytes, most));
        used = 0;
      }
      if (index > 0) used += chunk.write(",", used, "latin1");
      used = fillTemplate(cells, now, chunk, used);
      used += before.copy(chunk, used);
      used += bytes.copy(chunk, used, start, end);
      used += behind.copy(chunk, used);
      used += closingBrace.copy(chunk, used);
      if (index % itemsPerLook === 0) yield undefined;
    }
    yield chunk.subarray(0, used);
    yield Buffer.from("]}\n");
  }

  #rowObjects(): (entry: CacheEntry) => RowObject {
    const { endpoint, include, metaVersion, derived } = this;
    if (include === "None") return () => nullObject;
    const id = `row|${include}|${metaVersion}|${endpoint.apiVersion}`;
    const encoded = (entry: CacheEntry): RowObject => {
      const bytes = entry.encoding(derived, id, ({ transient }) =>
        Buffer.from(
          JSON.stringify(
            this.#shown(endpoint.toServed(transient as AnyObject)),
          ),
        ),
      );
      return {
        before: nothing,
        bytes,
        start: 0,
        end: bytes.length,
        behind: nothing,
      };
    };
    if (!endpoint.native) return encoded;
    if (include === "Object")
      return ({ json }) => ({
        before: nothing,
        bytes: json,
        start: 0,
        end: json.length - 1,
        behind: nothing,
      });
    const start = endpoint.itemSkip;
    const before = Buffer.from(
      `${JSON.stringify({ kind: "PartialObjectMetadata", apiVersion: metaVersion }).slice(0, -1)},`,
    );
    return (entry) => {
      const end = entry.metadataEnd(start);
      return end < 0
        ? encoded(entry)
        : { before, bytes: entry.json, start, end, behind: closingBrace };
    };
  }

  head(metadata: object, columns = true): TableHead {
    return {
      kind: "Table",
      apiVersion: this.metaVersion,
      metadata,
      columnDefinitions: columns
        ? columnsOf(this.endpoint.info, this.endpoint.strategy)
        : [],
    };
  }

  #cells(object: AnyObject): Cell[] {
    return cellsOf(this.endpoint.strategy, object, this.now());
  }

  #shown(object: AnyObject): object | null {
    if (this.include === "None") return null;
    if (this.include === "Object") return object;
    return partialMetadata(object, this.metaVersion);
  }
}
