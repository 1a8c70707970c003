// What the controllers do with custom resources whose definition ends one version and serves another.
import { startCluster, type Cluster } from "../../../index.ts";
import { ApiError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { crd, definitions, versionOf } from "../../support/definitions.ts";
import { eventually } from "../../support/eventually.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ scheduler: false });
});
afterAll(() => cluster.stop());

async function call(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: AnyObject }> {
  const answer = await cluster.client
    .raw(method, path, body)
    .catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      return { status: error.code, body: error.status };
    });
  return answer as never;
}
async function create(path: string, body: object): Promise<AnyObject> {
  const answer = await call("POST", path, body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
}
const until = (path: string, status: number): Promise<unknown> =>
  eventually(async () => (await call("GET", path)).status === status, {
    what: `${status} for ${path}`,
  });
const ownedBy = (owners: readonly AnyObject[]): object => ({
  ownerReferences: owners.map(({ apiVersion, kind, metadata }) => ({
    ...{ apiVersion, kind, name: metadata.name, uid: metadata.uid },
  })),
});
const configMap = (
  name: string,
  owners: readonly AnyObject[] = [],
): Promise<AnyObject> =>
  create(configMaps, {
    ...{ apiVersion: "v1", kind: "ConfigMap" },
    metadata: { name, ...ownedBy(owners) },
  });

/** Only the version that is named is served and stored. */
function definition(plural: string, kind: string, served: string): AnyObject {
  return crd({
    ...{ group: `${plural}.example.com`, plural, kind },
    versions: ["v1beta1", "v1"].map((name) =>
      versionOf(name, { served: name === served, storage: name === served }),
    ),
  });
}
const at = (plural: string, version: string): string =>
  `/apis/${plural}.example.com/${version}/namespaces/default/${plural}`;

/** Resolves when the garbage collector follows the first version. */
async function begin(plural: string, kind: string): Promise<void> {
  await create(definitions, definition(plural, kind, "v1beta1"));
  await until(at(plural, "v1beta1"), 200);
  const owner = await configMap(`before-${plural}`);
  await object(plural, kind, "v1beta1", "seen", [owner]);
  await call("DELETE", `${configMaps}/before-${plural}`);
  await until(`${at(plural, "v1beta1")}/seen`, 404);
}

async function moveOn(plural: string, kind: string): Promise<void> {
  const path = `${definitions}/${plural}.${plural}.example.com`;
  const { body } = await call("GET", path);
  const { spec } = definition(plural, kind, "v1");
  expect(await call("PUT", path, { ...body, spec })).toMatchObject({
    status: 200,
  });
  await until(at(plural, "v1"), 200);
  await until(at(plural, "v1beta1"), 404);
}

const object = (
  plural: string,
  kind: string,
  version: string,
  name: string,
  owners: readonly AnyObject[] = [],
): Promise<AnyObject> =>
  create(at(plural, version), {
    ...{ apiVersion: `${plural}.example.com/${version}`, kind },
    metadata: { name, ...ownedBy(owners) },
  });

test("what an object owns stays when the version that it was seen in ends", async () => {
  await begin("keepers", "Keeper");
  const [gone, solid] = [await configMap("gone"), await configMap("solid")];
  const both = [gone, solid];
  const keeper = await object("keepers", "Keeper", "v1beta1", "a", both);
  await configMap("kept", [keeper]);
  await moveOn("keepers", "Keeper");
  await call("DELETE", `${configMaps}/gone`);
  await eventually(
    async () =>
      (await call("GET", `${at("keepers", "v1")}/a`)).body.metadata
        .ownerReferences?.length === 1,
    { what: "the reference to the deleted owner is dropped" },
  );
  expect(await call("GET", `${configMaps}/kept`)).toMatchObject({
    status: 200,
  });
});

test("objects are collected in the version that is served now", async () => {
  await begin("movers", "Mover");
  const owner = await configMap("owner");
  await object("movers", "Mover", "v1beta1", "before", [owner]);
  await moveOn("movers", "Mover");
  await object("movers", "Mover", "v1", "after", [owner]);
  await call("DELETE", `${configMaps}/owner`);
  await until(`${at("movers", "v1")}/before`, 404);
  await until(`${at("movers", "v1")}/after`, 404);
});

test("a quota counts on in the version that is served now", async () => {
  await begin("counters", "Counter");
  const quotas = "/api/v1/namespaces/default/resourcequotas";
  const counted = "count/counters.counters.example.com";
  await create(quotas, {
    ...{ apiVersion: "v1", kind: "ResourceQuota" },
    metadata: { name: "some" },
    spec: { hard: { [counted]: "5" } },
  });
  const used = (count: string): Promise<unknown> =>
    eventually(
      async () => {
        const { body } = await call("GET", `${quotas}/some`);
        const { used = {} } = (body["status"] ?? {}) as {
          used?: Record<string, string>;
        };
        return used[counted] === count;
      },
      { what: `${count} used` },
    );
  await object("counters", "Counter", "v1beta1", "one");
  await object("counters", "Counter", "v1beta1", "two");
  await used("2");
  await moveOn("counters", "Counter");
  await call("DELETE", `${at("counters", "v1")}/one`);
  await used("1");
});

test("a quota counts a kind that is defined after it", async () => {
  const quotas = "/api/v1/namespaces/default/resourcequotas";
  const counted = "count/laters.laters.example.com";
  await create(quotas, {
    ...{ apiVersion: "v1", kind: "ResourceQuota" },
    metadata: { name: "early" },
    spec: { hard: { [counted]: "5" } },
  });
  await eventually(
    async () => {
      const { body } = await call("GET", `${quotas}/early`);
      return body["status"] !== undefined;
    },
    { what: "the quota is counted without the kind" },
  );
  await create(definitions, definition("laters", "Later", "v1"));
  await until(at("laters", "v1"), 200);
  await object("laters", "Later", "v1", "one");
  await eventually(
    async () => {
      const { body } = await call("GET", `${quotas}/early`);
      const { used } = body["status"] as { used: Record<string, string> };
      return used[counted] === "1";
    },
    { what: "one is used" },
  );
});
