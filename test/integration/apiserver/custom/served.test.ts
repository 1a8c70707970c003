// A definition from its creation to its end: its objects are served in every verb, encoding and form, as those of built-in
// kinds are, and go with it.
import {
  crd,
  cronTab,
  cronTabs,
  definitions,
} from "../../../support/definitions.ts";
import { eventually } from "../../../support/eventually.ts";
import { startTestServer, type TestServer, type Json } from "../support.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    featureGates: { CBORServingAndStorage: true },
  });
});
afterAll(() => server.stop());

async function until(
  path: string,
  ready: (status: number, body: Json) => boolean,
): Promise<Json> {
  let last: Json;
  await eventually(async () => {
    const { status, body } = await server.call("GET", path);
    last = body;
    return ready(status, body);
  });
  return last;
}

const isTrue = (body: Json, type: string): boolean =>
  body.status?.conditions?.some(
    (one: Json) => one.type === type && one.status === "True",
  ) ?? false;

describe("a definition", () => {
  beforeAll(async () => {
    const made = await server.call(
      "POST",
      definitions,
      crd({
        names: { shortNames: ["ct"], categories: ["all"] },
        version: { subresources: { status: {} } },
      }),
    );
    expect(made.status).toBe(201);
  });

  test("is established within 50 ms and says what was accepted", async () => {
    const body = await until(
      `${definitions}/crontabs.stable.example.com`,
      (_, found) => isTrue(found, "Established"),
    );
    expect(body.status).toEqual({
      acceptedNames: {
        plural: "crontabs",
        singular: "crontab",
        kind: "CronTab",
        listKind: "CronTabList",
        shortNames: ["ct"],
        categories: ["all"],
      },
      conditions: [
        {
          type: "NamesAccepted",
          status: "True",
          reason: "NoConflicts",
          message: "no conflicts found",
          lastTransitionTime: expect.any(String) as string,
        },
        {
          type: "Established",
          status: "True",
          reason: "InitialNamesAccepted",
          message: "the initial names have been accepted",
          lastTransitionTime: expect.any(String) as string,
        },
      ],
      storedVersions: ["v1"],
    });
  });

  test("is in discovery", async () => {
    const { body } = await server.call("GET", "/apis/stable.example.com/v1");
    expect(body.resources).toEqual([
      expect.objectContaining({
        name: "crontabs",
        singularName: "crontab",
        kind: "CronTab",
        namespaced: true,
        shortNames: ["ct"],
        categories: ["all"],
      }),
      expect.objectContaining({
        name: "crontabs/status",
        verbs: ["get", "patch", "update"],
      }),
    ]);
    const groups = await server.call("GET", "/apis", undefined, {
      accept:
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    });
    expect(
      groups.body.items.find(
        (item: Json) => item.metadata.name === "stable.example.com",
      ).versions,
    ).toHaveLength(1);
  });

  test("serves every verb", async () => {
    const watch = await server.watch(`${cronTabs}?watch=1`);
    const made = await server.call(
      "POST",
      cronTabs,
      cronTab("one", {
        spec: { cron: "* * *", replicas: 2 },
        status: { no: 1 },
      }),
    );
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      apiVersion: "stable.example.com/v1",
      kind: "CronTab",
      metadata: { name: "one", namespace: "default", generation: 1 },
      spec: { cron: "* * *", replicas: 2 },
    });
    expect(made.body.status).toBeUndefined();
    const got = await server.call("GET", `${cronTabs}/one`);
    expect(got.body).toEqual(made.body);
    const listed = await server.call("GET", cronTabs);
    expect(listed.body).toMatchObject({
      kind: "CronTabList",
      apiVersion: "stable.example.com/v1",
      items: [made.body],
    });
    const put = await server.call("PUT", `${cronTabs}/one`, {
      ...made.body,
      spec: { cron: "1 * *" },
    });
    expect(put.body).toMatchObject({
      metadata: { generation: 2 },
      spec: { cron: "1 * *" },
    });
    const blind = await server.call("PUT", `${cronTabs}/one`, cronTab("one"));
    expect(blind.status).toBe(422);
    const patched = await Promise.all([
      server.call(
        "PATCH",
        `${cronTabs}/one`,
        { spec: { image: "a" } },
        { "content-type": "application/merge-patch+json" },
      ),
      server.call(
        "PATCH",
        `${cronTabs}/one`,
        [{ op: "add", path: "/spec/more", value: 1 }],
        { "content-type": "application/json-patch+json" },
      ),
      server.call(
        "PATCH",
        `${cronTabs}/one?fieldManager=me`,
        cronTab("one", { spec: { mine: true } }),
        { "content-type": "application/apply-patch+yaml" },
      ),
    ]);
    expect(patched.map(({ status }) => status)).toEqual([200, 200, 200]);
    const strategic = await server.call(
      "PATCH",
      `${cronTabs}/one`,
      { spec: {} },
      { "content-type": "application/strategic-merge-patch+json" },
    );
    expect(strategic.status).toBe(415);
    const status = await server.call(
      "PATCH",
      `${cronTabs}/one/status`,
      {
        metadata: { labels: { no: "no" } },
        spec: { no: 1 },
        status: { ok: true },
      },
      { "content-type": "application/merge-patch+json" },
    );
    expect(status.body.status).toEqual({ ok: true });
    expect(status.body.metadata.labels).toBeUndefined();
    expect(status.body.spec).toEqual({
      cron: "1 * *",
      image: "a",
      more: 1,
      mine: true,
    });
    expect(status.body.metadata.generation).toBe(5);
    const deleted = await server.call("DELETE", `${cronTabs}/one`);
    expect(deleted.body).toMatchObject({ kind: "Status", status: "Success" });
    const types: string[] = [];
    while (types.at(-1) !== "DELETED") types.push((await watch.next())!.type);
    expect(types).toEqual([
      "ADDED",
      ...Array<string>(5).fill("MODIFIED"),
      "DELETED",
    ]);
    await server.call("POST", cronTabs, cronTab("two"));
    const gone = await server.call("DELETE", cronTabs);
    expect(gone.body.items).toHaveLength(1);
    expect((await server.call("GET", cronTabs)).body.items).toEqual([]);
  });

  test("serves other encodings and forms", async () => {
    const yaml = await server.call(
      "POST",
      cronTabs,
      "apiVersion: stable.example.com/v1\nkind: CronTab\nmetadata:\n  name: yaml\nspec: {a: 1.5, b: [null, x]}\n",
      { "content-type": "application/yaml", accept: "application/yaml" },
    );
    expect(yaml.status).toBe(201);
    expect(yaml.text).toContain("a: 1.5");
    const path = `${cronTabs}/yaml`;
    const cbor = await server.call("GET", path, undefined, {
      accept: "application/cbor",
    });
    expect(cbor.headers.get("content-type")).toBe("application/cbor");
    const protobuf = { accept: "application/vnd.kubernetes.protobuf" };
    expect((await server.call("GET", path, undefined, protobuf)).status).toBe(
      406,
    );
    const sent = await server.call("POST", cronTabs, "k8s\0", {
      "content-type": "application/vnd.kubernetes.protobuf",
    });
    expect(sent.status).toBe(415);
    const partial = await server.call("GET", cronTabs, undefined, {
      accept:
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    });
    expect(partial.body.items[0]).toMatchObject({
      kind: "PartialObjectMetadata",
      metadata: { name: "yaml" },
    });
    expect(partial.body.items[0].spec).toBeUndefined();
    const table = await server.call("GET", cronTabs, undefined, {
      accept: "application/json;as=Table;g=meta.k8s.io;v=v1",
    });
    expect(
      table.body.columnDefinitions.map(({ name }: Json) => name as string),
    ).toEqual(["Name", "Age"]);
    expect(table.body.rows[0].cells[0]).toBe("yaml");
  });

  test("is gone with its objects", async () => {
    await server.call(
      "POST",
      cronTabs,
      cronTab("held", {
        metadata: { name: "held", finalizers: ["example.com/x"] },
      }),
    );
    await server.call("POST", cronTabs, cronTab("free"));
    const name = `${definitions}/crontabs.stable.example.com`;
    const deleted = await server.call("DELETE", name);
    expect(deleted.body.metadata.finalizers).toEqual([
      "customresourcecleanup.apiextensions.k8s.io",
    ]);
    await until(cronTabs, (_, { items }) => items.length === 1);
    const refused = await server.call("POST", cronTabs, cronTab("late"));
    expect(refused.status).toBe(405);
    expect(refused.body.message).toBe(
      "create not allowed while custom resource definition is terminating",
    );
    expect(isTrue((await server.call("GET", name)).body, "Terminating")).toBe(
      true,
    );
    await server.call(
      "PATCH",
      `${cronTabs}/held`,
      { metadata: { finalizers: null } },
      { "content-type": "application/merge-patch+json" },
    );
    await until(name, (status) => status === 404);
    await until(cronTabs, (status) => status === 404);
    await until("/apis/stable.example.com", (status) => status === 404);
  });
});
