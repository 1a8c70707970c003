// Every regular expression of the product takes time in proportion to its text, also for text that was made to make it
// backtrack: one that does not lets a single request hold the whole process. Texts are derived from each expression
// (test/support/hostile-text.ts) and run in a process of their own, measured in processor time, so that a busy machine
// changes nothing.
//
// At fault: the message names the expression and the text. Bound what overlaps, or read the text by hand.
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import * as readline from "node:readline";
import { hostileTexts } from "../../support/hostile-text.ts";
import {
  patternsOf,
  productSources,
  root,
  type FoundPattern,
} from "../../support/regular-expressions.ts";

/** Of 100,000 characters. A linear expression takes under 2; a quadratic one seconds. */
const maxCpuMs = 100;

/** Never run on what anybody else wrote. */
const trusted: Readonly<Record<string, string>> = {
  "api/defaults.ts": "compiles the program's own table of defaults",
  "cli/ctl/go-template.ts": "orbitctl reads its own user's template",
  "cli/ctl/jsonpath.ts": "orbitctl reads its own user's expression",
};

/** Files that make expressions from text: what text, and how many places do. */
const made: Readonly<Record<string, { from: string; places: number }>> = {
  "agent/stats/summary.ts": { from: "field names of /proc/meminfo", places: 1 },
  "api/names.ts": { from: "its own formats, checked below", places: 1 },
  "apiserver-lite/resources/core/container/container-security.ts": {
    from: "its own formats, checked below",
    places: 1,
  },
  "apiserver-lite/resources/core/pod/pod-security-validation.ts": {
    from: "its own formats, checked below",
    places: 1,
  },
  "cli/ctl/jsonpath.ts": { from: "orbitctl's own user", places: 1 },
  "eviction/signals.ts": { from: "field names of /proc/meminfo", places: 1 },
  "http-kit/router.ts": { from: "the program's own routes", places: 1 },
};

const found = productSources().map((file) =>
  patternsOf(file, fs.readFileSync(path.join(root, file), "utf8")),
);

interface Timed {
  readonly id: string;
  readonly cpuMs: number;
  readonly of: string;
}

/** In their own process; one that takes longer than a minute is killed, and named. */
async function timed(patterns: readonly FoundPattern[]): Promise<Timed[]> {
  const cases = new Map<string, string>();
  for (const { file, source, flags } of patterns) {
    const id = `/${source}/${flags}`;
    if (cases.has(id)) continue;
    const texts = hostileTexts(source, flags);
    cases.set(
      id,
      JSON.stringify({ id: `${file} ${id}`, source, flags, ...texts }),
    );
  }
  const script = path.join(root, "test/support/time-patterns.mjs");
  const runner = spawn(process.execPath, [script], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  runner.stdin.end(`${[...cases.values()].join("\n")}\n`);
  const results: Timed[] = [];
  let running = "";
  let timer: NodeJS.Timeout | undefined;
  for await (const line of readline.createInterface({ input: runner.stdout })) {
    clearTimeout(timer);
    timer = setTimeout(() => runner.kill("SIGKILL"), 60_000);
    const row = JSON.parse(line) as Timed & { begun?: string };
    if (row.begun !== undefined) running = row.begun;
    else {
      results.push(row);
      running = "";
    }
  }
  clearTimeout(timer);
  if (running !== "")
    results.push({ id: running, cpuMs: Infinity, of: "a text it never ended" });
  return results;
}

const tooSlow = (rows: readonly Timed[]): string[] =>
  rows
    .filter(({ cpuMs }) => cpuMs > maxCpuMs)
    .map(({ id, cpuMs, of }) => `${id} took ${cpuMs} ms for ${of}`);

test("every regular expression of the product is linear", async () => {
  const patterns = found
    .flatMap(({ literals }) => literals)
    .filter(({ file }) => !(file in trusted));
  expect(patterns.length).toBeGreaterThan(200);
  const rows = await timed(patterns);
  expect(new Set(rows.map(({ id }) => id)).size).toBeGreaterThan(200);
  expect(tooSlow(rows)).toEqual([]);
}, 180_000);

test("expressions made from text are made where it is known from what", () => {
  const places: Record<string, number> = {};
  for (const file of found.flatMap((one) => one.made))
    places[file] = (places[file] ?? 0) + 1;
  expect(places).toEqual(
    Object.fromEntries(
      Object.entries(made).map(([file, one]) => [file, one.places]),
    ),
  );
});

test("expressions made while modules load are linear", async () => {
  const recorded: FoundPattern[] = [];
  const original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(original, {
    construct(target, [source, flags]: [string | RegExp, string?]) {
      const pattern = new target(source, flags);
      recorded.push({
        file: "made",
        source: pattern.source,
        flags: pattern.flags,
      });
      return pattern;
    },
  });
  try {
    jest.resetModules();
    await import("../../../api/names.ts");
    await import("../../../apiserver-lite/resources/core/container/container-security.ts");
    await import("../../../apiserver-lite/resources/core/pod/pod-security-validation.ts");
  } finally {
    globalThis.RegExp = original;
  }
  expect(recorded.length).toBeGreaterThan(8);
  expect(tooSlow(await timed(recorded))).toEqual([]);
});

test.each([
  ["a blank run in the middle", String.raw`^\s*([^\s;,]+)\s*(;\s*)?\s*$`],
  ["a search from every character", "x+$"],
  ["a subscript", String.raw`^(.*)\['(.*)'\]$`],
  ["nested repetition", "^(a+)+$"],
  ["a dot that stops at a line's end", "^a:([^/#]*)[^#]*(#.*)?$"],
])("%s would be found", async (_what, source) => {
  const rows = await timed([{ file: "test", source, flags: "" }]);
  expect(tooSlow(rows)).toHaveLength(1);
});
