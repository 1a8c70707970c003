// Validating a large definition pauses: no part of it that a tenant can make as long as a request allows is one step.
import { finish, type Steps } from "../../../../api/queueing/steps.ts";
import { publishedSchema } from "../../../../api/structural/openapi.ts";
import { prepareSchemas } from "../../../../api/structural/prepare.ts";
import { Structural } from "../../../../api/structural/structural.ts";
import type {
  CustomResourceDefinition,
  JSONSchemaProps,
} from "../../../../api/types/apiextensions-v1.ts";
import {
  validateChangedDefinition,
  validateNewDefinition,
} from "../../../../apiserver-lite/resources/apiextensions/definition-validation.ts";

const count = 1500;
const names = { plural: "ws", kind: "W", singular: "w", listKind: "WList" };

beforeAll(prepareSchemas);

const fields = (
  made: (index: number) => JSONSchemaProps,
): Record<string, JSONSchemaProps> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`f${index}`, made(index)]),
  );

function definitionOf(schema: JSONSchemaProps): CustomResourceDefinition {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "ws.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names,
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
    status: { storedVersions: ["v1"], acceptedNames: names },
  } as CustomResourceDefinition;
}

const wide = (made: (index: number) => JSONSchemaProps): JSONSchemaProps => ({
  type: "object",
  properties: { spec: { type: "object", properties: fields(made) } },
});

function counted<T>(steps: Steps<T>): { value: T; pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = steps.next();
    if (done) return { value, pauses };
  }
}

test.each<[string, JSONSchemaProps, number]>([
  ["fields", wide(() => ({ type: "string" })), count / 20],
  [
    "patterns",
    wide((at) => ({ type: "string", pattern: `^a{${at % 9}}$` })),
    count,
  ],
  [
    "patterns of alternatives",
    {
      type: "object",
      properties: {
        a: {
          type: "string",
          anyOf: Object.values(fields((at) => ({ pattern: `^b${at}` }))),
        },
      },
    },
    count,
  ],
  [
    "rules",
    wide((at) => ({
      type: "integer",
      "x-kubernetes-validations": [{ rule: `self > ${at}` }],
    })),
    2 * count,
  ],
  [
    "rules of one field",
    {
      type: "object",
      properties: {
        a: {
          type: "integer",
          "x-kubernetes-validations": Array.from(
            { length: count },
            (_, at) => ({ rule: `self > ${at}` }),
          ),
        },
      },
    },
    2 * count,
  ],
  ["defaults", wide((at) => ({ type: "string", default: `x${at}` })), count],
])("%s", (_, schema, least) => {
  const definition = definitionOf(schema);
  const made = counted(validateNewDefinition(definition));
  expect(made.value).toEqual([]);
  expect(made.pauses).toBeGreaterThanOrEqual(least);
  const old = structuredClone(definition);
  const changed = counted(validateChangedDefinition(definition, old));
  expect(changed.value).toEqual([]);
  expect(changed.pauses).toBeGreaterThanOrEqual(least);
});

test("costly rules on a default pause, and are bounded", () => {
  const items = { type: "integer" };
  const list = Array.from({ length: 200 }, (_, at) => at);
  const definition = definitionOf({
    type: "object",
    properties: {
      a: {
        type: "array",
        maxItems: 200,
        items,
        default: list,
        "x-kubernetes-validations": [
          { rule: "self.all(x, self.all(y, x + y >= 0))" },
        ],
      },
    },
  } as JSONSchemaProps);
  const { value, pauses } = counted(validateNewDefinition(definition));
  expect(value).toEqual([]);
  // Forty thousand comparisons, twice.
  expect(pauses).toBeGreaterThan(10);
});

test("what is read and published of it pauses too, and is the same", () => {
  const schema = wide((at) => ({
    type: "array",
    items: { type: "object", properties: { a: { type: "string" } } },
    description: `${at}`,
  }));
  const read = counted(Structural.inSteps(schema));
  expect(read.pauses).toBeGreaterThan(count / 40);
  expect(read.value).toEqual(new Structural(schema));
  for (const version of [2, 3] as const) {
    const kind = {
      ...{ group: "example.com", version: "v1", kind: "W" },
      ...{ listKind: "WList", plural: "ws", selectableFields: [] },
      preserveUnknownFields: false,
    };
    const published = counted(publishedSchema(read.value, kind, version));
    expect(published.pauses).toBeGreaterThan(count / 40);
    expect(published.value).toEqual(
      finish(publishedSchema(new Structural(schema), kind, version)),
    );
  }
});
