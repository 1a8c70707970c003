// Comments are plain English with the field's verbs: report, record, notify, validate, encode, return. The terms below were
// the house's own; how often a room's comments still use them is written down and only falls. Nothing that is computed and
// not used is silenced with `void`.
import * as fs from "node:fs";
import * as path from "node:path";
import { floors } from "./house-plan.ts";

const root = path.join(__dirname, "../../..");
const terms =
  /\b(?:tell|tells|telling|told|judge|judges|judged|stand|stands|stood|mend|mends|mended|anew|of old|whoever|nobody|somebody|the way to)\b/gi;

/** By room, at most. Lower a number when you rewrite comments, never raise it; a room that is not named has none. */
const most: Readonly<Record<string, number>> = {
  agent: 0,
  api: 0,
  "apiserver-lite": 0,
  client: 0,
  controllers: 0,
  cri: 0,
  server: 0,
  storage: 0,
};

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
test.each(rooms)("%s uses no more terms of its own than before", (room) => {
  let count = 0;
  for (const file of sources(room))
    count += countIn(fs.readFileSync(file, "utf8"));
  expect(count).toBeLessThanOrEqual(most[room] ?? 0);
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
