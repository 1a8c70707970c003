import {
  ExactNumber,
  integerOf,
  plainNumbers,
} from "../../../api/exact-number.ts";
import { decodeJson } from "../../../api/codec/json.ts";
import { schemaFor } from "../../../api/schema.ts";

test.each<[unknown, 32 | 64, number | undefined]>([
  [3, 32, 3],
  [2 ** 31, 32, undefined],
  [1.5, 64, undefined],
  ["3", 32, undefined],
  [new ExactNumber("3.0"), 32, undefined],
  [new ExactNumber("3e0"), 64, undefined],
  [new ExactNumber("4294967296"), 32, undefined],
  [new ExactNumber("9007199254740993"), 64, 9007199254740992],
  // The nearest double would be too large for 64 bits.
  [new ExactNumber("9223372036854775807"), 64, 2 ** 63 - 1024],
  [new ExactNumber("9223372036854775808"), 64, undefined],
  [new ExactNumber("-9223372036854775808"), 64, -(2 ** 63)],
])("integerOf(%p, %i)", (value, bits, expected) =>
  expect(integerOf(value, bits)).toBe(expected),
);

test("a frozen tree without exact numbers is left alone", () => {
  const tree = Object.freeze({ a: Object.freeze({ b: 1 }) });
  expect(plainNumbers(tree)).toBe(tree);
  expect(plainNumbers({ a: [new ExactNumber("1.50")] })).toEqual({ a: [1.5] });
});

const decode = (spec: string) =>
  decodeJson(Buffer.from(`{"spec":${spec}}`), schemaFor("", "v1", "Pod"));

test("bodies: what is no integer is refused as it was written", () => {
  expect(() => decode('{"priority":3.0}')).toThrow(
    "cannot unmarshal number 3.0 into Go struct field PodSpec.spec.priority of type int32",
  );
  expect(() => decode('{"terminationGracePeriodSeconds":1e2}')).toThrow(
    "number 1e2",
  );
});

test("a map given twice is read into one; half surrogates are replaced", () => {
  const { object, problems } = decode(
    '{"nodeSelector":{"a":"1"},"hostname":"\\ud800","nodeSelector":{"b":"2"}}',
  );
  expect(object["spec"]).toMatchObject({
    nodeSelector: { a: "1", b: "2" },
    hostname: "\uFFFD",
  });
  expect(problems).toEqual(['duplicate field "spec.nodeSelector"']);
});
