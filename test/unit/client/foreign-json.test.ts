// What other servers answer is read in short steps, and only as deeply and widely as objects are.
import {
  parseForeignJson,
  parsingForeignJson,
} from "../../../client/webhook/foreign-json.ts";
import { longestStepUs } from "../../support/cpu-time.ts";

const nested = (depth: number): string =>
  `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;

/** With how often others could run meanwhile. */
async function parse(
  text: string,
): Promise<{ value: unknown; pauses: number }> {
  let pauses = 0;
  const pause = (): Promise<void> => {
    pauses++;
    return Promise.resolve();
  };
  const value = await (async () =>
    parseForeignJson(Buffer.from(text), pause))();
  return { value, pauses };
}

test("reads what JSON.parse reads", async () => {
  const text = nested(990);
  expect((await parse(text)).value).toEqual(JSON.parse(text));
  expect((await parse('"x"')).value).toBe("x");
  await expect(parse("{")).rejects.toThrow(SyntaxError);
});

test.each([1000, 100_000, 4_000_000])(
  "refuses %d levels at once",
  async (depth) => {
    const text = nested(depth);
    const before = process.cpuUsage();
    await expect(parse(text)).rejects.toThrow("exceeded max depth");
    // JSON.parse takes 1.3 s for the last.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(500);
  },
);

const bytes = 2 * 1024 * 1024;
const filled = (item: string): string =>
  Array.from({ length: bytes / item.length }, () => item).join(",");

test.each([
  ["objects", `{"items":[${filled('{"name":"one","values":[1,2,"three"]}')}]}`],
  ["a string", `{"patch":"${"x".repeat(bytes)}"}`],
  ["a string of two-byte characters", `{"patch":"${"é".repeat(bytes / 2)}"}`],
  ["escapes", `["${"\\u0041\\n".repeat(bytes / 8)}"]`],
  ["pairs of escapes", `["${"\\ud83d\\ude00".repeat(bytes / 12)}"]`],
  [
    "what lies deep",
    `${"[".repeat(500)}${filled('{"a":1}')}${"]".repeat(500)}`,
  ],
  ["white space", `${" ".repeat(bytes)}{"a":${" ".repeat(1000)}1}`],
])("megabytes of %s in short steps", async (_, text) => {
  const { value, pauses } = await parse(text);
  expect(JSON.stringify(value) === JSON.stringify(JSON.parse(text))).toBe(true);
  // The text is looked through, then parsed in parts.
  expect(pauses).toBeGreaterThan(bytes / (256 * 1024));
  const steps = (): Iterator<unknown> => parsingForeignJson(Buffer.from(text));
  // A few milliseconds, with the collector's threads; as a whole it takes 40 to 400.
  expect(longestStepUs(steps, 30_000)).toBeLessThan(30_000);
});

test.each([
  ["an end that is missing", `{"items":[${filled('"abc"')}]`],
  ["digits", `{"a":${"1".repeat(bytes)}}`],
  ["zeros", `[${filled("0")}]`],
  [
    "keys",
    `{${Array.from({ length: 200_000 }, (_each, at) => `"key${at}":0`).join(",")}}`,
  ],
])("megabytes with %s are refused", async (_, text) => {
  await expect(parse(text)).rejects.toThrow("the text can't be read as JSON");
});
