// Matching and finding in steps find what the library finds at once, whatever the expression; what would take too long
// ends.
import fc from "fast-check";
import { RE2JS } from "re2js";
import { finding } from "../../../../api/patterns/linear-find.ts";
import {
  matching,
  PatternTooCostly,
} from "../../../../api/patterns/linear-match.ts";
import { finish, type Steps } from "../../../../api/queueing/steps.ts";
import { longestStepUs } from "../../../support/cpu-time.ts";

const unit = fc.constantFrom(
  ...["a", "b", "\n", " ", "é", "\u{1f600}", "_", "\ud83d", "9"],
);
const text = fc.array(unit, { maxLength: 30 }).map((all) => all.join(""));
const expressions = fc.letrec<{ whole: string; part: string }>((tie) => ({
  whole: fc.oneof(
    tie("part"),
    fc.tuple(tie("part"), tie("whole")).map((both) => both.join("")),
    fc.tuple(tie("part"), tie("whole")).map((both) => both.join("|")),
  ),
  part: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(
      ...["a", "b", ".", "\\w", "\\W", "\\s", "^", "$", "\\b", "\\B", "[^a]"],
      ...[
        "\\A",
        "\\z",
        "(?m)^",
        "(?m:$)",
        "(?s:.)",
        "(?i:A)",
        "é",
        "\u{1f600}",
      ],
    ),
    fc
      .tuple(tie("whole"), fc.constantFrom("*", "+", "?", "{2,3}", "*?"))
      .map(([inner, times]) => `(?:${inner})${times}`),
  ),
})).whole;

test("any expression on any text", () => {
  fc.assert(
    fc.property(expressions, text, (expression, given) => {
      const pattern = RE2JS.compile(expression);
      const found = pattern.matcher(given).find();
      expect(finish(matching(pattern, given))).toBe(found);
    }),
    { numRuns: 2000, seed: 20261122 },
  );
});

function foundAtOnce(pattern: RE2JS, given: string): string[] {
  const found: string[] = [];
  const matcher = pattern.matcher(given);
  for (let end = -1; matcher.find(); end = matcher.end())
    if (matcher.end() !== matcher.start() || matcher.start() !== end)
      found.push(matcher.group() ?? "");
  return found;
}

test("all matches of any expression in any text", () => {
  fc.assert(
    fc.property(expressions, text, (expression, given) => {
      const pattern = RE2JS.compile(expression);
      const found = foundAtOnce(pattern, given);
      expect(finish(finding(pattern, given))).toEqual(found);
      expect(finish(finding(pattern, given, 1))).toEqual(found.slice(0, 1));
    }),
    { numRuns: 2000, seed: 20261122 },
  );
});

const large = 1024 * 1024;
test.each([
  ["^[a-z]+$", "a".repeat(large), true],
  ["^(\\w+\\s?)*$", "word ".repeat(large / 5), true],
  ["(a|b|c)*d$", "abc".repeat(large / 3), false],
  [
    "x{1000}",
    "x"
      .repeat(999)
      .concat("y")
      .repeat(large / 1000),
    false,
  ],
  ["é$", `${"é".repeat(large)}e`, false],
  ["\u{1f600}\\z", "\u{1f600}".repeat(large / 2), true],
])("%s on a mebibyte, in short steps", (expression, given, found) => {
  const steps = (): Steps<boolean> =>
    matching(RE2JS.compile(expression), given);
  const { value, count } = counted(steps());
  expect(value).toBe(found);
  expect(count).toBeGreaterThan(25);
  expect(longestStepUs(steps, 30_000)).toBeLessThan(30_000);
});

const smaller = large / 4;
test.each([
  ["[a-z]+", "a".repeat(smaller), 1],
  ["\\w+", "a word  ".repeat(smaller / 8), smaller / 4],
  ["(a+)+b", "a".repeat(smaller), 0],
  ["(?s).*z|é", `${"é".repeat(20)}${"a".repeat(smaller)}z`, 1],
  ["x*", "y".repeat(smaller), smaller + 1],
])("all of %s in a large text, in short steps", (expression, given, found) => {
  const steps = (): ReturnType<typeof finding> =>
    finding(RE2JS.compile(expression), given);
  const { value, count } = counted(steps());
  expect(value).toHaveLength(found);
  expect(count).toBeGreaterThan(10);
  expect(longestStepUs(steps, 60_000)).toBeLessThan(60_000);
});

function counted<T>(steps: Steps<T>): { value: T; count: number } {
  for (let count = 0; ; count++) {
    const { done, value } = steps.next();
    if (done) return { value, count };
  }
}

test("an automaton of too many states goes on without them, and ends", () => {
  const random = fc.sample(fc.constantFrom("a", "b"), {
    numRuns: 200_000,
    seed: 1,
  });
  const given = random.join("");
  const pattern = RE2JS.compile("(a|b)*a(a|b){25}c");
  expect(() => finish(matching(pattern, given, 50))).toThrow(PatternTooCostly);
});

test("matches that are looked for again and again to the end of the text end too", () => {
  const pattern = RE2JS.compile("a.*b|a");
  const given = "a".repeat(200_000);
  expect(() => finish(finding(pattern, given, Infinity, 50))).toThrow(
    PatternTooCostly,
  );
});
