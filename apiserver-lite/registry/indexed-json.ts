// The form of values in the local engines: the JSON that readers get, a newline, and a line of what the cache needs of the
// object without parsing it, so that a start on a large state parses no object:
//
//   {"kind":"Pod","apiVersion":"v1","metadata":{…}}\n[1,7,{"app":"a"},{"spec.nodeName":"n1"}]\n
//
// The line holds its version, the revision the JSON was made for, the labels, and the selectable fields. The JSON holds no
// raw newline. Values without such a line, or with that of another revision (restored into another store) or version, are
// parsed.
import { encodeWith } from "../../api/codec/object-text.ts";
import type { AnyObject } from "../../api/object.ts";
import { endOfObject } from "../../api/codec/object-end.ts";
import {
  noFields,
  type Fields,
  type SharedFields,
} from "../cache/shared-fields.ts";
import type { TextBlocks } from "./text-blocks.ts";

interface IndexedJson {
  /** For readers: with its newline, without the index. Shares its memory with the value. */
  readonly json: Buffer;
  readonly labels: Fields;
  readonly fields: Fields;
}

/** To be raised when what a selectable field says of an object changes; other field names are noticed by themselves. */
const VERSION = 1;
const NEWLINE = 0x0a;
const BRACKET = 0x5b;
const BRACE = 0x7b;
const COMMA = 0x2c;
const END = "]\n";
/** Longer lines are not looked for: labels and fields are small. */
const MAX_INDEX_BYTES = 64 * 1024;

/** @param shared what `labels` and `fields` are taken from where it knows them @param blocks where small values are put */
export function encodeIndexed(
  object: AnyObject,
  revision: number,
  fields: Fields,
  shared: SharedFields,
  blocks: TextBlocks,
): { value: Buffer } & IndexedJson {
  const { labels = noFields } = object.metadata;
  const labelsText = JSON.stringify(labels);
  const fieldsText = JSON.stringify(fields);
  const index = `[${VERSION},${revision},${labelsText},${fieldsText}]\n`;
  const value = encodeWith(object, index, (text) => blocks.bytesOf(text));
  return {
    value,
    json: value.subarray(0, value.length - Buffer.byteLength(index)),
    labels: shared.of(labelsText, labels),
    fields: shared.of(fieldsText, fields),
  };
}

/** The JSON alone of a value with or without an index. */
export function withoutIndex(value: Uint8Array): Buffer {
  const bytes = asBuffer(value);
  const at = indexAt(bytes);
  return at < 0 ? bytes : bytes.subarray(0, at);
}

/** Undefined when the value has no index for this revision. */
export function decodeIndexed(
  value: Uint8Array,
  revision: number,
  shared: SharedFields,
): IndexedJson | undefined {
  const bytes = asBuffer(value);
  const at = indexAt(bytes);
  if (at < 0) return undefined;
  const head = `[${VERSION},${revision},`;
  const labelsAt = at + head.length;
  const labelsEnd = endOfObject(bytes, labelsAt);
  const fieldsAt = labelsEnd + 1;
  const fieldsEnd = endOfObject(bytes, fieldsAt);
  if (
    labelsEnd < 0 ||
    fieldsEnd !== bytes.length - END.length ||
    bytes[labelsAt] !== BRACE ||
    bytes[labelsEnd] !== COMMA ||
    bytes[fieldsAt] !== BRACE ||
    bytes.toString("latin1", at, labelsAt) !== head ||
    bytes.toString("latin1", fieldsEnd) !== END
  )
    return undefined;
  try {
    return {
      json: bytes.subarray(0, at),
      labels: shared.of(bytes.toString("utf8", labelsAt, labelsEnd)),
      fields: shared.of(bytes.toString("utf8", fieldsAt, fieldsEnd)),
    };
  } catch {
    return undefined;
  }
}

/** Where the line begins; -1 when there is none. */
function indexAt(bytes: Buffer): number {
  const { length } = bytes;
  if (length < 2 || bytes[length - 1] !== NEWLINE) return -1;
  const before = bytes.lastIndexOf(NEWLINE, length - 2);
  return before >= 0 &&
    length - before <= MAX_INDEX_BYTES &&
    bytes[before + 1] === BRACKET
    ? before + 1
    : -1;
}

function asBuffer(value: Uint8Array): Buffer {
  return Buffer.isBuffer(value)
    ? value
    : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
