// What other servers answer is read only as deeply as objects are.
import { parseForeignJson } from "../../../client/webhook/foreign-json.ts";

const nested = (depth: number): string =>
  `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;

test("reads what JSON.parse reads", () => {
  const text = nested(990);
  expect(parseForeignJson(text)).toEqual(JSON.parse(text));
  expect(parseForeignJson('"x"')).toBe("x");
  expect(() => parseForeignJson("{")).toThrow(SyntaxError);
});

test.each([1000, 100_000, 4_000_000])("refuses %d levels at once", (depth) => {
  const before = performance.now();
  expect(() => parseForeignJson(nested(depth))).toThrow("exceeded max depth");
  // JSON.parse takes 1.3 s for the last.
  expect(performance.now() - before).toBeLessThan(500);
});
