// The JSON text of an object as it is stored and served: kind, apiVersion and metadata come first, and the documents of
// managed fields, which are up to half of a small object, come from texts that were made once for all objects that share
// them (api/patch/field-set.ts).
import type { AnyObject } from "../object.ts";
import { documentText } from "../patch/field-set.ts";
import type { ManagedFieldsEntry } from "../types/meta-v1.ts";

/** JSON with kind and apiVersion first, and a newline at the end; no other newline is in it. */
export function objectText(object: AnyObject): string {
  const { kind, apiVersion, metadata, ...rest } = object;
  const entries = metadata?.managedFields;
  if (!entries || entries.length === 0)
    return `${JSON.stringify({ kind, apiVersion, metadata, ...rest })}\n`;
  const { managedFields: _, ...others } = metadata;
  const head = JSON.stringify({ kind, apiVersion, metadata: others });
  const tail = JSON.stringify(rest);
  const texts = entries.map(entryText).join();
  const comma = head.endsWith("{}}") ? "" : ",";
  const behind = tail === "{}" ? "}" : `,${tail.slice(1)}`;
  return `${head.slice(0, -2)}${comma}"managedFields":[${texts}]}${behind}\n`;
}

function entryText(entry: ManagedFieldsEntry): string {
  const text = entry.fieldsV1 && documentText(entry.fieldsV1);
  if (text === undefined) return JSON.stringify(entry);
  const { fieldsV1: _, ...others } = entry;
  const head = JSON.stringify(others);
  return `${head.slice(0, -1)}${head === "{}" ? "" : ","}"fieldsV1":${text}}`;
}

/** The same as bytes. */
export function encodeObject(object: AnyObject): Buffer {
  return Buffer.from(objectText(object));
}
