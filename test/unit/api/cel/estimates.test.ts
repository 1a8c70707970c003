// What rules cost at most, against a stock API server of 1.32: by which factor of its limit of 10,000,000 it refuses a
// definition with the rule on `spec` of the schema below, or "ok".
import { readFileSync } from "node:fs";
import path from "node:path";
import { Environment } from "../../../../api/cel/environment.ts";
import { compile } from "../../../../api/cel/program.ts";
import {
  typeOfSchema,
  type JsonSchema,
} from "../../../../api/cel/schemas/from-json-schema.ts";

const estimates = JSON.parse(
  readFileSync(path.join(__dirname, "fixtures/estimates.json"), "utf8"),
) as [rule: string, factor: string][];

const text: JsonSchema = { type: "string" };
const integer: JsonSchema = { type: "integer" };
const item: JsonSchema = {
  type: "object",
  properties: {
    name: { type: "string", maxLength: 10 },
    n: integer,
    tags: { type: "array", items: text, maxItems: 5 },
  },
};
const shortItem: JsonSchema = {
  type: "object",
  required: ["x"],
  properties: { x: { type: "string", maxLength: 3 } },
};
const schema: JsonSchema = {
  type: "object",
  properties: {
    s: text,
    s10: { type: "string", maxLength: 10 },
    e: { type: "string", enum: ["abc", "defgh"] },
    n: integer,
    f: { type: "number" },
    b: { type: "boolean" },
    l: { type: "array", items: integer },
    l10: { type: "array", items: integer, maxItems: 10 },
    ls: { type: "array", items: text },
    ls10: {
      type: "array",
      items: { type: "string", maxLength: 20 },
      maxItems: 1000,
    },
    o: { type: "array", items: item },
    o100: { type: "array", items: item, maxItems: 100 },
    m: { type: "object", additionalProperties: text },
    m10: {
      type: "object",
      additionalProperties: { type: "string", maxLength: 5 },
      maxProperties: 1000,
    },
    mi: { type: "object", additionalProperties: integer },
    d: { type: "string", format: "duration" },
    dt: { type: "string", format: "date-time" },
    by: { type: "string", format: "byte" },
    ios: { "x-kubernetes-int-or-string": true },
    nested: {
      type: "object",
      required: ["a"],
      properties: { a: text, list: { type: "array", items: shortItem } },
    },
    ll: { type: "array", items: { type: "array", items: text } },
  },
};
const self = typeOfSchema(schema, "selfType")!;
const environment = new Environment({ variables: { self, oldSelf: self } });

test.each(estimates)("%s costs %s", (rule, expected) => {
  const compiled = compile(rule, environment);
  if (!compiled.ok) {
    expect(`compile: ${compiled.issues}`).toBe(expected);
    return;
  }
  const { min, max } = compiled.program.estimateCost();
  expect(min).toBeLessThanOrEqual(max);
  const factor = max / 10_000_000;
  // The reference prints small factors in full.
  const shown =
    factor > 100
      ? "more than 100x"
      : factor <= 1
        ? "ok"
        : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  expect(shown).toBe(expected);
});
