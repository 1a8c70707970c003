// What is published of definitions, against the documents that kube-apiserver 1.32 made of them (fixtures/published.json).
import { finish } from "../../../../api/queueing/steps.ts";
import {
  publishedListSchema,
  publishedSchema,
} from "../../../../api/structural/openapi.ts";
import { Structural } from "../../../../api/structural/structural.ts";
import type { JSONSchemaProps } from "../../../../api/types/apiextensions-v1.ts";
import published from "./fixtures/published.json";

describe.each(Object.entries(published))("%s", (kind, recorded) => {
  const schema = new Structural(recorded.schema as unknown as JSONSchemaProps);
  const names = {
    group: "schema.example.com",
    version: "v1",
    kind,
    listKind: `${kind}List`,
    plural: recorded.plural,
    selectableFields: recorded.selectableFields,
    preserveUnknownFields: false,
  };

  test("version 2", () => {
    expect(finish(publishedSchema(schema, names, 2))).toEqual(recorded.v2);
    expect(publishedListSchema(names, 2)).toEqual(recorded.list2);
  });

  test("version 3", () => {
    expect(finish(publishedSchema(schema, names, 3))).toEqual(recorded.v3);
    expect(publishedListSchema(names, 3)).toEqual(recorded.list3);
  });

  test("without a structural schema", () => {
    expect(Object.keys(finish(publishedSchema(undefined, names, 3)))).toEqual([
      "type",
      "x-kubernetes-group-version-kind",
      "x-kubernetes-selectable-fields",
    ]);
  });
});
