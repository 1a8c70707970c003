// Applied configurations of custom resources that fit their schema loosely: nulls, unknown fields where an object around
// keeps them, values in place of objects, texts of formats, keys of lists, numbers beyond all doubles.
import { plain } from "../cases.ts";
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

const group = "applied.example.com";
const text = { type: "string" };
const partly = {
  type: "object",
  "x-kubernetes-preserve-unknown-fields": true,
  properties: { known: { type: "object", properties: { a: text } } },
};
const spec = {
  type: "object",
  properties: {
    plain: text,
    nullable: { ...text, nullable: true },
    defaulted: { ...text, default: "D" },
    since: { ...text, format: "date-time" },
    partly,
    free: { type: "object", additionalProperties: text },
    any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    parts: { type: "array", items: { type: "object", properties: { partly } } },
    named: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: { type: "object", required: ["name"], properties: { name: text } },
    },
    number: { type: "number", maximum: 4_294_967_295 },
  },
};
const definition = {
  metadata: { name: `applieds.${group}` },
  spec: {
    group,
    scope: "Cluster",
    names: { plural: "applieds", kind: "Applied" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
      },
    ],
  },
};
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const collection = `/apis/${group}/v1/applieds`;
/** Who owns what, and the values. */
const keep = (body: Json): unknown =>
  body?.kind === "Status"
    ? [body.reason, body.message, body.details?.causes]
    : [
        body.spec,
        body.metadata.managedFields.map(
          ({ manager, operation, fieldsV1 }: Json) => [
            manager,
            operation,
            fieldsV1,
          ],
        ),
      ];

const cases: Readonly<Record<string, object>> = {
  "null where none may be": { plain: null },
  "null where it may be": { nullable: null },
  "null for a default": { defaulted: null },
  "an unknown field below one that keeps them": { partly: { known: { z: 1 } } },
  "the same in a list": { parts: [{ partly: { known: { z: 1 } } }] },
  "a number for a date": { since: 1.5 },
  "a list for a date": { since: ["a", null] },
  "a list for a text": { plain: ["a", null] },
  "a key that is null": { named: [{ name: null }] },
  "a double beyond a limit": { number: 1e30 },
};

export const customApplies: Scenario = {
  name: "custom-applies",
  async run({ call }) {
    await call("define", "POST", definitions, {
      body: definition,
      silent: true,
    });
    for (let tries = 0; tries < 200; tries++) {
      const { status } = await call("", "GET", collection, { silent: true });
      if (status === 200) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const apply = (
      label: string,
      given: object,
      manager = "one",
      force = false,
    ): Promise<unknown> =>
      call(
        label,
        "PATCH",
        `${collection}/a?fieldManager=${manager}&force=${force}`,
        {
          body: {
            apiVersion: `${group}/v1`,
            kind: "Applied",
            metadata: { name: "a" },
            spec: given,
          },
          headers: { "content-type": "application/apply-patch+yaml" },
          lean: true,
          keep,
        },
      );
    for (const [label, given] of Object.entries(cases)) {
      await apply(label, given);
      await call("", "DELETE", `${collection}/a`, { silent: true });
    }
    const objects = { free: { a: "1" }, any: { a: { b: 1 } }, partly: {} };
    await apply("objects", objects);
    await apply("nulls for them", { free: null, any: null }, "two", true);
    await apply("a value for one", { any: { a: 1 } }, "two", true);
    await apply("two conflicts", { free: { a: "2" }, any: { a: 2 } }, "three");
    await apply("the object again", objects, "one", true);
    for (const number of ["1e400", "1.5e308", "9223372036854775808"])
      await call(`create with ${number}`, "POST", `${collection}?dryRun=All`, {
        body: `{"apiVersion":"${group}/v1","kind":"Applied","metadata":{"name":"b"},"spec":{"any":{"x":${number}}}}`,
        headers: { "content-type": "application/json" },
        ...plain,
        keep: (body: Json) => body.message ?? body.spec,
      });
    for (const as of ["Table", "PartialObjectMetadataList"])
      await call(`list as ${as}`, "GET", collection, {
        headers: { accept: `application/json;as=${as};g=meta.k8s.io;v=v1` },
        lean: true,
        keep: (body: Json) => Object.keys(body.metadata as object).sort(),
      });
    await call("", "DELETE", `${definitions}/applieds.${group}`, {
      silent: true,
    });
  },
};
