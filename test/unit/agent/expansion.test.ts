import { expand, expandStrictly } from "../../../agent/pods/shape/expansion.ts";

const values: Record<string, string> = { A: "1", B: "$(A)", EMPTY: "" };
const lookup = (name: string): string | undefined => values[name];

test.each([
  ["plain", "plain"],
  ["$(A)", "1"],
  ["x$(A)y$(A)", "x1y1"],
  ["$$(A)", "$(A)"],
  ["$$$(A)", "$1"],
  ["$(B)", "$(A)"],
  ["$(EMPTY)|", "|"],
  ["$(NONE)", "$(NONE)"],
  ["$(unclosed", "$(unclosed"],
  ["$", "$"],
  ["a$b", "a$b"],
  ["$()", "$()"],
])("%s becomes %s", (text, wanted) => {
  expect(expand(text, lookup)).toBe(wanted);
});

test("unknown names are refused where they must be known", () => {
  expect(expandStrictly("$(A)/x", lookup)).toBe("1/x");
  expect(() => expandStrictly("$(NONE)/$(A)", lookup)).toThrow(
    'missing value for "NONE"',
  );
});
