/* eslint-disable @typescript-eslint/no-explicit-any -- documents are looked into freely here */
import { builtinCatalogue, type Catalogue } from "../../../api/catalogue.ts";
import {
  createOpenApiService,
  type OpenApiService,
} from "../../../api/openapi/service.ts";
import { oneStep } from "../../../api/queueing/steps.ts";
import { pieces } from "../../../api/openapi/pieces.ts";

const catalogue = builtinCatalogue();

type Document = Awaited<ReturnType<OpenApiService["v2"]>>;

const textOf = ({ body }: Pick<Document, "body">): string =>
  Buffer.concat(body).toString();
/** As clients ask for protobuf. */
const asked = (version: number) => ({
  type: "application",
  subtype: `com.github.proto-openapi.spec.v${version}@v1.0+protobuf`,
});
let v2: any;
let apps: any;

beforeAll(async () => {
  const service = createOpenApiService(catalogue);
  v2 = JSON.parse(textOf(await service.v2(false)));
  apps = JSON.parse(textOf(await service.v3("apis/apps/v1")!));
});

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
  expect(containers).toMatchObject({
    items: { $ref: "#/definitions/io.k8s.api.core.v1.Container" },
    type: "array",
    "x-kubernetes-list-map-keys": ["name"],
    "x-kubernetes-list-type": "map",
    "x-kubernetes-patch-merge-key": "name",
    "x-kubernetes-patch-strategy": "merge",
  });
  const port =
    apps.components.schemas["io.k8s.api.core.v1.ContainerPort"].properties;
  expect(port.protocol).toMatchObject({
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
  const index = JSON.parse(textOf(await service.v3Index())).paths;
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
    (await service.answer("/openapi/v2", { accepts: [asked(2)] }))!.headers[
      "Content-Type"
    ],
  ).toBe("application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  expect(
    await service.answer("/openapi/v2", {
      accepts: [{ type: "text", subtype: "html" }],
    }),
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
  expect(textOf(one)).toBe(JSON.stringify(v2));
  const apart = await service.v3("apis/apps/v1");
  expect(textOf(apart!)).toBe(JSON.stringify(apps));
  await service.v2(true);
  expect(pauses).toBeGreaterThan(500);
});

const widget = (plural: string, kind: string) => ({
  ...{ group: "example.com", version: "v1", resource: plural, kind },
  ...{ singular: kind.toLowerCase(), shortNames: [], categories: [] },
  ...{ custom: true as const, namespaced: true, subresources: [] },
  verbs: ["get", "list", "create", "update", "watch", "delete"],
});

function addKind(to: Catalogue, plural: string, kind: string): void {
  const info = widget(plural, kind);
  to.addVersionsOf([info]);
  to.add(info);
}

test("a document that is made again is what it would be if it were new", async () => {
  const changing = builtinCatalogue();
  const definitions = new Map(
    ["Widget", "WidgetList", "Anvil", "AnvilList"].map((kind) => [
      `com.example.v1.${kind}`,
      () => oneStep(() => ({ type: "object", description: "x".repeat(2000) })),
    ]),
  );
  const custom = {
    v2: (name: string) => definitions.get(name),
    v3: (name: string) => definitions.get(name),
  };
  const service = createOpenApiService(changing, custom);
  addKind(changing, "widgets", "Widget");
  const all = async (of: OpenApiService): Promise<Document[]> =>
    Promise.all([
      of.v2(false),
      of.v2(true),
      of.v3("apis/example.com/v1")!,
      of.v3Index(),
    ]);
  const before = await all(service);
  addKind(changing, "anvils", "Anvil");
  service.invalidate([{ group: "example.com", version: "v1" }]);
  const after = await all(service);
  const fresh = await all(createOpenApiService(changing, custom));
  for (const [index, document] of after.entries())
    expect(textOf(document) === textOf(fresh[index]!)).toBe(true);
  // Several servers of one cluster name the same document alike.
  expect(after.map(({ hash }) => hash)).toEqual(fresh.map(({ hash }) => hash));
  for (const [index, { hash }] of after.entries())
    expect(hash).not.toBe(before[index]!.hash);
  expect(Object.keys(JSON.parse(textOf(after[2]!)).paths)).toEqual(
    [
      "",
      "anvils",
      "namespaces/{namespace}/anvils",
      "namespaces/{namespace}/anvils/{name}",
      "namespaces/{namespace}/widgets",
      "namespaces/{namespace}/widgets/{name}",
      "watch/anvils",
      "watch/namespaces/{namespace}/anvils",
      "watch/namespaces/{namespace}/anvils/{name}",
      "watch/namespaces/{namespace}/widgets",
      "watch/namespaces/{namespace}/widgets/{name}",
      "watch/widgets",
      "widgets",
    ].map((path) => `/apis/example.com/v1/${path}`),
  );
  // What did not change is the same bytes, but for the ends of the two maps and their first entries.
  const shared = new Set(before[2]!.body);
  expect(after[2]!.body.filter((part) => shared.has(part)).length).toBe(
    before[2]!.body.length - 7,
  );
});

test.each([[[]], [["abc"]], [["ab", "", "cdefg", "h"]], [["abcd", "efgh"]]])(
  "the parts of a document in pieces: %j",
  (texts: string[]) => {
    const made = [
      ...pieces(
        texts.map((text) => Buffer.from(text)),
        4,
      ),
    ];
    expect(Buffer.concat(made).toString()).toBe(texts.join(""));
    expect(made.slice(0, -1).every(({ length }) => length === 4)).toBe(true);
    expect(made.every(({ length }) => length > 0)).toBe(true);
  },
);
