// A long manifest taken apart, as the messages from the thread that does it (manifest-worker.ts) to the one that uses it. Objects
// come as JSON and are made one by one, so that no turn of the event loop holds more than one of them.
// An object is bounded as by an API server, which takes no more than 3 MiB; the reference bounds the file alone.
import {
  ManifestError,
  parseManifests,
  type ManifestPlace,
} from "../../api/codec/yaml.ts";

/** Of one object as JSON. */
const maxObjectBytes = 3 * 1024 * 1024;
/** Values in one object: each takes about a microsecond to check. */
const maxObjectValues = 100_000;
/** Text of objects in one message. */
const batchLength = 64 * 1024;
/** Fields of a document whose lines are kept; a mistake in a later one is placed at the nearest parent known. */
const maxLines = 100_000;

export interface ManifestPart {
  readonly json: string;
  /** The object's document, by its place among them. */
  readonly document: number;
  readonly prefix: string;
}

export interface DocumentLines {
  readonly line: number;
  /** Pairs of path and line as JSON: they are looked at when there is a mistake. */
  readonly lines: string;
}

export type ManifestMessage =
  | { readonly parts: readonly ManifestPart[] }
  | { readonly documents: readonly DocumentLines[] }
  | {
      readonly refused: Pick<
        ManifestError,
        "fileName" | "line" | "field" | "reason"
      >;
    };

/** Parts first, documents last; or a refusal, which ends it. */
export function* manifestMessages(
  text: string,
  fileName: string,
): Generator<ManifestMessage> {
  try {
    const documents = new Map<ManifestPlace["document"], number>();
    let parts: ManifestPart[] = [];
    let length = 0;
    for (const { object, place, line } of parseManifests(text, fileName)) {
      const { document, prefix } = place;
      if (!documents.has(document)) documents.set(document, documents.size);
      const json = JSON.stringify(object);
      ensureSize(object, json, { fileName, line });
      parts.push({ json, document: documents.get(document)!, prefix });
      length += json.length;
      if (length < batchLength) continue;
      yield { parts };
      parts = [];
      length = 0;
    }
    yield { parts };
    yield {
      documents: [...documents.keys()].map(({ line, lines }) => ({
        line,
        lines: JSON.stringify([...lines].slice(0, maxLines)),
      })),
    };
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    const { line, field, reason } = error;
    yield { refused: { fileName, line, field, reason } };
  }
}

function ensureSize(
  object: Record<string, unknown>,
  json: string,
  { fileName, line }: { readonly fileName: string; readonly line: number },
): void {
  const bytes = Buffer.byteLength(json);
  if (bytes > maxObjectBytes)
    throw new ManifestError(
      ...([fileName, line, "" as string] as const),
      `the object has ${bytes} bytes, more than the ${maxObjectBytes} that one may have`,
    );
  if (hasMoreValues(object, maxObjectValues))
    throw new ManifestError(
      ...([fileName, line, "" as string] as const),
      `the object has more than the ${maxObjectValues} values that one may have`,
    );
}

function hasMoreValues(value: unknown, most: number): boolean {
  const waiting: unknown[] = [value];
  for (let count = 0; waiting.length > 0; count++) {
    if (count > most) return true;
    const next = waiting.pop();
    if (typeof next !== "object" || next === null) continue;
    for (const inner of Object.values(next)) waiting.push(inner);
  }
  return false;
}
