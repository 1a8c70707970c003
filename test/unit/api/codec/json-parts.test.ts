// A text parsed in parts is what it is as a whole, whatever the parts' size; what is no JSON is refused; no step is long.
import fc from "fast-check";
import { decodeJson } from "../../../../api/codec/json.ts";
import { parsingParts } from "../../../../api/codec/json-parts.ts";
import {
  parseJsonSlowly,
  scanningText,
  scanText,
} from "../../../../api/codec/json-text.ts";
import { finish } from "../../../../api/queueing/steps.ts";

function parse(
  text: string,
  partBytes: number,
): { value: unknown } | undefined {
  const bytes = Buffer.from(text);
  return finish(parsingParts(bytes, scanText(bytes).special, partBytes));
}

const space = fc.constantFrom("", " ", "\n", "\t \r\n");

/** The text of a value with white space between its tokens. */
function spaced(value: unknown, gaps: string[], next = { at: 0 }): string {
  const gap = (): string => gaps[next.at++ % gaps.length]!;
  if (typeof value !== "object" || value === null)
    return gap() + JSON.stringify(value) + gap();
  const inner = Array.isArray(value)
    ? value.map((each) => spaced(each, gaps, next))
    : Object.entries(value).map(
        ([key, each]) =>
          `${gap()}${JSON.stringify(key)}${gap()}:${spaced(each, gaps, next)}`,
      );
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${gap()}${open}${inner.join(",") || gap()}${close}${gap()}`;
}

const container = fc.oneof(
  fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 12 }),
  fc.array(fc.jsonValue({ maxDepth: 4 }), { maxLength: 12 }),
);

test("any value, in parts of any size", () => {
  fc.assert(
    fc.property(
      container,
      fc.array(space, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 200 }),
      (value, gaps, partBytes) => {
        const text = spaced(value, gaps);
        const expected = scanText(Buffer.from(text)).special
          ? parseJsonSlowly(text).value
          : (JSON.parse(text) as unknown);
        const parsed = parse(text, partBytes);
        expect(parsed).toEqual({ value: expected });
        expect(JSON.stringify(parsed!.value)).toBe(JSON.stringify(expected));
      },
    ),
    { numRuns: 250, seed: 20261122 },
  );
});

test("strings in pieces of any size, whatever they are made of", () => {
  const unit = fc.constantFrom(
    ..."aé€",
    "\u{1f600}",
    "\\n",
    "\\\\",
    '\\"',
    "\\u0041",
    "\\ud83d\\ude00",
    "\\ud83d",
    "\\uDE00",
  );
  fc.assert(
    fc.property(
      fc.array(unit, { maxLength: 60 }),
      fc.integer({ min: 1, max: 40 }),
      (units, partBytes) => {
        const text = `{"a":["${units.join("")}"],"b":1}`;
        const { special } = scanText(Buffer.from(text));
        const expected = special
          ? parseJsonSlowly(text).value
          : (JSON.parse(text) as unknown);
        expect(parse(text, partBytes)).toEqual({ value: expected });
      },
    ),
    { numRuns: 500, seed: 20261122 },
  );
});

test("a text is scanned in steps as it is at once", () => {
  const around = 256 * 1024;
  for (const token of [
    '"a\\"b"',
    "12345678901234567890",
    "1e5",
    '"\\ud83d"',
    "1.5",
  ])
    for (let shift = 0; shift < token.length + 2; shift++) {
      const text = `{"k":"${"x".repeat(around - shift - 8)}","v":${token}}`;
      const bytes = Buffer.from(text);
      const { keys, special } = finish(scanningText(bytes));
      expect({ keys, special, shift }).toEqual({
        keys: 2,
        special: !token.startsWith('"a'),
        shift,
      });
    }
});

test("a text with one change is parsed like JSON.parse does, or refused", () => {
  fc.assert(
    fc.property(
      container,
      fc.nat(),
      fc.constantFrom("", ",", "[", "]", "{", "}", '"', ":", "\\", "0", " "),
      fc.integer({ min: 1, max: 60 }),
      (value, where, change, partBytes) => {
        const text = JSON.stringify(value);
        const at = where % (text.length + 1);
        const changed = text.slice(0, at) + change + text.slice(at + 1);
        const parsed = parse(changed, partBytes);
        let expected: { value: unknown } | undefined;
        try {
          const slow = parseJsonSlowly(changed).value;
          if (typeof slow === "object" && slow !== null)
            expected = { value: slow };
        } catch {
          // Not valid.
        }
        if (parsed || !expected) expect(parsed).toEqual(expected);
        else expect(() => parse(changed, partBytes)).not.toThrow();
        if (expected && scanText(Buffer.from(changed)).special === false)
          expect(parsed).toEqual(expected);
      },
    ),
    { numRuns: 250, seed: 20261122 },
  );
});

test.each([
  ["", undefined],
  ["1", undefined],
  ["{}", {}],
  [" [ ] ", []],
  ["[1,]", undefined],
  ["[,1]", undefined],
  ['{"a":1,}', undefined],
  ['{"a":{"b":1},}', undefined],
  ['{"a" 1}', undefined],
  ["{a:1}", undefined],
  ["[1 2]", undefined],
  ["[1}", undefined],
  ['{"a":[1}', undefined],
  ['{"a":[1}]', undefined],
  ["[1] 2", undefined],
  ['["a', undefined],
  ['["a\\', undefined],
  ['{"a":1,"b":[1,2,3,4],"a":2}', { a: 2, b: [1, 2, 3, 4] }],
  ["[[[[[[[[[[[[[1]]]]]]]]]]]]]", [[[[[[[[[[[[[1]]]]]]]]]]]]]],
])("%s", (text, value) => {
  for (const partBytes of [1, 3, 8, 1000])
    expect(parse(text, partBytes)?.value).toEqual(value);
});

test("a key named __proto__ is a key", () => {
  const text = '{"a":1,"__proto__":{"b":[1,2]},"c":{"__proto__":3}}';
  for (const partBytes of [1, 4, 12, 1000]) {
    const value = parse(text, partBytes)!.value as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(JSON.stringify(value)).toBe(text);
  }
});

test("parts are the steps, and a deep text is parsed without going through it for each level", () => {
  const many = JSON.stringify({
    data: Object.fromEntries(
      Array.from({ length: 5000 }, (_, at) => [`key-${at}`, `value ${at}`]),
    ),
  });
  const bytes = Buffer.from(many);
  let steps = 0;
  const parsing = parsingParts(bytes, false, 4096);
  while (!parsing.next().done) steps++;
  expect(steps).toBeGreaterThan(many.length / 4096 / 2);
  const deep = "[".repeat(900) + "1,".repeat(50_000) + "1" + "]".repeat(900);
  expect(JSON.stringify(parse(deep, 1024)!.value)).toBe(deep);
});

test("a large body is decoded as a small one is", () => {
  const data = Object.fromEntries(
    Array.from({ length: 9000 }, (_, at) => [`key-${at}`, `value "${at}" ä`]),
  );
  const body = { kind: "ConfigMap", apiVersion: "v1", data, ratio: 0.5 };
  const text = JSON.stringify(body);
  expect(text.length).toBeGreaterThan(128 * 1024);
  expect(decodeJson(Buffer.from(text)).object).toEqual(body);
  const twice = text.replace('"key-7":', '"key-6":');
  expect(decodeJson(Buffer.from(twice)).object).toEqual(
    parseJsonSlowly(twice).value,
  );
  expect(() => decodeJson(Buffer.from(text.slice(0, -1)))).toThrow(
    "unexpected end of JSON input",
  );
  expect(() =>
    decodeJson(Buffer.from(text.replace('"key-8999":', ""))),
  ).toThrow("invalid character");
});
