/* eslint-disable @typescript-eslint/no-explicit-any -- documents are looked into freely here */
// The v3 documents in protobuf, decoded by the public layout and brought back into JSON: nothing may be lost.
import { isDeepStrictEqual } from "node:util";
import { parse } from "protobufjs";
import { builtinCatalogue } from "../../../api/catalogue.ts";
import { createOpenApiService } from "../../../api/openapi/service.ts";

const { root } = parse(
  `syntax = "proto3";
  message Any { string yaml = 2; }
  message NamedAny { string name = 1; Any value = 2; }
  message Reference { string ref = 1; string description = 3; }
  message Document { string openapi = 1; Info info = 2; Paths paths = 4; Components components = 5; }
  message Info { string title = 1; string version = 6; }
  message Paths { repeated NamedPathItem pairs = 1; }
  message NamedPathItem { string name = 1; PathItem value = 2; }
  message PathItem { Operation get = 4; Operation put = 5; Operation post = 6; Operation delete = 7; Operation options = 8;
    Operation head = 9; Operation patch = 10; repeated ParameterOrReference parameters = 13; repeated NamedAny extensions = 14; }
  message Operation { repeated string tags = 1; string operationId = 5; repeated ParameterOrReference parameters = 6;
    RequestBodyOrReference requestBody = 7; Responses responses = 8; repeated NamedAny extensions = 13; }
  message ParameterOrReference { oneof either { Parameter own = 1; Reference reference = 2; } }
  message Parameter { string name = 1; string in = 2; bool required = 4; SchemaOrReference schema = 10; }
  message RequestBodyOrReference { oneof either { RequestBody own = 1; Reference reference = 2; } }
  message RequestBody { MediaTypes content = 2; bool required = 3; }
  message Responses { ResponseOrReference default = 1; repeated NamedResponse pairs = 2; }
  message NamedResponse { string name = 1; ResponseOrReference value = 2; }
  message ResponseOrReference { oneof either { Response own = 1; Reference reference = 2; } }
  message Response { string description = 1; MediaTypes content = 3; }
  message MediaTypes { repeated NamedMediaType pairs = 1; }
  message NamedMediaType { string name = 1; MediaType value = 2; }
  message MediaType { SchemaOrReference schema = 1; }
  message Components { Schemas schemas = 1; SecuritySchemes securitySchemes = 7; }
  message SecuritySchemes { repeated NamedSecurityScheme pairs = 1; }
  message NamedSecurityScheme { string name = 1; SecuritySchemeOrReference value = 2; }
  message SecuritySchemeOrReference { oneof either { SecurityScheme own = 1; Reference reference = 2; } }
  message SecurityScheme { string type = 1; string name = 3; string in = 4; }
  message Schemas { repeated NamedSchema pairs = 1; }
  message NamedSchema { string name = 1; SchemaOrReference value = 2; }
  message SchemaOrReference { oneof either { Schema own = 1; Reference reference = 2; } }
  message Items { repeated SchemaOrReference one = 1; }
  message Additional { oneof either { SchemaOrReference schema = 1; bool boolean = 2; } }
  message Default { oneof either { double number = 1; bool boolean = 2; string string = 3; } }
  message Schema { bool nullable = 1; double maximum = 11; double minimum = 13; int64 maxLength = 15; int64 minLength = 16;
    string pattern = 17; bool uniqueItems = 20; repeated string required = 23; repeated Any enum = 24; string type = 25;
    repeated SchemaOrReference allOf = 26; repeated SchemaOrReference oneOf = 27; repeated SchemaOrReference anyOf = 28;
    Schema not = 29; Items items = 30; Schemas properties = 31; Additional additionalProperties = 32; Default default = 33;
    string description = 34; string format = 35; repeated NamedAny extensions = 36; }`,
  { keepCase: true },
);
const layout = root.lookupType("Document");

const pairsOf = (map: any): any =>
  Object.fromEntries(
    map.pairs?.map((pair: any) => [pair.name, json(pair.value ?? {})]) ?? [],
  );

/** What the layout has as messages of its own is, in JSON, the value itself. */
function json(value: any): any {
  if (Array.isArray(value)) return value.map(json);
  if (typeof value !== "object" || value === null) return value;
  if ("yaml" in value) return JSON.parse(value.yaml);
  if ("own" in value) return json(value.own);
  if ("reference" in value) {
    const { ref, ...beside } = value.reference;
    return { $ref: ref, ...beside };
  }
  if ("pairs" in value)
    return {
      ...(value.default ? { default: json(value.default) } : {}),
      ...pairsOf(value),
    };
  const { extensions = [], items, additionalProperties, ...rest } = value;
  const object: any = {};
  for (const [key, inner] of Object.entries<any>(rest)) {
    if (key === "default")
      object.default = inner.number ?? inner.boolean ?? inner.string ?? {};
    else object[key] = json(inner);
  }
  if (items) object.items = json(items.one[0]);
  if (additionalProperties)
    object.additionalProperties =
      additionalProperties.boolean ?? json(additionalProperties.schema);
  for (const { name, value: extension } of extensions)
    object[name] = json(extension);
  return object;
}

const decoded = (bytes: Uint8Array): any =>
  json(layout.toObject(layout.decode(bytes), { longs: Number }));

const asked = [
  {
    type: "application",
    subtype: "com.github.proto-openapi.spec.v3@v1.0+protobuf",
  },
];

test.each(["api/v1", "apis/apps/v1", "api", "apis/apps", "version"])(
  "%s says in protobuf what it says in JSON, under one tag",
  async (name) => {
    const service = createOpenApiService(builtinCatalogue());
    const path = `/openapi/v3/${name}`;
    const { body } = (await service.answer(path, {}))!;
    const text = JSON.parse(Buffer.concat(body).toString());
    const answer = (await service.answer(path, { accepts: asked }))!;
    expect(answer.headers["Content-Type"]).toBe(
      "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
    );
    const message = decoded(Buffer.concat(answer.body));
    // An empty map of schemas is no field of the message.
    message.components.schemas ??= {};
    expect(Object.keys(message.paths)).toEqual(Object.keys(text.paths));
    for (const part of ["paths", "components"])
      for (const [key, value] of Object.entries<any>(text[part]))
        if (!isDeepStrictEqual(message[part][key], value))
          expect(message[part][key]).toEqual(value);
    expect({ ...message, paths: 0, components: 0 }).toEqual({
      ...text,
      ...{ paths: 0, components: 0 },
    });
    const inJson = (await service.v3(name))!;
    expect(answer.headers["Etag"]).toBe(`"${inJson.hash}"`);
  },
);

test("the form that comes first in Accept is taken", async () => {
  const service = createOpenApiService(builtinCatalogue());
  const typeFor = async (...subtypes: string[]) =>
    (
      await service.answer("/openapi/v3/apis/apps/v1", {
        accepts: subtypes.map((subtype) => ({ type: "application", subtype })),
      })
    )?.headers["Content-Type"];
  const { subtype } = asked[0]!;
  expect(await typeFor("json", subtype)).toBe("application/json");
  expect(await typeFor(subtype, "json")).toMatch(/protobuf$/);
  expect(await typeFor("xml", "*")).toBe("application/json");
  expect(await typeFor("xml", subtype.replace("v3", "v2"))).toBeUndefined();
  expect(await typeFor("xml")).toBeUndefined();
});

test("a document that another server has in version 2 alone, whatever is in it", async () => {
  const document = (paths: any, definitions: any): any => ({
    ...{ swagger: "2.0", info: { title: "extension", version: "1" } },
    ...{ paths, definitions },
  });
  const onlyV2 = {
    "apis/good.test/v1": document(
      {
        "/apis/good.test/v1/things": {
          get: {
            operationId: "listThings",
            responses: {
              200: { description: "OK", schema: { type: "object" } },
            },
          },
        },
      },
      {
        Thing: {
          type: "object",
          properties: { size: { type: "integer", maximum: 7.5 } },
          additionalProperties: false,
          "x-kubernetes-preserve-unknown-fields": true,
        },
      },
    ),
    "apis/bad.test/v1": document(
      {
        "/a": {
          get: { tags: 7, parameters: "x", responses: [1], "x-a": null },
        },
        "/b": { get: null, parameters: [null, 3] },
      },
      {
        A: { required: 1, enum: 2, properties: 3, allOf: {}, items: "x" },
        B: { allOf: [null], not: 7, additionalProperties: 3, type: [1] },
      },
    ),
  };
  const service = createOpenApiService(builtinCatalogue(), {
    others: { v3: () => ({}), v2: () => [], onlyV2: () => onlyV2 },
  });
  const good = (await service.v3("apis/good.test/v1", true))!;
  expect(decoded(Buffer.concat(good.body))).toMatchObject({
    info: { title: "extension", version: "1" },
    paths: {
      "/apis/good.test/v1/things": { get: { operationId: "listThings" } },
    },
    components: {
      schemas: {
        Thing: {
          ...{ type: "object", additionalProperties: false },
          properties: { size: { type: "integer", maximum: 7.5 } },
          "x-kubernetes-preserve-unknown-fields": true,
        },
      },
    },
  });
  const bad = (await service.v3("apis/bad.test/v1", true))!;
  expect(
    Object.keys(decoded(Buffer.concat(bad.body)).components.schemas),
  ).toEqual(["A", "B"]);
});

test("a changed document is made again in both forms", async () => {
  const catalogue = builtinCatalogue();
  const service = createOpenApiService(catalogue);
  const name = "apis/apps/v1";
  const before = await service.v3(name, true);
  expect(await service.v3(name, true)).toBe(before);
  service.invalidate([{ group: "apps", version: "v1" }]);
  expect(await service.v3(name, true)).not.toBe(before);
});
