// Parses an entry's JSON without the documents of its managed fields, which are up to half of it, for readers that don't
// look at them.
import { endOfObject } from "../../api/codec/json-tape.ts";
import type { AnyObject } from "../../api/object.ts";

const key = Buffer.from('"fieldsV1":');
const open = 0x7b;

/**
 * The object, in which each `fieldsV1` is empty.
 * @param metadataEnd where the metadata end in `json`, -1: unknown
 */
export function parseLean(json: Buffer, metadataEnd: number): AnyObject {
  let text = "";
  let from = 0;
  // Text can't hold the key: its quotes would be escaped. Nothing else in metadata has that name and is an object.
  for (
    let at = json.indexOf(key);
    at >= 0 && at < metadataEnd;
    at = json.indexOf(key, from)
  ) {
    const start = at + key.length;
    const end = json[start] === open ? endOfObject(json, start) : -1;
    if (end < 0) break;
    text += `${json.toString("utf8", from, start)}{}`;
    from = end;
  }
  text += json.toString("utf8", from);
  return JSON.parse(text) as AnyObject;
}
