// Finds what is exported and never named anywhere else: neither in another file nor again in its own. What a test alone
// names counts as used. The library's face (index.ts, the typed resources) and generated types are left out.
// `node tools/check-exports.mjs` prints each as `file name` and exits 1 when there are any.
import { readdirSync, readFileSync } from "node:fs";

const face = [
  /^index\.ts$/,
  /^client\/resources\.ts$/,
  /^api\/types\//,
  /^test\//,
  /v1-types\.ts$/,
];
const declaration =
  /^export (?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) ([A-Za-z_$][\w$]*)/gm;

/** How often a word is in all files together. */
const counts = new Map();
const texts = new Map();
const read = (directory) => {
  for (const entry of readdirSync(directory || ".", { withFileTypes: true })) {
    const { name } = entry;
    const file = directory ? `${directory}/${name}` : name;
    if (name.startsWith(".") || ["node_modules", "dist"].includes(name))
      continue;
    if (entry.isDirectory()) read(file);
    else if (/\.(ts|mjs)$/.test(name))
      texts.set(file, readFileSync(file, "utf8"));
  }
};
read("");
for (const text of texts.values())
  for (const word of text.match(/[A-Za-z_$][\w$]*/g) ?? [])
    counts.set(word, (counts.get(word) ?? 0) + 1);
const unused = [];
for (const [file, text] of texts) {
  if (face.some((pattern) => pattern.test(file))) continue;
  for (const [, name] of text.matchAll(declaration))
    if (counts.get(name) === 1) unused.push(`${file} ${name}`);
}
for (const line of unused) console.log(line);
process.exitCode = unused.length > 0 ? 1 : 0;
