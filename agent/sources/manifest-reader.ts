// Reads one manifest file: size limit, several documents, JSON or YAML, Lists taken apart, every document checked against
// its schema. Errors name file, line and field. The YAML reader is loaded with the first manifest.
import { open } from "node:fs/promises";
import type { ManifestDocument } from "../../api/codec/yaml.ts";
import { conformObject } from "../../api/codec/json.ts";
import { parseApiVersion, type AnyObject } from "../../api/object.ts";
import { schemaFor } from "../../api/schema.ts";

export const maxManifestBytes = 10 * 1024 * 1024;

/** The text names file, line where it is known, and field. */
class BadManifest extends Error {
  constructor(file: string, line: number | undefined, detail: string) {
    super(`${file}${line === undefined ? "" : `:${line}`}: ${detail}`);
    this.name = "BadManifest";
  }
}

/** What is wrong with fields of one object; the reader of the file adds the object's place. */
export class FieldProblems extends Error {
  constructor(readonly problems: readonly { field: string; detail: string }[]) {
    super(
      problems
        .map(({ field, detail }) => (field ? `${field}: ${detail}` : detail))
        .join("; "),
    );
    this.name = "FieldProblems";
  }
}

interface ManifestObject {
  object: AnyObject;
  /** Turns FieldProblems thrown by `work` into a BadManifest. */
  located<T>(work: () => T): T;
}

interface ManifestFile {
  objects: ManifestObject[];
  /** Of file and content; the same stamp means nothing changed. */
  stamp: string;
}

/** Rejects with a ManifestError or BadManifest, or with ENOENT when the file is gone. */
export async function readManifestFile(path: string): Promise<ManifestFile> {
  const handle = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ELOOP")
      throw new BadManifest(
        path,
        undefined,
        "too many levels of symbolic links",
      );
    throw error;
  });
  try {
    const stat = await handle.stat();
    if (!stat.isFile())
      throw new BadManifest(path, undefined, "is not a regular file");
    if (stat.size > maxManifestBytes)
      throw new BadManifest(
        path,
        undefined,
        `is ${stat.size} bytes, more than the ${maxManifestBytes} a manifest may have`,
      );
    const text = await handle.readFile("utf8");
    // Writers truncate first: an empty file is one that is being written, not one that asks for nothing.
    if (text === "") throw new BadManifest(path, undefined, "is empty");
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

/** Rejects with a ManifestError or BadManifest for the first problem. */
export async function parseManifestText(
  text: string,
  origin: string,
): Promise<ManifestObject[]> {
  const { parseManifests } = await import("../../api/codec/yaml.ts");
  return parseManifests(text, origin).map((document) => {
    const located = <T>(work: () => T): T => locate(document, origin, work);
    return { located, object: located(() => checked(document)) };
  });
}

function checked(document: ManifestDocument): AnyObject {
  const { apiVersion, kind } = document.object as {
    apiVersion: string;
    kind: string;
  };
  const { group, version } = parseApiVersion(apiVersion);
  const schema = schemaFor(group, version, kind);
  // A kind of a custom resource: only the API server knows it.
  if (!schema) return document.object as unknown as AnyObject;
  let conformed;
  try {
    conformed = conformObject(document.object, schema);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new FieldProblems([{ field: "", detail: text }]);
  }
  if (conformed.problems.length > 0)
    throw new FieldProblems(
      conformed.problems.map((problem) => ({
        field: /"([^"]+)"/.exec(problem)?.[1] ?? "",
        detail: problem,
      })),
    );
  return { ...conformed.object, apiVersion, kind } as AnyObject;
}

function locate<T>(
  document: ManifestDocument,
  origin: string,
  work: () => T,
): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof FieldProblems)) throw error;
    const field = error.problems[0]?.field || guessedField(error.message);
    throw new BadManifest(
      origin,
      field ? document.lineOf(field) : document.line,
      error.message,
    );
  }
}

/** Decoding errors speak of `Pod.spec.containers.image`. */
function guessedField(text: string): string {
  const path = /\b(?:spec|metadata|status|data)(?:\.[A-Za-z]+|\[\d+\])*/.exec(
    text,
  );
  return path?.[0] ?? "";
}
