// The JSON text of an object as it is stored and served: kind, apiVersion and metadata come first, and the documents of
// managed fields, which are up to half of a small object, come from texts that were made once for all objects that share
// them (api/patch/field-set.ts). Of a large object all but the other metadata can be printed before, in steps.
import { stringified } from "../escaped-json.ts";
import type { AnyObject } from "../object.ts";
import { documentText } from "../patch/field-set.ts";
import type { Steps } from "../queueing/steps.ts";
import type { ManagedFieldsEntry } from "../types/meta-v1.ts";

/** JSON as Go writes it, with kind and apiVersion first, and a newline at the end; no other newline is in it. */
export function objectText(object: AnyObject): string {
  const entries = object.metadata?.managedFields;
  if (!entries || entries.length === 0) {
    const { kind, apiVersion, metadata, ...rest } = object;
    return `${stringified({ kind, apiVersion, metadata, ...rest })}\n`;
  }
  return headOf(object) + entries.map(entryText).join() + tailOf(object);
}

/** What comes before the managed fields. */
function headOf({ kind, apiVersion, metadata }: AnyObject): string {
  const others = { ...metadata, managedFields: undefined };
  const head = stringified({ kind, apiVersion, metadata: others });
  return `${head.slice(0, -2)}${head.endsWith("{}}") ? "" : ","}"managedFields":[`;
}

/** What comes behind them. What is undefined is not printed, and a copy without it would take longer. */
function tailOf(object: AnyObject): string {
  const tail = stringified({
    ...object,
    kind: undefined,
    apiVersion: undefined,
    metadata: undefined,
  });
  return `]}${tail === "{}" ? "}" : `,${tail.slice(1)}`}\n`;
}

function entryText(entry: ManagedFieldsEntry): string {
  const text = entry.fieldsV1 && documentText(entry.fieldsV1);
  if (text === undefined) return stringified(entry);
  const head = stringified({ ...entry, fieldsV1: undefined });
  return `${head.slice(0, -1)}${head === "{}" ? "" : ","}"fieldsV1":${text}}`;
}

/** What was printed of objects whose bytes are still to be asked for: from the managed fields on. */
const printed = new WeakMap<Readonly<AnyObject>, Buffer>();

/**
 * Prints an object that has managed fields in steps, for the next `encodeObject` or `encodeWith`. From here to there
 * nothing of it may change but the other metadata.
 */
export function* printing(object: Readonly<AnyObject>): Steps<void> {
  const managedFields = object.metadata?.managedFields ?? [];
  if (managedFields.length === 0) return;
  const entries: string[] = [];
  for (const entry of managedFields) {
    entries.push(entryText(entry));
    yield;
  }
  const tail = tailOf(object);
  yield;
  printed.set(object, Buffer.from(entries.join() + tail));
}

/** The same as bytes. */
export function encodeObject(object: AnyObject): Buffer {
  return encodeWith(object, "");
}

/** The bytes of an object, and of a text behind them. @param bytesOf makes them of an object that was not printed before */
export function encodeWith(
  object: AnyObject,
  behind: string,
  bytesOf: (text: string) => Buffer = Buffer.from,
): Buffer {
  const end = printed.get(object);
  if (!end) return bytesOf(objectText(object) + behind);
  printed.delete(object);
  return Buffer.concat([Buffer.from(headOf(object)), end, Buffer.from(behind)]);
}
