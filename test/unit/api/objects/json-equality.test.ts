import { sameJson, sameValue } from "../../../../api/objects/json-equality.ts";
import { ExactNumber } from "../../../../api/exact-number.ts";

const own = (key: string, value: unknown): object =>
  JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`) as object;

test.each<[string, unknown, unknown, boolean, boolean]>([
  ["the order of keys", { a: 1, b: [2] }, { b: [2], a: 1 }, true, true],
  ["the order of a list", [1, 2], [2, 1], false, false],
  ["a longer list", [1], [1, 1], false, false],
  ["undefined and absent", { a: undefined }, {}, true, true],
  ["null and absent", { a: null }, {}, false, true],
  ["empty and absent", { a: {} }, { b: [] }, false, true],
  ["0 and absent", { a: 0 }, {}, false, false],
  ["a list and an object", [], {}, false, true],
  ["a key more", { a: 1 }, { a: 1, b: 2 }, false, false],
  ["a key named constructor", {}, own("constructor", "x"), false, false],
  ["a key named toString", {}, own("toString", "x"), false, false],
  ["a key named __proto__", own("__proto__", {}), {}, false, true],
  ["a full __proto__", own("__proto__", { a: 1 }), {}, false, false],
  ["equal exact numbers", ...exact("1.50", "1.50"), true, true],
  ["unequal exact numbers", ...exact("1.50", "1.5"), false, false],
  ["a number and its fields", { text: "1" }, exact("1", "")[0], false, false],
])("%s", (_, left, right, json, value) => {
  expect([sameJson(left, right), sameJson(right, left)]).toEqual([json, json]);
  expect([sameValue(left, right), sameValue(right, left)]).toEqual([
    value,
    value,
  ]);
});

function exact(left: string, right: string): [unknown, unknown] {
  return [new ExactNumber(left), new ExactNumber(right)];
}
