// OpenAPI v2 documents of several servers as one.
import { finish, oneStep } from "../../../api/queueing/steps.ts";
import {
  addDocument,
  documentBelow,
  type MergedMaps,
} from "../../../api/openapi/merge.ts";

const ref = (name: string) => ({ $ref: `#/definitions/${name}` });
const path = (schema: object) => ({
  get: { responses: { "200": { schema } } },
});

test("only what is below the prefix, and what it refers to", () => {
  const document = {
    swagger: "2.0",
    paths: {
      "/apis/a.test/v1/": path(ref("List")),
      "/apis/a.test/v1/things": {
        ...path(ref("Thing")),
        parameters: [{ $ref: "#/parameters/pretty" }],
      },
      "/apis/a.test/v10/things": path(ref("Other")),
      "/apis/apps/v1/stolen": path(ref("Other")),
    },
    definitions: {
      List: { properties: { items: { items: ref("Thing") } } },
      Thing: { properties: { next: ref("Thing"), meta: ref("Meta") } },
      Meta: { type: "object" },
      Other: { type: "string" },
    },
    parameters: { pretty: { in: "query" }, unused: { in: "query" } },
  };
  const before = structuredClone(document);
  const below = documentBelow(document, "/apis/a.test/v1/") as typeof document;
  expect([
    Object.keys(below.paths),
    Object.keys(below.definitions).sort(),
    Object.keys(below.parameters),
  ]).toEqual([
    ["/apis/a.test/v1/", "/apis/a.test/v1/things"],
    ["List", "Meta", "Thing"],
    ["pretty"],
  ]);
  expect(document).toEqual(before);
});

const mapsOf = (document: {
  paths: object;
  definitions: object;
  parameters: object;
}): MergedMaps => ({
  paths: new Map(Object.entries(document.paths)),
  definitions: new Map(
    Object.entries(document.definitions).map(([name, schema]) => [
      name,
      () => oneStep(() => schema as Record<string, unknown>),
    ]),
  ),
  parameters: new Map(Object.entries(document.parameters)),
});
const documentOf = ({ paths, definitions, parameters }: MergedMaps) => ({
  paths: Object.fromEntries(paths),
  definitions: Object.fromEntries(
    [...definitions].map(([name, make]) => [name, finish(make())]),
  ),
  parameters: Object.fromEntries(parameters),
});

test("names of one meaning are shared, of two renamed with their references", () => {
  const document = {
    paths: { "/one": path(ref("Pod")) },
    definitions: { Pod: { type: "object" }, Meta: { type: "object" } },
    parameters: { pretty: { in: "query", name: "pretty" } },
  };
  const other = {
    paths: {
      "/one": path(ref("Meta")),
      "/two": {
        ...path(ref("Pod")),
        parameters: [{ $ref: "#/parameters/pretty" }],
      },
    },
    definitions: {
      Pod: { type: "string", properties: { meta: ref("Meta") } },
      Meta: { type: "object" },
    },
    parameters: { pretty: { in: "query", name: "other" } },
  };
  const third = {
    paths: { "/three": path(ref("Pod")) },
    definitions: { Pod: { type: "number" } },
  };
  const kept = structuredClone(other);
  const maps = mapsOf(document);
  addDocument(maps, other);
  addDocument(maps, third);
  expect(documentOf(maps)).toEqual({
    paths: {
      "/one": path(ref("Pod")),
      "/two": {
        ...path(ref("Pod_v2")),
        parameters: [{ $ref: "#/parameters/pretty_v2" }],
      },
      "/three": path(ref("Pod_v3")),
    },
    definitions: {
      Pod: { type: "object" },
      Meta: { type: "object" },
      Pod_v2: { type: "string", properties: { meta: ref("Meta") } },
      Pod_v3: { type: "number" },
    },
    parameters: {
      pretty: { in: "query", name: "pretty" },
      pretty_v2: { in: "query", name: "other" },
    },
  });
  expect(other).toEqual(kept);
});

test("two names of one document are never made one", () => {
  const maps = mapsOf({
    paths: {},
    definitions: { Pod: { type: "object" } },
    parameters: {},
  });
  addDocument(maps, {
    paths: { "/a/": path(ref("Pod")), "/b/": path(ref("Pod_v2")) },
    definitions: { Pod: { type: "string" }, Pod_v2: { type: "number" } },
  });
  expect(documentOf(maps)).toEqual({
    paths: { "/a/": path(ref("Pod_v2")), "/b/": path(ref("Pod_v2_v2")) },
    definitions: {
      Pod: { type: "object" },
      Pod_v2: { type: "string" },
      Pod_v2_v2: { type: "number" },
    },
    parameters: {},
  });
});

test.each([
  ["paths", { paths: [] }],
  ["definitions", { paths: { "/a/": path(ref("X")) }, definitions: "x" }],
])("%s of another form are refused", (part, document) => {
  expect(() => documentBelow(document, "/a/")).toThrow(`${part} is no object`);
});

test("a document without end in depth is refused", () => {
  let deep: object = {};
  for (let depth = 0; depth < 5_000; depth++) deep = { deep };
  expect(() => documentBelow({ paths: { "/a/": deep } }, "/a/")).toThrow(
    "too deep",
  );
});

test("names of the language are names like others", () => {
  const other = JSON.parse(
    '{"paths":{"/a/":{"__proto__":{"x":1}}},"definitions":{"constructor":{"type":"object"},"__proto__":{"y":1}}}',
  ) as Record<string, unknown>;
  const maps = mapsOf({ paths: {}, definitions: {}, parameters: {} });
  addDocument(maps, other);
  expect(({} as { x?: number }).x).toBeUndefined();
  expect([...maps.definitions.keys()]).toEqual(["constructor", "__proto__"]);
});
