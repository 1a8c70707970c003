// The text of a ClusterTrustBundle: PEM certificates of authorities, each once and without headers. What is outside of the
// blocks is ignored, and messages never show the text.
import { X509Certificate } from "node:crypto";
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";

const maxBytes = 1024 * 1024;

interface Block {
  readonly label: string;
  readonly body: string;
}

/** One pass over the text: a block that never ends is none. */
function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  for (const part of text.split("-----BEGIN ").slice(1)) {
    const labelEnd = part.indexOf("-----");
    const label = part.slice(0, Math.max(labelEnd, 0));
    const end = part.indexOf(`-----END ${label}-----`);
    if (label !== "" && end > labelEnd)
      blocks.push({ label, body: part.slice(labelEnd + 5, end) });
  }
  return blocks;
}

/** What is wrong with one block; undefined: it is an authority's certificate. */
function problemOf({ label, body }: Block): string | undefined {
  if (label !== "CERTIFICATE") return `has bad block type: ${label}`;
  if (body.includes(":")) return "has PEM block headers";
  try {
    return new X509Certificate(Buffer.from(body, "base64")).ca
      ? undefined
      : "does not have the CA bit set";
  } catch {
    return "does not parse as X.509";
  }
}

export function trustBundleProblems(field: string, text: string): FieldError[] {
  if (Buffer.byteLength(text) > maxBytes)
    return [fieldErrors.tooLong(field, maxBytes)];
  const invalid = (problem: string): FieldError =>
    fieldErrors.invalid(field, "<value omitted>", problem);
  const blocks = blocksOf(text);
  const problems = blocks.flatMap((block, index) => {
    const problem = problemOf(block);
    return problem === undefined ? [] : [`entry ${index} ${problem}`];
  });
  if (problems.length > 0) return problems.map(invalid);
  if (blocks.length === 0)
    return [invalid("at least one trust anchor must be provided")];
  const places = new Map<string, number[]>();
  for (const [index, { body }] of blocks.entries()) {
    const der = body.replace(/\s+/g, "");
    places.set(der, [...(places.get(der) ?? []), index]);
  }
  return [...places.values()]
    .filter((indices) => indices.length > 1)
    .map((indices) =>
      invalid(`duplicate trust anchor (indices [${indices.join(" ")}])`),
    );
}
