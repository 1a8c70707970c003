// Parses an entry's JSON without the documents of its managed fields, which are up to half of it: who makes other bytes of
// the object takes them as they stand.
import { RawJson } from "../../api/codec/raw-json.ts";
import type { AnyObject } from "../../api/object.ts";

const key = Buffer.from('"fieldsV1":');
const quote = 0x22;
const backslash = 0x5c;
const open = 0x7b;
const close = 0x7d;

/**
 * The object, in which each `fieldsV1` is a RawJson, a view into `json`.
 * @param metadataEnd where the metadata end in `json`, -1: unknown
 */
export function parseLean(json: Buffer, metadataEnd: number): AnyObject {
  const documents: RawJson[] = [];
  let text = "";
  let from = 0;
  // Text can't hold the key: its quotes would be escaped.
  for (
    let at = json.indexOf(key);
    at >= 0 && at < metadataEnd;
    at = json.indexOf(key, from)
  ) {
    const start = at + key.length;
    const end = json[start] === open ? endOfObject(json, start) : -1;
    if (end < 0) break;
    text += `${json.toString("utf8", from, start)}0`;
    documents.push(new RawJson(json.subarray(start, end)));
    from = end;
  }
  text += json.toString("utf8", from);
  const object = JSON.parse(text) as AnyObject;
  let next = 0;
  for (const entry of object.metadata.managedFields ?? [])
    if ((entry.fieldsV1 as unknown) === 0)
      entry.fieldsV1 = documents[next++] as never;
  return next === documents.length
    ? object
    : (JSON.parse(json.toString("utf8")) as AnyObject);
}

/** Behind the brace that closes the object that begins at `start`; -1 when there is none. */
export function endOfObject(json: Buffer, start: number): number {
  let at = start + 1;
  for (let depth = 1; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) {
      for (at++; json[at] !== quote; at++) if (json[at] === backslash) at++;
    } else if (byte === open) depth++;
    else if (byte === close && --depth === 0) return at + 1;
  }
  return -1;
}
