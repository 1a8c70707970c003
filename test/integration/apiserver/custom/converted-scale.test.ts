// The scale of a kind whose versions a webhook converts: replicas are where the spoken version keeps them, for readers,
// writers and admission, and they are stored where the stored version keeps them.
import {
  convertedBy,
  crd,
  definitions,
  versionOf,
} from "../../../support/definitions.ts";
import { eventually } from "../../../support/eventually.ts";
import {
  startHttpsServer,
  type TestHttpsServer,
} from "../../../support/https-server.ts";
import type { AdmissionPlugin } from "../../../../apiserver-lite/admission/plugin.ts";
import { startTestServer, type Json, type TestServer } from "../support.ts";

const things = (version: string): string =>
  `/apis/stable.example.com/${version}/namespaces/default/things`;

/** v1 (stored) has spec.size, v2 has spec.scale.size. */
function convert(object: Json, apiVersion: string): Json {
  const { size, scale } = object.spec;
  const spec = apiVersion.endsWith("/v2")
    ? { scale: { size: size ?? scale.size } }
    : { size: size ?? scale.size };
  return { ...object, apiVersion, spec };
}

let server: TestServer;
let webhook: TestHttpsServer;
let fails = false;
/** Replicas that admission saw, before and after. */
const admitted: [number, number][] = [];

function converted({ uid, objects, desiredAPIVersion }: Json): Json {
  if (fails) return { uid, result: { status: "Failure", message: "no way" } };
  return {
    uid,
    result: { status: "Success" },
    convertedObjects: objects.map((object: Json) =>
      convert(object, desiredAPIVersion),
    ),
  };
}

/** Lets everything in, and makes 7 of 6. */
const plugin: AdmissionPlugin = {
  name: "Scales",
  admit({ subresource, operation, object, oldObject }) {
    if (operation !== "UPDATE" || subresource !== "scale") return undefined;
    const { spec } = object as Json;
    admitted.push([(oldObject as Json).spec.replicas, spec.replicas]);
    if (spec.replicas === 6) spec.replicas = 7;
    return undefined;
  },
};

beforeAll(async () => {
  webhook = await startHttpsServer((body) => {
    const { apiVersion, kind, request } = JSON.parse(body);
    return { apiVersion, kind, response: converted(request) };
  });
  server = await startTestServer({ parts: () => ({ admission: [plugin] }) });
  const version = (name: string, specReplicasPath: string, spec: object) =>
    versionOf(name, {
      storage: name === "v1",
      subresources: {
        status: {},
        scale: { specReplicasPath, statusReplicasPath: ".status.replicas" },
      },
      schema: {
        type: "object",
        properties: { spec: { type: "object", properties: spec } },
      },
    });
  const size = { type: "integer" };
  const made = await server.call(
    "POST",
    definitions,
    crd({
      plural: "things",
      kind: "Thing",
      versions: [
        version("v1", ".spec.size", { size }),
        version("v2", ".spec.scale.size", {
          scale: { type: "object", properties: { size } },
        }),
      ],
      spec: convertedBy(webhook),
    }),
  );
  expect(made.status).toBe(201);
  await eventually(
    async () => (await server.call("GET", things("v2"))).status === 200,
  );
});
afterAll(async () => {
  await server.stop();
  await webhook.close();
});

const scaleOf = (version: string): string => `${things(version)}/t/scale`;

const patch = (
  version: string,
  replicas: unknown,
): ReturnType<typeof server.call> =>
  server.call(
    "PATCH",
    scaleOf(version),
    { spec: { replicas } },
    { "content-type": "application/merge-patch+json" },
  );

const stored = async (): Promise<Json> =>
  (await server.call("GET", `${things("v1")}/t`)).body;

test("a scale is read and written where the spoken version keeps it", async () => {
  const made = await server.call("POST", things("v1"), {
    apiVersion: "stable.example.com/v1",
    kind: "Thing",
    metadata: { name: "t" },
    spec: { size: 2 },
  });
  expect(made.status).toBe(201);
  const read = await server.call("GET", scaleOf("v2"));
  expect(read.status).toBe(200);
  expect(read.body).toMatchObject({ kind: "Scale", spec: { replicas: 2 } });

  read.body.spec.replicas = 3;
  const put = await server.call("PUT", scaleOf("v2"), read.body);
  expect([put.status, put.body.spec]).toEqual([200, { replicas: 3 }]);
  expect(await stored()).toMatchObject({
    spec: { size: 3 },
    metadata: { generation: 2 },
  });
  expect((await stored()).spec).toEqual({ size: 3 });

  // The stored version as before.
  expect((await patch("v1", 4)).body.spec).toEqual({ replicas: 4 });
  expect((await stored()).spec).toEqual({ size: 4 });
  expect((await server.call("GET", scaleOf("v2"))).body.spec).toEqual({
    replicas: 4,
  });
});

test("admission sees the scale of the spoken version and may change it", async () => {
  admitted.length = 0;
  expect((await patch("v2", 5)).body.spec).toEqual({ replicas: 5 });
  expect((await patch("v2", 6)).body.spec).toEqual({ replicas: 7 });
  expect(admitted).toEqual([
    [4, 5],
    [5, 6],
  ]);
  expect((await stored()).spec).toEqual({ size: 7 });
});

test("an applied scale owns the field of the spoken version", async () => {
  const applied = await server.call(
    "PATCH",
    `${scaleOf("v2")}?fieldManager=scaler&force=true`,
    {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "t" },
      spec: { replicas: 8 },
    },
    { "content-type": "application/apply-patch+yaml" },
  );
  expect([applied.status, applied.body.spec]).toEqual([200, { replicas: 8 }]);
  const { spec, metadata } = await stored();
  expect(spec).toEqual({ size: 8 });
  expect(metadata.managedFields).toContainEqual(
    expect.objectContaining({
      manager: "scaler",
      operation: "Apply",
      apiVersion: "stable.example.com/v2",
      fieldsV1: { "f:spec": { "f:scale": { "f:size": {} } } },
    }),
  );
});

test("what is refused, and what can't be converted, changes nothing", async () => {
  const before = await stored();
  const refused = await patch("v2", -1);
  expect(refused.status).toBe(422);
  expect(refused.body.message).toContain("should be a non-negative integer");
  fails = true;
  try {
    for (const answer of [
      await server.call("GET", scaleOf("v2")),
      await patch("v2", 9),
    ]) {
      expect(answer.status).toBe(500);
      expect(answer.body.message).toContain(
        "conversion webhook for stable.example.com/v1, Kind=Thing failed: no way",
      );
    }
  } finally {
    fails = false;
  }
  expect(await stored()).toEqual(before);
});
