// Where the metadata end in an entry's JSON, and the object without the documents of its managed fields, which are up to
// half of it, for readers that do not look at them. Both come from one pass over the bytes of the metadata, which skips
// documents that it has seen before.
//
// Relies on the JSON being what JSON.stringify writes: no white space between tokens.
import { documentOffset, KnownDocuments } from "../../api/codec/object-end.ts";
import type { AnyObject } from "../../api/object.ts";

const metadataKey = Buffer.from('"metadata":{');
const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;

const known = new KnownDocuments();

/**
 * Behind the metadata that begin at `start` with `"metadata":{`; -1 when they are not there.
 * @param documents is given the start and the end of each `fieldsV1` that is an object
 */
export function endOfMetadata(
  json: Buffer,
  start: number,
  documents?: number[],
): number {
  const { length } = json;
  let at = start + metadataKey.length;
  if (at > length || metadataKey.compare(json, start, at) !== 0) return -1;
  for (let depth = 1; at < length; at++) {
    const byte = json[at];
    if (byte === quote) {
      const end = known.behindKey(json, at, length);
      if (end > 0) {
        documents?.push(at + documentOffset, end);
        at = end - 1;
        continue;
      }
      for (at++; at < length && json[at] !== quote; at++)
        if (json[at] === backslash) at++;
    } else if (byte === openBrace) depth++;
    else if (byte === closeBrace && --depth === 0) return at + 1;
  }
  return -1;
}

/**
 * The object, in which each document is empty.
 * @param documents their starts and ends, see `endOfMetadata`
 */
export function parseWithout(
  json: Buffer,
  documents: readonly number[],
): AnyObject {
  let text = "";
  let from = 0;
  for (let index = 0; index < documents.length; index += 2) {
    text += `${json.toString("utf8", from, documents[index])}{}`;
    from = documents[index + 1]!;
  }
  return JSON.parse(text + json.toString("utf8", from)) as AnyObject;
}
