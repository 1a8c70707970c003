/* eslint-disable @typescript-eslint/no-explicit-any -- documents are looked into freely here */
import { createHash } from "node:crypto";
import { builtinCatalogue } from "../../../api/catalogue.ts";
import {
  createOpenApiService,
  OPENAPI_V2_PROTOBUF,
} from "../../../api/openapi/service.ts";
import { jsonChunks } from "../../../api/openapi/json-chunks.ts";
import type { Steps } from "../../../api/queueing/steps.ts";
import { openApiV2 } from "../../../api/openapi/v2.ts";
import { openApiV3 } from "../../../api/openapi/v3.ts";

/** All steps at once. */
function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

const catalogue = builtinCatalogue();
const v2 = finish(openApiV2(catalogue)) as any;
const apps = finish(openApiV3(catalogue, "apps", "v1")) as any;

function references(value: unknown, found: string[] = []): string[] {
  if (typeof value === "object" && value !== null)
    for (const [key, inner] of Object.entries(value)) {
      if (key === "$ref" && typeof inner === "string") found.push(inner);
      else references(inner, found);
    }
  return found;
}

test("every reference leads somewhere", () => {
  for (const document of [v2, apps])
    for (const ref of new Set(references(document))) {
      const at = ref
        .split("/")
        .slice(1)
        .reduce((node, step) => node?.[step], document);
      expect([ref, typeof at]).toEqual([ref, "object"]);
    }
});

test("lists say how they merge", () => {
  const containers =
    v2.definitions["io.k8s.api.core.v1.PodSpec"].properties.containers;
  expect(containers).toEqual({
    items: { $ref: "#/definitions/io.k8s.api.core.v1.Container" },
    type: "array",
    "x-kubernetes-list-map-keys": ["name"],
    "x-kubernetes-list-type": "map",
    "x-kubernetes-patch-merge-key": "name",
    "x-kubernetes-patch-strategy": "merge",
  });
  const port =
    apps.components.schemas["io.k8s.api.core.v1.ContainerPort"].properties;
  expect(port.protocol).toEqual({
    default: "TCP",
    enum: ["SCTP", "TCP", "UDP"],
    type: "string",
  });
  expect(
    apps.components.schemas["io.k8s.api.core.v1.Container"].required,
  ).toEqual(["name"]);
});

test("operations carry kind, action and the parameters of writes", () => {
  const item =
    v2.paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"];
  expect(item.patch).toMatchObject({
    operationId: "patchAppsV1NamespacedDeployment",
    "x-kubernetes-action": "patch",
    "x-kubernetes-group-version-kind": {
      group: "apps",
      kind: "Deployment",
      version: "v1",
    },
  });
  expect(item.patch.parameters.map((one: any) => one.name ?? one.$ref)).toEqual(
    [
      "body",
      "dryRun",
      "#/parameters/fieldManager",
      "fieldValidation",
      "#/parameters/force",
    ],
  );
  expect(
    apps.paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"]
      .put["x-kubernetes-group-version-kind"].kind,
  ).toBe("Scale");
  const ids = Object.values<any>(v2.paths)
    .flatMap((path) => Object.values<any>(path).map((one) => one.operationId))
    .filter(Boolean);
  expect(new Set(ids).size).toBe(ids.length);
});

test("answers are cached, hashed and negotiated", async () => {
  const service = createOpenApiService(catalogue);
  const index = JSON.parse((await service.v3Index()).bytes.toString()).paths;
  const { serverRelativeURL } = index["apis/apps/v1"];
  expect(serverRelativeURL).toBe(
    `/openapi/v3/apis/apps/v1?hash=${(await service.v3("apis/apps/v1"))!.hash}`,
  );
  const good = (await service.answer("/openapi/v3/apis/apps/v1", {
    hash: (await service.v3("apis/apps/v1"))!.hash,
  }))!;
  expect(good.headers["Cache-Control"]).toContain("immutable");
  expect(
    await service.answer("/openapi/v3/apis/apps/v1", {
      ifNoneMatch: good.headers["Etag"]!,
    }),
  ).toMatchObject({ status: 304 });
  expect(
    await service.answer("/openapi/v3/apis/apps/v1", { hash: "00" }),
  ).toMatchObject({ status: 301, headers: { Location: serverRelativeURL } });
  expect(await service.answer("/openapi/v3/apis/nope/v1", {})).toBeUndefined();
  expect(
    (await service.answer("/openapi/v2", { accept: OPENAPI_V2_PROTOBUF }))!
      .headers["Content-Type"],
  ).toBe("application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  expect(
    await service.answer("/openapi/v2", { accept: "text/html" }),
  ).toMatchObject({ status: 406 });
  expect(service.v2(false)).toBe(service.v2(false));
});

test("documents are made in steps, the same as at once", async () => {
  let pauses = 0;
  const service = createOpenApiService(catalogue, {
    pause: () => {
      pauses++;
      return Promise.resolve();
    },
  });
  const [one, same] = await Promise.all([service.v2(false), service.v2(false)]);
  expect(one).toBe(same);
  expect(one.bytes.toString()).toBe(JSON.stringify(v2));
  expect(one.hash).toBe(
    createHash("sha512").update(one.bytes).digest("hex").toUpperCase(),
  );
  const apart = await service.v3("apis/apps/v1");
  expect(apart!.bytes.toString()).toBe(JSON.stringify(apps));
  await service.v2(true);
  expect(pauses).toBeGreaterThan(500);
});

test.each([
  {},
  { a: undefined, b: null, c: [undefined, 1, {}] },
  { deep: { deeper: { deepest: { bottom: "ä\u2028" } }, empty: {} } },
])("JSON in chunks: %j", (value) => {
  const chunks = finish(jsonChunks(value as Record<string, unknown>));
  expect(Buffer.concat(chunks).toString()).toBe(JSON.stringify(value));
});
