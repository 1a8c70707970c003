// Definitions that are created, changed and deleted without a pause while their objects are written, and names that several
// of them want: each request gets an answer that fits one state of its definition, and nothing is left when all is over.
import { crd, cronTab, definitions } from "../../../support/definitions.ts";
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
}, 60_000);

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
