// Finds exports that no other file of the product imports, and packages that are imported and not declared or declared and
// not imported. An export counts as used when another product file names it in an import of its file (also `export *`,
// `import * as` and `import()`, where any mention in the importing file counts), or when a test imports it and its own
// file uses it as well: a test may look at a step of its file, but a name that only tests use is dead. The library's face
// (index.ts, the typed resources) and generated types are left out.
//
// `node tools/check-exports.mjs` prints each finding as `file name` or `package name` and exits 1 when there are any.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** What users of the library or a generator name, not another file. */
const face = [
  /^index\.ts$/,
  /^client\/resources\.ts$/,
  /^api\/types\//,
  /^tools\/generate-/,
  /v1-types\.ts$/,
];
/** Names that exist for tests: they walk a whole table that the product only looks things up in. */
const forTests = new Set(["api/type-table.ts messageNames"]);
/** Packages that no source file imports, and why they are declared. */
const withoutImport = {
  "@prettier/plugin-oxc": "tools/check.mjs names it to the formatter",
  "@swc/core": "under @swc/jest",
  "@swc/jest": "jest.config.mjs names it as the transform",
  "@types/dns-packet": "types of dns-packet",
  "@types/dockerode": "types of dockerode",
  "@types/jest": "types of jest's globals",
  "@types/node": "types of Node",
  "@types/ws": "types of ws",
  dockerode: "the Docker runtime is built next",
  jest: "run by its name",
  "node-cron": "scheduled jobs are built next",
  oxlint: "run by its path",
  "oxlint-tsgolint": "under oxlint",
  prettier: "run by its name",
  systeminformation: "facts on the node are built next",
  "typescript-go": "the type check, run by its path",
};
const isTest = (file) => file.startsWith("test/");
const declaration =
  /^export (?:async )?(?:abstract )?(?:declare )?(?:const|let|function\*?|class|interface|type|enum) ([A-Za-z_$][\w$]*)/gm;
const statement =
  /^(import|export)\s+(?:type\s+)?(?:([\w$]+)\s*,?\s*)?(?:(\*)(?:\s+as\s+([\w$]+))?|\{([^}]*)\})?\s*from\s+"([^"]+)"/gm;
// A require() inside a string is another program's.
const dynamic = /(?<!['"].*)\b(?:import|require)\(\s*"([^"]+)"\s*,?\s*\)/g;
const bare = /^import\s+"([^"]+)"/gm;

const texts = new Map();
const read = (directory) => {
  for (const entry of readdirSync(directory || ".", { withFileTypes: true })) {
    const { name } = entry;
    const file = directory ? `${directory}/${name}` : name;
    if (name.startsWith(".") || /^(node_modules|dist.*|coverage)$/.test(name))
      continue;
    if (entry.isDirectory()) read(file);
    else if (/\.(ts|mjs|cjs)$/.test(name))
      texts.set(file, readFileSync(file, "utf8"));
  }
};
read("");

/** `file name` → the files that import it. */
const uses = new Map();
const packages = new Map();
const use = (file, name, by) => {
  const key = `${file} ${name}`;
  uses.set(key, (uses.get(key) ?? []).concat(by));
};
const wordsOf = new Map();
const words = (file) => {
  let found = wordsOf.get(file);
  if (!found) {
    found = new Map();
    for (const word of texts.get(file).match(/[A-Za-z_$][\w$]*/g) ?? [])
      found.set(word, (found.get(word) ?? 0) + 1);
    wordsOf.set(file, found);
  }
  return found;
};
const packageOf = (specifier) =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
const target = (from, specifier) => {
  if (specifier.startsWith("."))
    return path.posix.join(path.posix.dirname(from), specifier);
  if (!specifier.startsWith("node:")) {
    const name = packageOf(specifier);
    packages.set(name, (packages.get(name) ?? []).concat(from));
  }
  return undefined;
};
const exported = new Map();
for (const [file, text] of texts)
  exported.set(
    file,
    [...text.matchAll(declaration)].map(([, name]) => name),
  );
// Tools import by paths that they put together; a mention counts.
for (const file of texts.keys())
  if (file.startsWith("tools/"))
    for (const [of, names] of exported)
      for (const name of names)
        if (of !== file && words(file).has(name)) use(of, name, file);
const useAll = (file, by) => {
  for (const name of exported.get(file) ?? [])
    if (words(by).has(name)) use(file, name, by);
};
for (const [file, text] of texts) {
  for (const match of text.matchAll(statement)) {
    const [, verb, , star, , names, specifier] = match;
    const from = target(file, specifier);
    if (!from) continue;
    if (star && verb === "export")
      for (const name of exported.get(from) ?? []) use(from, name, file);
    else if (star) useAll(from, file);
    for (const name of names?.split(",") ?? []) {
      const original = name.trim().replace(/^type\s+/, "");
      if (original !== "") use(from, original.split(/\s+as\s+/)[0], file);
    }
  }
  for (const pattern of [dynamic, bare])
    for (const [, specifier] of text.matchAll(pattern)) {
      const from = target(file, specifier);
      if (from) useAll(from, file);
    }
}

const problems = [];
for (const [file, names] of exported) {
  if (isTest(file) || face.some((pattern) => pattern.test(file))) continue;
  for (const name of names) {
    const by = uses.get(`${file} ${name}`) ?? [];
    const insideToo = words(file).get(name) > 1;
    if (by.some((other) => !isTest(other)) || (by.length > 0 && insideToo))
      continue;
    if (!forTests.has(`${file} ${name}`)) problems.push(`${file} ${name}`);
  }
}

if (existsSync("package.json")) {
  const manifest = JSON.parse(readFileSync("package.json", "utf8"));
  const production = Object.keys(manifest.dependencies ?? {});
  const development = Object.keys(manifest.devDependencies ?? {});
  for (const [name, files] of packages) {
    const inProduct = files.find(
      (file) => !/^(test|tools)\/|^[^/]*\.m?js$/.test(file),
    );
    if (inProduct !== undefined && !production.includes(name))
      problems.push(`${name} is imported by ${inProduct} and no dependency`);
    else if (![...production, ...development].includes(name))
      problems.push(`${name} is imported by ${files[0]} and not declared`);
  }
  for (const name of [...production, ...development])
    if (!packages.has(name) && !(name in withoutImport))
      problems.push(`${name} is declared and not imported`);
}
for (const line of problems) console.log(line);
process.exitCode = problems.length > 0 ? 1 : 0;
