// A YAML document as JSON text, for a thread that parses it and one that takes it over part by part: cloning the tree
// would hold the receiver as long as parsing it. The first document of a body counts, as everywhere.
import type { Steps } from "../queueing/steps.ts";
import { parsingParts } from "./json-parts.ts";
import {
  parseYaml,
  YamlSyntaxError,
  type DuplicateKey,
  type YamlDocument,
} from "./yaml-text.ts";

/** Structured clones keep it as it is. */
export type YamlAsJson =
  | {
      readonly json: Uint8Array;
      readonly line: number;
      readonly duplicates: readonly DuplicateKey[];
    }
  | { readonly reason: string; readonly line: number; readonly shown: number }
  | { readonly failure: string };

/** Parses a body; what is wrong with its text is returned, not thrown. */
export function parsedAsJson(bytes: Uint8Array): YamlAsJson {
  try {
    const text = Buffer.from(
      bytes.buffer,
      bytes.byteOffset,
      bytes.byteLength,
    ).toString("utf8");
    const [first] = parseYaml(text);
    const { value = null, line = 1, duplicates = [] } = first ?? {};
    // A buffer of its own, which can be handed over.
    const json = new TextEncoder().encode(JSON.stringify(value));
    return { json, line, duplicates };
  } catch (error) {
    if (error instanceof YamlSyntaxError) {
      const { reason, line, shown } = error;
      return { reason, line, shown };
    }
    return { failure: (error as Error).message };
  }
}

/** The documents of what `parsedAsJson` returned. Throws YamlSyntaxError as the parser would. */
export function* documentsOfJson(parsed: YamlAsJson): Steps<YamlDocument[]> {
  if ("failure" in parsed) throw new Error(parsed.failure);
  if ("reason" in parsed)
    throw new YamlSyntaxError(parsed.reason, parsed.line, parsed.shown);
  const { json, line, duplicates } = parsed;
  // No number of it says more than a double: the parser made doubles of all of them.
  const found = yield* parsingParts(json, false);
  const value = found
    ? found.value
    : (JSON.parse(Buffer.from(json).toString("utf8")) as unknown);
  return [{ value, line, duplicates, lines: new Map() }];
}
