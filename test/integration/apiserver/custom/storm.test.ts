// Definitions that are created, changed and deleted without a pause while their objects are written, and names that several
// of them want: each request gets an answer that fits one state of its definition, and nothing is left when all is over.
import * as v8 from "node:v8";
import * as vm from "node:vm";
import {
  crd,
  cronTab,
  definitions,
  versionOf,
} from "../../../support/definitions.ts";
import { eventually } from "../../../support/eventually.ts";
import { startTestServer, type Json, type TestServer } from "../support.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const group = "storm.example.com";
const conditionsOf = (body: Json): Record<string, string> =>
  Object.fromEntries(
    (body.status?.conditions ?? []).map((one: Json) => [one.type, one.reason]),
  );

test("definitions come and go under writes", async () => {
  const kinds = Array.from({ length: 6 }, (_, index) => ({
    plural: `things${index}`,
    kind: `Thing${index}`,
  }));
  let ending = false;
  const statuses = new Set<number>();
  const writers = kinds.map(async ({ plural, kind }) => {
    const path = `/apis/${group}/v1/namespaces/default/${plural}`;
    for (let at = 0; !ending; at++) {
      const object = {
        ...cronTab(`o${at % 5}`, { spec: { at } }, `${group}/v1`),
        kind,
      };
      const answers = await Promise.all([
        server.call("POST", path, object),
        server.call("GET", path),
        server.call("DELETE", `${path}/o${(at + 2) % 5}`),
      ]);
      for (const { status } of answers) statuses.add(status);
    }
  });
  for (let round = 0; round < 4; round++) {
    for (const { plural, kind } of kinds) {
      const made = await server.call(
        "POST",
        definitions,
        crd({ group, plural, kind }),
      );
      expect(made.status).toBe(201);
    }
    const name = (plural: string): string =>
      `${definitions}/${plural}.${group}`;
    await eventually(async () => {
      const all = await Promise.all(
        kinds.map(({ plural }) => server.call("GET", name(plural))),
      );
      return all.every(({ body }) => conditionsOf(body)["Established"]);
    });
    await Promise.all(
      kinds.map(({ plural }) =>
        server.call(
          "PATCH",
          name(plural),
          { spec: { names: { shortNames: [`s${plural}`] } } },
          { "content-type": "application/merge-patch+json" },
        ),
      ),
    );
    for (const { plural } of kinds) await server.call("DELETE", name(plural));
    await eventually(async () => {
      const { body } = await server.call("GET", definitions);
      return body.items.length === 0;
    });
  }
  ending = true;
  await Promise.all(writers);
  for (const status of statuses)
    expect([200, 201, 404, 405, 409, 422]).toContain(status);
  expect(statuses).toContain(201);
  expect((await server.call("GET", `/apis/${group}`)).status).toBe(404);
  const { values } = await server.server.registry.store.list(
    `/registry/${group}/`,
  );
  expect(values).toEqual([]);
});

test("nothing of deleted definitions is kept", async () => {
  const { kinds } = server.server.registry;
  const storms = Array.from({ length: 30 }, (_, index) => `gone${index}`);
  const held: WeakRef<object>[] = [];
  const versions = (stored: number): object[] =>
    ["v1", "v2"].map((name, index) =>
      versionOf(name, {
        storage: index === stored,
        schema: {
          type: "object",
          properties: {
            spec: {
              type: "object",
              properties: {
                at: {
                  type: "integer",
                  default: stored,
                  "x-kubernetes-validations": [{ rule: "self < 10" }],
                },
              },
            },
          },
        },
      }),
    );
  const watches = await Promise.all(
    storms.map(async (plural) => {
      const names = { plural, kind: `K${plural}` };
      const path = `${definitions}/${plural}.${group}`;
      await server.call(
        "POST",
        definitions,
        crd({ group, ...names, versions: versions(0) }),
      );
      const objects = `/apis/${group}/v2/namespaces/default/${plural}`;
      await eventually(
        async () => (await server.call("GET", objects)).status === 200,
      );
      const object = { ...cronTab("a", {}, `${group}/v2`), kind: names.kind };
      expect((await server.call("POST", objects, object)).status).toBe(201);
      held.push(new WeakRef(kinds.kind(group, plural)!));
      await server.call(
        "PATCH",
        path,
        { spec: { versions: versions(1) } },
        { "content-type": "application/merge-patch+json" },
      );
      await eventually(
        () => kinds.kind(group, plural)!.stored!.apiVersion === `${group}/v2`,
      );
      held.push(new WeakRef(kinds.kind(group, plural)!));
      return server.watch(`${objects}?watch=1`);
    }),
  );
  for (const path of ["v2", `v3/apis/${group}/v1`])
    expect((await server.call("GET", `/openapi/${path}`)).text).toContain(
      "Kgone7",
    );
  const series = async (): Promise<number> =>
    (await server.call("GET", "/metrics")).text.split(group).length - 1;
  expect(await series()).toBeGreaterThan(100);
  for (const plural of storms)
    await server.call("DELETE", `${definitions}/${plural}.${group}`);
  await eventually(async () => {
    const { body } = await server.call("GET", definitions);
    return body.items.length === 0;
  });
  // The object that is there or goes, then the end.
  for (const watch of watches) while (await watch.next());
  expect((await server.call("GET", "/openapi/v2")).text).not.toContain("Kgone");
  await eventually(async () => (await series()) === 0);
  // What the last request of a connection has found lives as long as the connection is idle.
  const collect = collector();
  await eventually(
    async () => {
      await Promise.all(
        held.map(() => server.call("GET", "/api/v1/namespaces/default")),
      );
      collect();
      return held.every((one) => one.deref() === undefined);
    },
    { what: "the kinds to be collected" },
  );
});

/** The garbage collector, which a flag shows. */
function collector(): () => void {
  v8.setFlagsFromString("--expose-gc");
  return vm.runInNewContext("gc") as () => void;
}

test("a name belongs to the first who asked, and is free when it goes", async () => {
  const first = crd({ names: { shortNames: ["ct"] } });
  const second = crd({
    plural: "crontabs2",
    kind: "CronTab",
    names: { singular: "crontab2", shortNames: ["ct"] },
  });
  const at = (plural: string): string =>
    `${definitions}/${plural}.stable.example.com`;
  await server.call("POST", definitions, first);
  await server.call("POST", definitions, second);
  await eventually(async () => {
    const { body } = await server.call("GET", at("crontabs2"));
    return conditionsOf(body)["Established"] === "NotAccepted";
  });
  const { body } = await server.call("GET", at("crontabs2"));
  expect(body.status.conditions).toMatchObject([
    {
      type: "NamesAccepted",
      status: "False",
      reason: "ListKindConflict",
      message: '"CronTabList" is already in use',
    },
    {
      type: "Established",
      status: "False",
      message: "not all names are accepted",
    },
  ]);
  expect(
    (await server.call("GET", "/apis/stable.example.com/v1/crontabs2")).status,
  ).toBe(404);
  await server.call("DELETE", at("crontabs"));
  await eventually(
    async () =>
      (await server.call("GET", "/apis/stable.example.com/v1/crontabs2"))
        .status === 200,
  );
  const never = crd({ plural: "crontabs3", kind: "CronTab" });
  await server.call("POST", definitions, never);
  await server.call("DELETE", at("crontabs3"));
  await eventually(
    async () => (await server.call("GET", at("crontabs3"))).status === 404,
  );
});

test("a group of the community needs an approval", async () => {
  const approval = async (
    plural: string,
    annotation?: string,
  ): Promise<Json> => {
    const definition = crd({
      group: "test.k8s.io",
      plural,
      kind: `K${plural}`,
    });
    if (annotation !== undefined)
      definition.metadata.annotations = {
        "api-approved.kubernetes.io": annotation,
      };
    const made = await server.call("POST", definitions, definition);
    if (made.status !== 201) return made.body;
    const path = `${definitions}/${plural}.test.k8s.io`;
    let found: Json;
    await eventually(async () => {
      found = (await server.call("GET", path)).body;
      return conditionsOf(found)["KubernetesAPIApprovalPolicyConformant"];
    });
    return conditionsOf(found)["KubernetesAPIApprovalPolicyConformant"];
  };
  expect(await approval("goods", "https://example.com/pull/1")).toBe(
    "ApprovedAnnotation",
  );
  expect(await approval("tries", "unapproved, experimental")).toBe(
    "UnapprovedAnnotation",
  );
});
