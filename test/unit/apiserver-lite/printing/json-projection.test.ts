// What a projection reads of a JSON text is what parsing it all and picking the wanted members gives.
import fc from "fast-check";
import {
  JsonProjection,
  whole,
  type Wanted,
} from "../../../../apiserver-lite/printing/json-projection.ts";

const names = ["a", "b", "name", "__proto__", 'q"uote', "fieldsV1", "ü"];
const key = fc.oneof(fc.constantFrom(...names), fc.string());
const object = fc.dictionary(
  key,
  fc.letrec((tie) => ({
    value: fc.oneof(
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4 }),
    ),
  })).value,
);
const wanted = fc.letrec<{ wanted: Wanted }>((tie) => ({
  wanted: fc.dictionary(
    fc.constantFrom("a", "b", "name", "ü"),
    fc.oneof(fc.constant(whole), tie("wanted")),
  ) as fc.Arbitrary<Wanted>,
})).wanted;

function pick(value: unknown, members: Wanted): unknown {
  if (Array.isArray(value)) return value.map((item) => pick(item, members));
  if (typeof value !== "object" || value === null) return value;
  const picked: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) {
    const below = Object.hasOwn(members, name) ? members[name]! : undefined;
    if (below === undefined) continue;
    picked[name] = below === whole ? inner : pick(inner, below);
  }
  return picked;
}

test("reads what picking from the parsed text gives", () => {
  fc.assert(
    fc.property(object, wanted, (value, members) => {
      const text = JSON.stringify(value);
      expect(new JsonProjection(members).read(Buffer.from(text))).toEqual(
        pick(JSON.parse(text), members),
      );
    }),
    { numRuns: 150, seed: 20261123 },
  );
});

test("counts the items of a list that is asked for empty", () => {
  const json = Buffer.from('{"list":[{"a":1},{"b":[2]}],"other":[1,2]}\n');
  expect(new JsonProjection({ list: {} }).read(json)).toEqual({
    list: [{}, {}],
  });
});

test("a text that is no object, or not as JSON.stringify writes it, is not read", () => {
  const projection = new JsonProjection({ a: whole });
  for (const text of ["[]", "1", '{ "a":1}', '{"a":1', ""])
    expect(projection.read(Buffer.from(text))).toBeUndefined();
});
