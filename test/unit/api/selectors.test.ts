import { ApiError } from "../../../api/errors.ts";
import {
  escapeFieldValue,
  parseFieldSelector,
  parseLabelSelector,
  selectorFromMap,
  selectorFromObject,
} from "../../../api/selectors.ts";

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).code).toBe(400);
    return (error as ApiError).message;
  }
  throw new Error("did not throw");
}

describe("label selectors", () => {
  test.each([
    ["", {}, true],
    ["", undefined, true],
    ["a=b", { a: "b" }, true],
    ["a==b", { a: "b" }, true],
    ["a=b", { a: "c" }, false],
    ["a=b", undefined, false],
    ["a=", { a: "" }, true],
    ["a!=b", {}, true],
    ["a!=b", { a: "b" }, false],
    ["a", { a: "" }, true],
    ["a", {}, false],
    ["!a", {}, true],
    ["! a", { a: "x" }, false],
    ["a in (b, c)", { a: "c" }, true],
    ["a in (b,c)", { a: "d" }, false],
    ["a in (b,c)", {}, false],
    ["a notin (b,c)", {}, true],
    ["a notin (b,c)", { a: "b" }, false],
    ["a in (,b)", { a: "" }, true],
    ["a in (b,)", { a: "" }, true],
    ["a>5", { a: "6" }, true],
    ["a<5", { a: "6" }, false],
    ["a>5", { a: "x" }, false],
    ["in in (in,notin)", { in: "notin" }, true],
    [
      "a=b,c!=d,!e,app.kubernetes.io/name in (x)",
      { a: "b", "app.kubernetes.io/name": "x" },
      true,
    ],
    ["constructor", {}, false],
    ["toString=x", {}, false],
  ])("%j on %j is %s", (text, labels, expected) =>
    expect(parseLabelSelector(text).matches(labels)).toBe(expected),
  );

  test.each([
    ["a=b,", "found '', expected: identifier after ','"],
    [",a", "found ',', expected: !, identifier, or 'end of string'"],
    [
      "a b",
      "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
    ],
    ["a in b", "unable to parse requirement: found 'b' expected: '('"],
    ["a in (b", "unable to parse requirement: found '', expected: ',' or ')'"],
    ["a=b c", "found 'c', expected: ',' or 'end of string'"],
    ["!", "unable to parse requirement: found '', expected: identifier"],
    [
      "a>x",
      "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
  ])("%j is refused", (text, message) =>
    expect(messageOf(() => parseLabelSelector(text))).toBe(message),
  );

  test("bad keys and values name the rule", () => {
    expect(messageOf(() => parseLabelSelector("-a=b"))).toContain(
      '<nil>: Invalid value: "-a": name part must consist of',
    );
    expect(messageOf(() => parseLabelSelector("a=-b"))).toContain(
      'values[0][a]: Invalid value: "-b": a valid label must be',
    );
  });

  test("canonical text", () => {
    expect(parseLabelSelector(" b in (y,x) , a=1, !c ,d").toString()).toBe(
      "a=1,b in (x,y),!c,d",
    );
    expect(parseLabelSelector("").empty).toBe(true);
  });

  test("objects", () => {
    expect(selectorFromObject(undefined).matches({})).toBe(false);
    expect(selectorFromObject(undefined).empty).toBe(false);
    expect(selectorFromObject({}).matches({ a: "b" })).toBe(true);
    const selector = selectorFromObject({
      matchLabels: { app: "x" },
      matchExpressions: [
        { key: "tier", operator: "NotIn", values: ["db"] },
        { key: "gone", operator: "DoesNotExist" },
      ],
    });
    expect(selector.matches({ app: "x" })).toBe(true);
    expect(selector.matches({ app: "x", tier: "db" })).toBe(false);
    expect(selector.toString()).toBe("app=x,!gone,tier notin (db)");
    expect(
      messageOf(() =>
        selectorFromObject({
          matchExpressions: [{ key: "a", operator: "Eq" }],
        }),
      ),
    ).toBe('"Eq" is not a valid label selector operator');
    expect(selectorFromMap({ a: "b" }).matches({ a: "b", c: "d" })).toBe(true);
  });
});

describe("field selectors", () => {
  const fields = {
    "metadata.name": "a",
    "spec.nodeName": "",
    "x.y": "p,q=r\\",
  };
  test.each([
    ["", true],
    ["metadata.name=a", true],
    ["metadata.name==a", true],
    ["metadata.name!=a", false],
    ["metadata.name=a,spec.nodeName=", true],
    ["missing=", true],
    ["missing!=", false],
    ["x.y=p\\,q\\=r\\\\", true],
    [",metadata.name=a,", true],
  ])("%j is %s", (text, expected) =>
    expect(parseFieldSelector(text).matches(fields)).toBe(expected),
  );

  test.each([
    ["abc", "invalid selector: 'abc'; can't understand 'abc'"],
    ["a=b=c", "invalid field selector: unescaped character in value: 61"],
    ["a=\\x", "invalid field selector: invalid escape sequence: \\x"],
    ["a=\\", "invalid field selector: invalid escape sequence: \\"],
  ])("%j is refused", (text, message) =>
    expect(messageOf(() => parseFieldSelector(text))).toBe(message),
  );

  test("round trip and required", () => {
    const selector = parseFieldSelector(
      `metadata.name=${escapeFieldValue("a,b")},c!=d`,
    );
    expect(selector.required("metadata.name")).toBe("a,b");
    expect(selector.required("c")).toBeUndefined();
    expect(selector.toString()).toBe("c!=d,metadata.name=a\\,b");
  });
});
