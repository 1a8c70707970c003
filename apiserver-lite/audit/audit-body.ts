// Bodies as an audit event records them: JSON values, whatever encoding they came in.
import { gunzipSync } from "node:zlib";
import { decodeCbor } from "../../api/codec/cbor.ts";
import { decodeProtobuf } from "../../api/codec/protobuf.ts";
import { decodeYaml } from "../../api/codec/yaml.ts";
import { applyDefaults } from "../../api/defaults.ts";
import { parseApiVersion, type AnyObject } from "../../api/object.ts";

/** The object an answer holds; undefined for text, raw JSON without a kind, and what can't be read. */
export function answerOf(
  body: Uint8Array | string,
  contentType: string,
  encoding: string,
): AnyObject | undefined {
  try {
    let bytes = Buffer.from(body as Uint8Array);
    if (encoding === "gzip") bytes = gunzipSync(bytes);
    const value = decode(bytes, contentType) as AnyObject | undefined;
    return value?.kind && value.apiVersion ? value : undefined;
  } catch {
    return undefined;
  }
}

function decode(bytes: Buffer, contentType: string): unknown {
  if (/^application\/json\b/.test(contentType))
    return JSON.parse(bytes.toString("utf8"));
  if (contentType.includes("protobuf")) return decodeProtobuf(bytes);
  if (contentType.includes("yaml")) return decodeYaml(bytes).object;
  return contentType.includes("cbor") ? decodeCbor(bytes).object : undefined;
}

/** A patch; text when it can't be read. */
export function patchOf(body: Buffer, contentType: string): unknown {
  try {
    return contentType.includes("cbor")
      ? decodeCbor(body).object
      : JSON.parse(body.toString("utf8"));
  } catch {
    // An applied object may be YAML.
  }
  try {
    return decodeYaml(body).object;
  } catch {
    return body.toString("utf8");
  }
}

/** A copy with the defaults of its kind. */
export function withDefaults(body: AnyObject): AnyObject {
  const copy = structuredClone(body);
  const { kind, apiVersion } = copy;
  if (kind && apiVersion)
    applyDefaults(copy, { ...parseApiVersion(apiVersion), kind });
  return copy;
}

export function isStatus({ kind, apiVersion }: AnyObject): boolean {
  return kind === "Status" && apiVersion === "v1";
}

export function statusShown(status: AnyObject, code: number): object {
  const { kind: _, apiVersion: __, ...shown } = status;
  return { ...shown, code };
}

/** Of an object, of the items of a list, of the objects in a table's rows. */
export function withoutManagedFields(object: AnyObject): AnyObject {
  const strip = (value: AnyObject | undefined): AnyObject | undefined => {
    if (!value?.metadata?.managedFields) return value;
    const { managedFields: _, ...metadata } = value.metadata;
    return { ...value, metadata };
  };
  const stripped = strip(object)!;
  const { items, rows } = stripped as AnyObject & {
    items?: AnyObject[];
    rows?: { object?: AnyObject }[];
  };
  return {
    ...stripped,
    ...(Array.isArray(items) ? { items: items.map(strip) } : {}),
    ...(Array.isArray(rows)
      ? { rows: rows.map((row) => ({ ...row, object: strip(row.object) })) }
      : {}),
  };
}
