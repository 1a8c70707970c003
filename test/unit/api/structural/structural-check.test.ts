// Structural schemas: hostile ones are checked in bounded time. What is a problem is compared with the reference
// (test/reference, custom-definitions).
import { prepareSchemas } from "../../../../api/structural/prepare.ts";
import { finish } from "../../../../api/queueing/steps.ts";
import { Structural } from "../../../../api/structural/structural.ts";
import {
  structuralProblems,
  whyUnsupported,
} from "../../../../api/structural/structural-check.ts";
import { defaultProblems } from "../../../../api/structural/default-check.ts";
import type { JSONSchemaProps } from "../../../../api/types/apiextensions-v1.ts";

beforeAll(prepareSchemas);

const text = { type: "string" };
const texts = (schema: JSONSchemaProps): string[] =>
  finish(structuralProblems(schema, "s")).map(
    ({ field, detail }) => `${field}: ${detail}`,
  );

test("problems are in the order of their texts", () => {
  expect(
    texts({
      type: "object",
      properties: { b: {}, a: { type: "array" } },
      anyOf: [{ type: "object", properties: { c: { minLength: 1 } } }],
    }),
  ).toEqual([
    "s.anyOf[0].type: Forbidden: must be empty to be structural",
    "s.properties[a].items: Required value: must be specified",
    "s.properties[b].type: Required value: must not be empty for specified object fields",
    "s.properties[c]: Required value: because it is defined in s.anyOf[0].properties[c]",
  ]);
});

test.each<[JSONSchemaProps, string]>([
  [{ id: "x" }, "OpenAPIV3Schema 'id' is not supported"],
  [
    { properties: { a: { $ref: "#/a" } } },
    "OpenAPIV3Schema '$ref' is not supported",
  ],
  [
    { items: [text] },
    "OpenAPIV3Schema 'items' must be a schema, but is an array",
  ],
])("what has no structural form: %#", (schema, why) => {
  expect(finish(whyUnsupported(schema))).toBe(why);
});

test("great and deep schemas take linear time", () => {
  let deep: JSONSchemaProps = { ...text, default: 1 };
  for (let depth = 0; depth < 450; depth++)
    deep = { type: "object", properties: { a: deep }, anyOf: [{ not: {} }] };
  const wide: JSONSchemaProps = {
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: 5000 }, (_, at) => [
        `f${at}`,
        { ...text, default: "x", pattern: `^a${at % 10}` },
      ]),
    ),
  };
  const began = process.cpuUsage();
  expect(texts(deep)).toEqual([]);
  expect(
    finish(
      defaultProblems(new Structural(deep), "s", {
        requirePruned: true,
        checkMetadata: () => [],
      }),
    ),
  ).toHaveLength(1);
  expect(texts(wide)).toEqual([]);
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(3000);
});
