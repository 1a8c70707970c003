// What the controllers do with custom resources as definitions come and go: garbage collection across custom and built-in
// kinds, quotas of object counts, the deletion of namespaces.
import { startCluster, type Cluster } from "../../../index.ts";
import { ApiError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { crd, cronTab, definitions } from "../../support/definitions.ts";
import { eventually } from "../../support/eventually.ts";

const group = "/apis/stable.example.com/v1";
let cluster: Cluster;

async function call(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: AnyObject & Record<string, never> }> {
  const answer = await cluster.client
    .raw(method, path, body)
    .catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      return { status: error.code, body: error.status };
    });
  return answer as never;
}
const until = (path: string, status: number): Promise<unknown> =>
  eventually(async () => (await call("GET", path)).status === status, {
    what: `${status} for ${path}`,
  });
async function create(path: string, body: object): Promise<AnyObject> {
  const answer = await call("POST", path, body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
}
const within = (namespace: string, plural = "crontabs"): string =>
  `${group}/namespaces/${namespace}/${plural}`;
const configMaps = "/api/v1/namespaces/default/configmaps";
const configMap = (name: string, metadata: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
});
const ownedBy = ({ apiVersion, kind, metadata }: AnyObject): object => ({
  ownerReferences: [
    { apiVersion, kind, name: metadata.name, uid: metadata.uid },
  ],
});
const owned = (name: string, owner: AnyObject): AnyObject => {
  const made = cronTab(name);
  return { ...made, metadata: { ...made.metadata, ...ownedBy(owner) } };
};
async function makeNamespace(name: string): Promise<void> {
  await create("/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name },
  });
}

beforeAll(async () => {
  cluster = await startCluster({ scheduler: false });
  await create(definitions, crd());
  await create(
    definitions,
    crd({ plural: "sites", kind: "Site", scope: "Cluster" }),
  );
  await until(within("default"), 200);
  await until(`${group}/sites`, 200);
});
afterAll(() => cluster.stop());

describe("garbage collection", () => {
  test("dependents of a custom owner go with it", async () => {
    const owner = await create(within("default"), cronTab("owner"));
    await create(configMaps, configMap("of-custom", ownedBy(owner)));
    await create(within("default"), owned("custom-of-custom", owner));
    await call("DELETE", `${within("default")}/owner`);
    await until(`${configMaps}/of-custom`, 404);
    await until(`${within("default")}/custom-of-custom`, 404);
  });

  test("a custom dependent goes with its built-in owner, and with a custom one of the cluster", async () => {
    const builtIn = await create(configMaps, configMap("owner"));
    const site = await create(`${group}/sites`, {
      ...cronTab("owner"),
      kind: "Site",
    });
    await create(within("default"), owned("of-map", builtIn));
    await create(within("default"), owned("of-site", site));
    await call("DELETE", `${configMaps}/owner`);
    await until(`${within("default")}/of-map`, 404);
    expect(await call("GET", `${within("default")}/of-site`)).toMatchObject({
      status: 200,
    });
    await call("DELETE", `${group}/sites/owner`);
    await until(`${within("default")}/of-site`, 404);
  });

  test("a custom owner deleted in the foreground waits for its dependents; an orphan stays", async () => {
    const owner = await create(within("default"), cronTab("foreground"));
    const reference = (ownedBy(owner) as { ownerReferences: object[] })
      .ownerReferences[0]!;
    await create(
      configMaps,
      configMap("blocking", {
        ownerReferences: [{ ...reference, blockOwnerDeletion: true }],
        finalizers: ["example.com/hold"],
      }),
    );
    await call(
      "DELETE",
      `${within("default")}/foreground?propagationPolicy=Foreground`,
    );
    await eventually(
      async () =>
        (await call("GET", `${configMaps}/blocking`)).body.metadata
          .deletionTimestamp,
    );
    expect(await call("GET", `${within("default")}/foreground`)).toMatchObject({
      body: { metadata: { finalizers: ["foregroundDeletion"] } },
    });
    const { body } = await call("GET", `${configMaps}/blocking`);
    await call("PUT", `${configMaps}/blocking`, {
      ...body,
      metadata: { ...body.metadata, finalizers: [] },
    });
    await until(`${within("default")}/foreground`, 404);

    const other = await create(within("default"), cronTab("orphaning"));
    await create(within("default"), owned("orphan", other));
    await call(
      "DELETE",
      `${within("default")}/orphaning?propagationPolicy=Orphan`,
    );
    await until(`${within("default")}/orphaning`, 404);
    const orphan = await call("GET", `${within("default")}/orphan`);
    expect(orphan.status).toBe(200);
    expect(orphan.body.metadata.ownerReferences).toBeUndefined();
  });
});

test("a quota counts custom objects and refuses one too many", async () => {
  await makeNamespace("counted");
  const quotas = "/api/v1/namespaces/counted/resourcequotas";
  const counted = "count/crontabs.stable.example.com";
  await create(quotas, {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "few" },
    spec: { hard: { [counted]: "2" } },
  });
  const used = (count: string): Promise<unknown> =>
    eventually(
      async () => {
        const { body } = await call("GET", `${quotas}/few`);
        const { status } = body as { status?: { used?: object } };
        return (
          (status?.used as Record<string, string> | undefined)?.[counted] ===
          count
        );
      },
      { what: `${count} used` },
    );
  await used("0");
  await create(within("counted"), cronTab("one"));
  await create(within("counted"), cronTab("two"));
  await used("2");
  expect(await call("POST", within("counted"), cronTab("three"))).toMatchObject(
    {
      status: 403,
      body: {
        message: `crontabs.stable.example.com "three" is forbidden: exceeded quota: few, requested: ${counted}=1, used: ${counted}=2, limited: ${counted}=2`,
      },
    },
  );
  await call("DELETE", `${within("counted")}/one`);
  await used("1");
  await create(within("counted"), cronTab("three"));
});

test("a namespace goes with its custom objects, after their finalizers", async () => {
  await makeNamespace("ending");
  const held = cronTab("held");
  await create(within("ending"), {
    ...held,
    metadata: { ...held.metadata, finalizers: ["example.com/hold"] },
  });
  await create(within("ending"), cronTab("free"));
  await create(within("default"), cronTab("elsewhere"));
  await call("DELETE", "/api/v1/namespaces/ending");
  await until(`${within("ending")}/free`, 404);
  await eventually(
    async () => {
      const { body } = await call("GET", "/api/v1/namespaces/ending");
      return JSON.stringify(body).includes(
        "crontabs.stable.example.com has 1 resource instances",
      );
    },
    { what: "the condition that names what remains" },
  );
  const { body } = await call("GET", `${within("ending")}/held`);
  expect(body.metadata.deletionTimestamp).toBeDefined();
  await call("PUT", `${within("ending")}/held`, {
    ...body,
    metadata: { ...body.metadata, finalizers: [] },
  });
  await until("/api/v1/namespaces/ending", 404);
  expect(await call("GET", `${within("default")}/elsewhere`)).toMatchObject({
    status: 200,
  });
});
