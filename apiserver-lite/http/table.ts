// Tables of entries: cells by the kind's strategy, and in each row what includeObject asks for. The JSON of a row's
// metadata is kept with the entry; cells hold ages and are made anew for every answer.
import { parseApiVersion, type AnyObject } from "../../api/object.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import { scaleRows } from "../printing/scale.ts";
import { cellsOf, columnsOf, type Cell } from "../printing/table.ts";
import type { Endpoint } from "../registry/endpoint.ts";
import type { IncludeObject } from "./representation.ts";

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
  ) {}

  table(entries: readonly CacheEntry[], metadata: object): object {
    return this.tableOf(
      entries.map((entry) => entry.raw as AnyObject),
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
      ...this.#head(metadata, columns),
      rows: objects.map((object) => ({
        cells: this.#cells(object),
        object: this.#shown(this.endpoint.toServed(object)),
      })),
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
  jsonParts(entries: readonly CacheEntry[], metadata: object): Buffer[] {
    const parts: Buffer[] = [];
    let text = `${JSON.stringify({ ...this.#head(metadata), rows: [] }).slice(0, -2)}`;
    const id = `row|${this.include}|${this.metaVersion}|${this.endpoint.apiVersion}`;
    let first = true;
    for (const entry of entries) {
      const cells = this.#cells(entry.raw as AnyObject);
      text += `${first ? "" : ","}{"cells":${JSON.stringify(cells)},"object":`;
      first = false;
      if (this.include === "None") text += "null}";
      else {
        const object = entry.encoding(id, (one) =>
          Buffer.from(
            JSON.stringify(
              this.#shown(this.endpoint.toServed(one.raw as AnyObject)),
            ),
          ),
        );
        parts.push(Buffer.from(text), object);
        text = "}";
      }
    }
    parts.push(Buffer.from(`${text}]}\n`));
    return joined(parts);
  }

  #head(metadata: object, columns = true): object {
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

/** Small pieces joined to chunks of about 64 KiB. */
function joined(parts: readonly Buffer[]): Buffer[] {
  const chunks: Buffer[] = [];
  let pending: Buffer[] = [];
  let bytes = 0;
  for (const part of parts) {
    pending.push(part);
    bytes += part.length;
    if (bytes < 65536) continue;
    chunks.push(Buffer.concat(pending, bytes));
    pending = [];
    bytes = 0;
  }
  chunks.push(Buffer.concat(pending, bytes));
  return chunks;
}
