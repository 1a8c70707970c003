// JSON text with what Go escapes.
import { escapedJson, stringified } from "../../../api/escaped-json.ts";

test("the five characters that JSON.stringify leaves", () => {
  const value = { "a<b": ["x > y && z", "\u2028\u2029", "ä\n\\u003c"] };
  const text = stringified(value);
  expect(text).toBe(
    String.raw`{"a\u003cb":["x \u003e y \u0026\u0026 z","\u2028\u2029","ä\n\\u003c"]}`,
  );
  expect(JSON.parse(text)).toEqual(value);
  expect(escapedJson(text)).toBe(text);
});

test("a text without them is the same text", () => {
  for (const text of ["{}", '{"a":"ä€"}', String.raw`"\u0001"`])
    expect(escapedJson(text)).toBe(text);
});
