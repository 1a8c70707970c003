// Reads one manifest file: size limit, several documents, JSON or YAML, Lists taken apart, every document checked against
// its schema. Errors name file, line and field.
import { open } from "node:fs/promises";
import { conformObject } from "../../api/codec/json.ts";
import { parseApiVersion, type AnyObject } from "../../api/object.ts";
import { schemaFor } from "../../api/schema.ts";

export const maxManifestBytes = 10 * 1024 * 1024;

export class ManifestError extends Error {
  constructor(
    readonly file: string,
    readonly line: number | undefined,
    detail: string,
  ) {
    super(`${file}${line === undefined ? "" : `:${line}`}: ${detail}`);
    this.name = "ManifestError";
  }
}

export interface ManifestFile {
  objects: AnyObject[];
  /** Of file and content; the same stamp means nothing changed. */
  stamp: string;
}

/** Rejects with a ManifestError, or with ENOENT when the file is gone. */
export async function readManifestFile(path: string): Promise<ManifestFile> {
  const handle = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ELOOP")
      throw new ManifestError(
        path,
        undefined,
        "too many levels of symbolic links",
      );
    throw error;
  });
  try {
    const stat = await handle.stat();
    if (!stat.isFile())
      throw new ManifestError(path, undefined, "is not a regular file");
    if (stat.size > maxManifestBytes)
      throw new ManifestError(
        path,
        undefined,
        `is ${stat.size} bytes, more than the ${maxManifestBytes} a manifest may have`,
      );
    const text = await handle.readFile("utf8");
    return {
      objects: await parseManifestText(text, path),
      stamp: fileStamp(stat),
    };
  } finally {
    await handle.close();
  }
}

export function fileStamp(stat: {
  ino: number;
  size: number;
  mtimeMs: number;
  ctimeMs: number;
}): string {
  return `${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`;
}

export async function parseManifestText(
  text: string,
  origin: string,
): Promise<AnyObject[]> {
  const { loadAll } = await import("js-yaml");
  let documents: unknown[];
  try {
    documents = loadAll(text) as unknown[];
  } catch (error) {
    const mark = (error as { mark?: { line?: number } }).mark;
    const reason =
      (error as { reason?: string }).reason ??
      (error instanceof Error ? error.message : String(error));
    throw new ManifestError(
      origin,
      mark?.line === undefined ? undefined : mark.line + 1,
      reason,
    );
  }
  const objects: AnyObject[] = [];
  for (const [index, document] of documents.entries()) {
    if (document === null || document === undefined) continue;
    const where = documents.length > 1 ? `document ${index + 1}: ` : "";
    if (typeof document !== "object" || Array.isArray(document))
      throw new ManifestError(origin, undefined, `${where}is not an object`);
    for (const object of listItems(document as AnyObject)) {
      if (typeof object.kind !== "string" || object.kind === "")
        throw new ManifestError(
          origin,
          undefined,
          `${where}kind: Required value`,
        );
      if (typeof object.apiVersion !== "string" || object.apiVersion === "")
        throw new ManifestError(
          origin,
          undefined,
          `${where}apiVersion: Required value`,
        );
      objects.push(checked(object, origin, where));
    }
  }
  return objects;
}

function listItems(object: AnyObject): AnyObject[] {
  if (
    (object.kind === "List" || object.kind === "PodList") &&
    Array.isArray(object.items)
  )
    return (object.items as AnyObject[]).map((item) =>
      object.kind === "PodList"
        ? { apiVersion: "v1", kind: "Pod", ...item }
        : item,
    );
  return [object];
}

function checked(object: AnyObject, origin: string, where: string): AnyObject {
  try {
    const { group, version } = parseApiVersion(object.apiVersion ?? "");
    const schema = schemaFor(group, version, object.kind ?? "");
    // A kind of a custom resource: the API server knows it.
    if (!schema) return object;
    const { object: conformed, problems } = conformObject(object, schema);
    if (problems.length > 0)
      throw new ManifestError(origin, undefined, where + problems.join(", "));
    return {
      ...conformed,
      apiVersion: object.apiVersion,
      kind: object.kind,
    } as AnyObject;
  } catch (error) {
    if (error instanceof ManifestError) throw error;
    throw new ManifestError(
      origin,
      undefined,
      where + (error instanceof Error ? error.message : String(error)),
    );
  }
}
