// What is done with large values beside validating them goes in steps, and ends where nothing could be stored any more:
// defaults, duplicates in sets and maps, embedded resources.
import { embeddedProblems } from "../../../../api/structural/embedded.ts";
import { settingDefaults } from "../../../../api/structural/defaulting.ts";
import { duplicateProblems } from "../../../../api/structural/list-types.ts";
import { Structural } from "../../../../api/structural/structural.ts";
import { finish, type Steps } from "../../../../api/queueing/steps.ts";
import type { JSONSchemaProps } from "../../../../api/types/apiextensions-v1.ts";

const text: JSONSchemaProps = { type: "string" };
const empty = (count: number): object[] =>
  Array.from({ length: count }, () => ({}));
const listOf = (properties: Record<string, JSONSchemaProps>) => ({
  type: "array",
  items: { type: "object", properties },
});

function stepsOf<T>(steps: Steps<T>): { value: T; count: number } {
  for (let count = 1; ; count++) {
    const { done, value } = steps.next();
    if (done) return { value, count };
  }
}

describe("defaults", () => {
  const set = (schema: JSONSchemaProps, value: unknown) =>
    stepsOf(settingDefaults(value, new Structural(schema)));
  const tooLarge = expect.objectContaining({
    status: expect.objectContaining({
      code: 500,
      message: "etcdserver: request is too large",
    }),
  });

  test("are set in steps, and counted", () => {
    const list = empty(50_000);
    const { value, count } = set(
      listOf({ a: { ...text, default: "b" } }),
      list,
    );
    expect(count).toBeGreaterThan(10);
    expect(value).toBe(50_000 * 7);
    expect(list.every((item) => "a" in item)).toBe(true);
  });

  test("of free keys are set in steps", () => {
    const map = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`k${index}`, null]),
    );
    const schema = {
      type: "object",
      additionalProperties: { ...text, default: "b" },
    };
    expect(set(schema, map).count).toBeGreaterThan(4);
    expect(new Set(Object.values(map))).toEqual(new Set(["b"]));
  });

  test("within defaults are set, too", () => {
    const object = {};
    const inner = {
      type: "object",
      properties: { c: { ...text, default: "d" } },
    };
    const schema = {
      type: "object",
      properties: {
        a: { ...listOf({ b: { ...inner, default: {} } }), default: [{}, {}] },
      },
    };
    set(schema, object);
    expect(object).toEqual({ a: [{ b: { c: "d" } }, { b: { c: "d" } }] });
  });

  test("that a list multiplies end", () => {
    const schema = listOf({ a: { ...text, default: "x".repeat(1000) } });
    expect(() => set(schema, empty(100_000))).toThrow(tooLarge);
    expect(() => set(schema, empty(1000))).not.toThrow();
  });

  test("that multiply each other end", () => {
    let schema: JSONSchemaProps = { ...text, default: "x" };
    for (let depth = 0; depth < 6; depth++)
      schema = { ...listOf({ a: schema }), default: empty(1000) };
    expect(() =>
      set({ type: "object", properties: { a: schema } }, {}),
    ).toThrow(tooLarge);
  });

  test("of free keys that multiply end", () => {
    const schema = {
      type: "object",
      additionalProperties: {
        type: "object",
        properties: { a: { ...text, default: "x".repeat(10_000) } },
      },
    };
    const map = Object.fromEntries(
      Array.from({ length: 5000 }, (_, index) => [`k${index}`, {}]),
    );
    expect(() => set(schema, map)).toThrow(tooLarge);
  });
});

describe("duplicates", () => {
  const find = (schema: JSONSchemaProps, value: unknown) =>
    stepsOf(duplicateProblems(value, new Structural(schema)));
  const setOf = (items: JSONSchemaProps): JSONSchemaProps => ({
    type: "array",
    items,
    "x-kubernetes-list-type": "set",
  });

  test("in a large set are found in steps", () => {
    const list = Array.from({ length: 30_000 }, (_, index) => `t${index}`);
    expect(find(setOf(text), list)).toMatchObject({ value: [] });
    const { value, count } = find(setOf(text), [...list, "t7"]);
    expect(value).toEqual([
      {
        type: "FieldValueDuplicate",
        field: "[30000]",
        detail: 'Duplicate value: "t7"',
      },
    ]);
    expect(count).toBeGreaterThan(50);
  });

  test("in many small maps are found in steps", () => {
    const map: JSONSchemaProps = {
      type: "array",
      items: { type: "object", properties: { name: text } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    };
    const value = Array.from({ length: 20_000 }, (_, index) => ({
      a: index === 9 ? [{ name: "n" }, { name: "n" }] : [{ name: "n" }],
    }));
    const found = find(listOf({ a: map }), value);
    expect(found.value.map(({ field }) => field)).toEqual(["[9].a[1]"]);
    expect(found.count).toBeGreaterThan(50);
  });

  test("are not noted without end", () => {
    const value = Array.from({ length: 50_000 }, (_, index) => index >> 1);
    expect(find(setOf({ type: "integer" }), value).value).toHaveLength(1000);
    const lists = Array.from({ length: 50_000 }, () => ({ a: [1, 1] }));
    expect(
      find(listOf({ a: setOf({ type: "integer" }) }), lists).value,
    ).toHaveLength(1000);
  });
});

describe("embedded resources", () => {
  const schema = listOf({
    a: {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
    },
  });
  const check = (value: unknown) =>
    stepsOf(embeddedProblems(value, new Structural(schema), () => []));

  test("are checked in steps", () => {
    const value = Array.from({ length: 5000 }, (_, index) => ({
      a: { apiVersion: "v1", ...(index === 7 ? {} : { kind: "A" }) },
    }));
    const { value: problems, count } = check(value);
    expect(problems.map(({ field }) => field)).toEqual(["[7].a.kind"]);
    expect(count).toBeGreaterThan(50);
  });

  test("have no end of problems", () => {
    const value = Array.from({ length: 200_000 }, () => ({ a: {} }));
    expect(check(value).value.length).toBeLessThan(1010);
  });
});

test("small values take one step", () => {
  const schema = new Structural(listOf({ a: { ...text, default: "b" } }));
  expect(finish(settingDefaults([{}], schema))).toBe(7);
  expect(stepsOf(settingDefaults([{}], schema)).count).toBe(1);
});
