// Reads one manifest file: size limit, several documents, JSON or YAML, Lists taken apart, every document checked against
// its schema. Errors name file, line and field. The YAML reader is loaded with the first manifest. A long text is taken apart
// on another thread (manifest-thread.ts), as its parser goes through it in one go.
import type { FieldProblem } from "./field-problem.ts";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { conformObject } from "../../api/codec/json.ts";
import { parseApiVersion, type AnyObject } from "../../api/object.ts";
import { schemaFor } from "../../api/schema.ts";
import {
  builtManifestWorker,
  parsedInThread,
  type ParsedManifest,
} from "./manifest-thread.ts";

/** Of checking objects, before others have the event loop. */
const sliceMs = 5;

/** The reference's. */
export const maxManifestBytes = 10 * 1024 * 1024;
/** Parsing one takes some milliseconds. */
const longTextLength = 64 * 1024;

/** Each text names file, line where it is known, and field. */
export class BadManifest extends Error {
  constructor(readonly texts: readonly string[]) {
    super(texts.join("; "));
    this.name = "BadManifest";
  }
}

function badFile(path: string, detail: string): BadManifest {
  return new BadManifest([`${path}: ${detail}`]);
}

/** What is wrong with fields of one object; the reader of the file adds the object's place. */
export class FieldProblems extends Error {
  constructor(readonly problems: readonly FieldProblem[]) {
    super(
      problems
        .map(({ field, detail }) => (field ? `${field}: ${detail}` : detail))
        .join("; "),
    );
    this.name = "FieldProblems";
  }
}

/** Says where in its file an object has problems: `FILE:LINE: FIELD: …`. */
export type Place = (problems: FieldProblems) => string;

/** What is made of an object of a manifest; FieldProblems that it throws get their place. */
type Take<T> = (object: AnyObject, place: Place) => T;

interface ManifestFile<T> {
  taken: T[];
  /** Of file and content; the same stamp means nothing changed. */
  stamp: string;
}

/** Rejects with a ManifestError or BadManifest, or with ENOENT when the file is gone. */
export async function readManifestFile<T>(
  path: string,
  take: Take<T>,
): Promise<ManifestFile<T>> {
  // A pipe must not hold up all others until it has another end.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ELOOP")
        throw badFile(path, "too many levels of symbolic links");
      throw error;
    },
  );
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw badFile(path, "is not a regular file");
    if (stat.size > maxManifestBytes)
      throw badFile(
        path,
        `is ${stat.size} bytes, more than the ${maxManifestBytes} a manifest may have`,
      );
    const text = await handle.readFile("utf8");
    // Writers truncate first: an empty file is one that is being written, not one that asks for nothing.
    if (text === "") throw badFile(path, "is empty");
    return {
      taken: await takeManifests(text, path, take),
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

/** Rejects with a ManifestError when the text can't be read, or with a BadManifest of all its bad objects. */
export async function takeManifests<T>(
  text: string,
  origin: string,
  take: Take<T>,
  workerFile = builtManifestWorker(),
): Promise<T[]> {
  const texts: string[] = [];
  const taken: T[] = [];
  const documents = await parsed(text, origin, workerFile);
  let begunMs = performance.now();
  for (const document of documents) {
    if (performance.now() - begunMs > sliceMs) {
      await setImmediate();
      begunMs = performance.now();
    }
    const place: Place = (problems) => placed(document, origin, problems);
    try {
      taken.push(take(checked(document.object()), place));
    } catch (error) {
      if (!(error instanceof FieldProblems)) throw error;
      texts.push(place(error));
    }
  }
  if (texts.length > 0) throw new BadManifest(texts);
  return taken;
}

/** @param workerFile undefined where the program was not built: all is parsed here */
async function parsed(
  text: string,
  origin: string,
  workerFile: string | undefined,
): Promise<readonly ParsedManifest[]> {
  if (text.length > longTextLength && workerFile !== undefined)
    return await parsedInThread(text, origin, workerFile);
  const { parseManifests } = await import("../../api/codec/yaml.ts");
  return parseManifests(text, origin).map(({ object, lineOf }) => ({
    object: () => object,
    lineOf,
  }));
}

function checked(object: Record<string, unknown>): AnyObject {
  const { apiVersion, kind } = object as { apiVersion: string; kind: string };
  const { group, version } = parseApiVersion(apiVersion);
  const schema = schemaFor(group, version, kind);
  // A kind of a custom resource: only the API server knows it.
  if (!schema) return object as unknown as AnyObject;
  let conformed;
  try {
    conformed = conformObject(object, schema);
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

function placed(
  document: ParsedManifest,
  origin: string,
  { problems, message }: FieldProblems,
): string {
  const field = problems[0]?.field || guessedField(message);
  const line = field ? document.lineOf(field) : document.lineOf("");
  return `${origin}:${line}: ${message}`;
}

/** Decoding errors speak of `Pod.spec.containers.image`. */
function guessedField(text: string): string {
  const path = /\b(?:spec|metadata|status|data)(?:\.[A-Za-z]+|\[\d+\])*/.exec(
    text,
  );
  return path?.[0] ?? "";
}

/** NaN of a stamp that says to read again. */
export function inodeOf(stamp: string): number {
  return Number.parseInt(stamp, 10);
}
