// A configuration file as the reference's programs take it: one YAML or JSON document, whose problems name file, line and
// field.
import { UsageError } from "../table.ts";

export const isMap = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);

export interface ConfigurationDocument {
  readonly value: unknown;
  /** Of a field by its path (`a.b[0].c`), or of the nearest parent known. */
  lineOf(path: string): number;
}

export async function parseDocument(
  text: string,
  file: string,
): Promise<ConfigurationDocument> {
  const { parseYaml, YamlSyntaxError } =
    await import("../../../api/codec/yaml-text.ts");
  try {
    const [document, second] = parseYaml(text, { withLines: true });
    const duplicate = document?.duplicates[0];
    if (duplicate)
      throw new YamlSyntaxError(
        `${duplicate.path}: key is given twice`,
        duplicate.line,
      );
    if (second)
      throw new YamlSyntaxError("one document is expected", second.line);
    return {
      value: document?.value,
      lineOf: (path) => {
        for (let at = path; at !== ""; at = parentOf(at)) {
          const line = document?.lines.get(at);
          if (line !== undefined) return line;
        }
        return document?.line ?? 1;
      },
    };
  } catch (error) {
    if (!(error instanceof YamlSyntaxError)) throw error;
    throw new UsageError(`${file}:${error.line}: ${error.reason}`);
  }
}

/** `a.b[0].c` → `a.b[0]` → `a.b` → `a` → "" */
const parentOf = (path: string): string =>
  path.slice(0, Math.max(path.lastIndexOf("."), path.lastIndexOf("["), 0));
