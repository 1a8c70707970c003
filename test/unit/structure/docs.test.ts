// What the documents say about the tree is true: every file and folder they name exists, and every link leads somewhere.
import * as fs from "node:fs";
import * as path from "node:path";

const root = path.join(__dirname, "../../..");
const documents = [
  "README.md",
  ...fs
    .readdirSync(path.join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];
const folders = new Set(
  fs
    .readdirSync(root, { withFileTypes: true })
    .filter(
      (entry) =>
        entry.isDirectory() && !/^(node_modules|dist)/.test(entry.name),
    )
    .map((entry) => entry.name),
);

/** `room/folder/file.ts` and `room/` in backquotes; names with a placeholder (`…`, `<name>`, `*`) are no files. */
const namesIn = (text: string): string[] =>
  [...text.matchAll(/`([\w.-]+\/[\w./-]*)`/g)]
    .map((match) => match[1]!)
    .filter((name) => folders.has(name.split("/")[0]!));

/** Targets of links to files, without anchors. */
const linksIn = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)]
    .map((match) => match[1]!)
    .filter((target) => !/^[a-z]+:/.test(target));

const missing = (base: string, names: readonly string[]): string[] =>
  names.filter((name) => !fs.existsSync(path.join(root, base, name)));

test.each(documents)("%s names files that exist", (document) => {
  const text = fs.readFileSync(path.join(root, document), "utf8");
  expect(missing("", namesIn(text))).toEqual([]);
  expect(missing(path.dirname(document), linksIn(text))).toEqual([]);
});

test("a missing file and a dead link would be found", () => {
  const text =
    "see `api/no-such.ts`, `api/codec/`, `/etc/passwd` and [x](no.md#a)";
  expect(missing("", namesIn(text))).toEqual(["api/no-such.ts"]);
  expect(missing("docs", linksIn(text))).toEqual(["no.md"]);
});
