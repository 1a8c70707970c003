// Objects from -f: files, directories (-R: with those below), URLs and standard input; YAML of several documents or JSON.
// A List is taken apart. Errors name file and line.
import * as fs from "node:fs";
import * as path from "node:path";
import type { AnyObject } from "../../api/object.ts";
import { UsageError } from "../options/table.ts";

interface InputObject {
  object: AnyObject;
  /** For messages: the file, and the document's number when there are several. */
  source: string;
}

const maxInputBytes = 64 * 1024 * 1024;
const extensions = new Set([".json", ".yaml", ".yml"]);

async function readStandardInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxInputBytes)
      throw new UsageError("standard input is larger than 64 MiB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The bytes of one -f argument that is no directory. */
export async function readSource(source: string): Promise<Buffer> {
  if (source === "-") return readStandardInput();
  if (/^https?:\/\//.test(source)) {
    const { request } = await import("undici");
    const response = await request(source);
    if (response.statusCode !== 200)
      throw new UsageError(
        `unable to read URL "${source}", server reported ${response.statusCode}`,
      );
    return Buffer.from(await response.body.arrayBuffer());
  }
  try {
    return fs.readFileSync(source);
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw new UsageError(
      missing
        ? `the path "${source}" does not exist`
        : (error as Error).message,
    );
  }
}

function filesOf(source: string, recursive: boolean): string[] {
  if (source === "-" || /^https?:\/\//.test(source)) return [source];
  const stat = fs.statSync(source, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return [source];
  return fs
    .readdirSync(source, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const file = path.join(source, entry.name);
      if (entry.isDirectory()) return recursive ? filesOf(file, true) : [];
      return extensions.has(path.extname(entry.name)) ? [file] : [];
    });
}

/** The documents of a text, in YAML or JSON. */
export async function parseDocuments(
  text: string,
  source: string,
): Promise<unknown[]> {
  if (/^\s*[{[]/.test(text)) {
    try {
      return [JSON.parse(text) as unknown];
    } catch {
      // Flow-style YAML starts like JSON.
    }
  }
  const { parseYaml, YamlSyntaxError } =
    await import("../../api/codec/yaml-text.ts");
  try {
    return parseYaml(text)
      .map(({ value }) => value)
      .filter((document) => document !== null && document !== undefined);
  } catch (error) {
    if (!(error instanceof YamlSyntaxError)) throw error;
    throw new UsageError(
      `error parsing ${source}:${error.line}: ${error.reason}`,
    );
  }
}

export async function readObjects(
  sources: readonly string[],
  recursive: boolean,
): Promise<InputObject[]> {
  const found: InputObject[] = [];
  for (const file of sources.flatMap((source) => filesOf(source, recursive))) {
    const documents = await parseDocuments(
      (await readSource(file)).toString(),
      file,
    );
    documents.forEach((document, index) => {
      const source =
        documents.length > 1 ? `${file} (document ${index + 1})` : file;
      for (const object of items(document)) {
        if (
          object === null ||
          typeof object !== "object" ||
          Array.isArray(object)
        )
          throw new UsageError(`${source}: not an object`);
        const { kind, apiVersion } = object as AnyObject;
        if (typeof kind !== "string" || kind === "")
          throw new UsageError(`${source}: Object 'Kind' is missing`);
        if (typeof apiVersion !== "string" || apiVersion === "")
          throw new UsageError(`${source}: apiVersion is not set`);
        found.push({
          object: {
            ...(object as AnyObject),
            metadata: (object as AnyObject).metadata ?? { name: "" },
          },
          source,
        });
      }
    });
  }
  if (found.length === 0) throw new UsageError("no objects passed");
  return found;
}

function items(document: unknown): unknown[] {
  const { kind, items: inner } = (document ?? {}) as {
    kind?: unknown;
    items?: unknown;
  };
  return typeof kind === "string" &&
    kind.endsWith("List") &&
    Array.isArray(inner)
    ? inner.flatMap(items)
    : [document];
}
