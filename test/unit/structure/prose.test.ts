// Comments are plain English with the field's verbs: report, record, notify, validate, encode, return. The terms below were
// the house's own: no comment and no document uses them. No value that is computed and not used is silenced with `void`.
import * as fs from "node:fs";
import * as path from "node:path";
import { floors } from "./house-plan.ts";

const root = path.join(__dirname, "../../..");
const terms =
  /\b(?:tell|tells|telling|told|judge|judges|judged|stand|stands|stood|mend|mends|mended|anew|of old|whoever|nobody|somebody|the way to)\b/gi;

function* sources(name: string): Generator<string> {
  const at = path.join(root, name);
  if (!fs.existsSync(at)) return;
  if (/\.(ts|mjs)$/.test(name)) yield at;
  else if (fs.statSync(at).isDirectory())
    for (const entry of fs.readdirSync(at)) yield* sources(`${name}/${entry}`);
}

/** Block comments, and what follows `//` at the start of a line or after a blank. */
const commentsOf = (text: string): string =>
  (text.match(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm) ?? []).join("\n");

const countIn = (text: string): number =>
  commentsOf(text).match(terms)?.length ?? 0;

const rooms = [...floors.flat(), "setup", "systemd", "tools"];
test.each(rooms)("the comments of %s use the field's terms", (room) => {
  const found = [...sources(room)].filter(
    (file) => countIn(fs.readFileSync(file, "utf8")) > 0,
  );
  expect(found).toEqual([]);
});

/** The project's log, and a table generated from the texts that users see. */
const exempt: readonly string[] = ["STATUS.md", "options.md"];

test("the documents use the field's terms", () => {
  const files = fs
    .readdirSync(path.join(root, "docs"))
    .filter((name) => name.endsWith(".md") && !exempt.includes(name));
  expect(files).not.toEqual([]);
  const found = files.flatMap((name) =>
    (
      fs.readFileSync(path.join(root, "docs", name), "utf8").match(terms) ?? []
    ).map((term) => `${name}: ${term}`),
  );
  expect(found).toEqual([]);
});

test("terms are counted in comments only", () => {
  expect(countIn('// Tells nobody.\nconst told = "anew"; // told')).toBe(3);
  expect(countIn("/** What a\n * judge is told. */\nfunction stand() {}")).toBe(
    2,
  );
});

test("no value is silenced with void", () => {
  const silenced = floors
    .flat()
    .flatMap((room) => [...sources(room)])
    .filter((file) => /^\s*void [\w.]+;$/m.test(fs.readFileSync(file, "utf8")));
  expect(silenced).toEqual([]);
});
