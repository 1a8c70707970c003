// Finds the regular expressions of the product in its sources, by their syntax: literals, and the places that make them
// from text.
import * as fs from "node:fs";
import * as path from "node:path";
import { parseSync } from "@swc/core";

export const root = path.join(__dirname, "../..");
/** Everything else beside the sources' index is a room of the product. */
const noRooms = new Set([
  "bin",
  "coverage",
  "dist",
  "docs",
  "node_modules",
  "setup",
  "systemd",
  "test",
  "tools",
]);

export interface FoundPattern {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

export interface FoundPatterns {
  readonly literals: readonly FoundPattern[];
  /** Files that call RegExp, one entry a call. */
  readonly made: readonly string[];
}

export function productSources(): string[] {
  const rooms = fs
    .readdirSync(root, { withFileTypes: true })
    .filter(
      (entry) =>
        entry.isDirectory() &&
        !entry.name.startsWith(".") &&
        !noRooms.has(entry.name),
    )
    .map(({ name }) => name);
  return ["index.ts", ...rooms.flatMap((room) => [...sources(room)])];
}

function* sources(directory: string): Generator<string> {
  const full = path.join(root, directory);
  if (!fs.existsSync(full)) return;
  for (const entry of fs.readdirSync(full, { withFileTypes: true })) {
    const file = path.join(directory, entry.name);
    if (entry.isDirectory()) yield* sources(file);
    else if (/\.m?ts$/.test(entry.name)) yield file;
  }
}

export function patternsOf(file: string, text: string): FoundPatterns {
  const literals: FoundPattern[] = [];
  const made: string[] = [];
  walk(parseSync(text, { syntax: "typescript", target: "es2022" }), (node) => {
    if (node["type"] === "RegExpLiteral")
      literals.push({
        file,
        source: node["pattern"] as string,
        flags: node["flags"] as string,
      });
    if (node["type"] !== "NewExpression" && node["type"] !== "CallExpression")
      return;
    const callee = node["callee"] as Record<string, unknown>;
    if (callee["value"] === "RegExp") made.push(file);
  });
  return { literals, made };
}

type SyntaxNode = Readonly<Record<string, unknown>>;

function walk(value: unknown, visit: (node: SyntaxNode) => void): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) return value.forEach((one) => walk(one, visit));
  const node = value as SyntaxNode;
  if (typeof node["type"] === "string") visit(node);
  for (const [key, inner] of Object.entries(node))
    if (key !== "span") walk(inner, visit);
}
