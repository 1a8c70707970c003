// The wire encodings: how an object, a list of encoded objects and a watch event become bytes. JSON is always there;
// YAML, protobuf and CBOR load when first asked for.
import type { FormatName } from "./negotiation.ts";

export interface Format {
  readonly name: FormatName;
  /** Media type of a watch stream, given that of single answers. */
  streamType(contentType: string): string;
  encode(object: object): Buffer;
  /** The parts of a list; `items` were made by `encode`, `skip` is what JSON items leave out at their start. */
  list(
    kind: string,
    apiVersion: string,
    metadata: object,
    items: readonly Buffer[],
    skip: number,
  ): Uint8Array[];
  frame(type: string, object: Buffer): Buffer;
}

const comma = 0x2c;
const brace = 0x7b;
/** Parts of a list are joined up to about this size, so that memory stays bounded and writes stay few. */
const chunkBytes = 64 * 1024;
const jsonListEnd = Buffer.from("]}\n");
const frameEnd = Buffer.from("}\n");
const frameHeads = new Map<string, Buffer>(
  ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"].map((type) => [
    type,
    Buffer.from(`{"type":"${type}","object":`),
  ]),
);

export const jsonFormat: Format = {
  name: "json",
  streamType: (contentType) => contentType,
  encode: (object) => Buffer.from(`${JSON.stringify(object)}\n`),
  list(kind, apiVersion, metadata, items, skip) {
    const head = JSON.stringify({ kind, apiVersion, metadata, items: [] });
    const parts: Uint8Array[] = [];
    let chunk = Buffer.allocUnsafe(chunkBytes);
    let used = chunk.write(head.slice(0, -2));
    let first = true;
    for (const item of items) {
      // Each item is a comma and a brace, then what follows its kind and apiVersion, without the final newline.
      const bytes = item.length - skip + 1;
      if (used + bytes > chunk.length) {
        parts.push(chunk.subarray(0, used));
        chunk = Buffer.allocUnsafe(Math.max(chunkBytes, bytes));
        used = 0;
      }
      if (!first) chunk[used++] = comma;
      first = false;
      chunk[used++] = brace;
      used += item.copy(chunk, used, skip, item.length - 1);
    }
    parts.push(chunk.subarray(0, used), jsonListEnd);
    return parts;
  },
  frame: (type, object) =>
    Buffer.concat([
      frameHeads.get(type)!,
      object.subarray(0, object.length - 1),
      frameEnd,
    ]),
};

/** Encoders for the other formats, handed over by the composition or loaded on demand. */
export interface OtherFormats {
  yaml?: Format;
  protobuf?: Format;
  cbor?: Format;
}

export function formatNamed(name: FormatName, others: OtherFormats): Format {
  return name === "json" ? jsonFormat : (others[name] ?? jsonFormat);
}
