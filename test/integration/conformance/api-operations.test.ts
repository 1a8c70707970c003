// What every kind's "API operations" conformance test walks through: discovery names it; create, get, list in one
// namespace and in all, watch, patch, update, read and write of /status, delete, delete of a collection.
import { kinds, type KindCase } from "./kinds.ts";
import { eventually } from "../../support/eventually.ts";
import { patchHeader, startTester, type Json, type Tester } from "./support.ts";

let tester: Tester;
beforeAll(async () => {
  tester = await startTester();
});
afterAll(() => tester.stop());

const basePath = ({ apiVersion }: KindCase): string =>
  apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
const slug = (each: KindCase): string =>
  `${each.resource}-${each.apiVersion.replace(/[^a-z0-9]/g, "")}`;

describe.each(kinds)("$apiVersion $kind", (each) => {
  const base = basePath(each);
  let ns: string;
  let collection: string;
  const everywhere = `${base}/${each.resource}`;
  const label = `labelSelector=special-label%3D${slug(each)}`;
  const sample = (suffix: string): Json => ({
    apiVersion: each.apiVersion,
    kind: each.kind,
    metadata: {
      name: `${slug(each).slice(0, 40)}-${suffix}`,
      labels: { "special-label": slug(each) },
    },
    ...JSON.parse(JSON.stringify(each.fields).replaceAll('"NS"', `"${ns}"`)),
  });

  beforeAll(async () => {
    ns = each.namespaced ? await tester.namespace(slug(each)) : "";
    collection = each.namespaced
      ? `${base}/namespaces/${ns}/${each.resource}`
      : everywhere;
  });

  test("is in discovery", async () => {
    const groups = each.apiVersion.includes("/")
      ? (await tester.ok("GET", "/apis")).groups.map(
          (group: Json) => group.name,
        )
      : [""];
    expect(groups).toContain(
      each.apiVersion.includes("/") ? each.apiVersion.split("/")[0] : "",
    );
    const { resources } = await tester.ok("GET", base);
    const names = resources.map((resource: Json) => resource.name);
    expect(names).toContain(each.resource);
    if (each.status) expect(names).toContain(`${each.resource}/status`);
  });

  test("create, get, list, watch, patch, update", async () => {
    const watch = await tester.watch(`${everywhere}?watch=1&${label}`);
    const created = await tester.ok("POST", collection, sample("a"));
    const path = `${collection}/${created.metadata.name}`;
    expect(created).toMatchObject({
      kind: each.kind,
      apiVersion: each.apiVersion,
    });
    expect(created.metadata.uid).toBeTruthy();
    await tester.ok("POST", collection, sample("b"));
    const read = await tester.ok("GET", path);
    expect(read.metadata.uid).toBe(created.metadata.uid);
    for (const where of new Set([collection, everywhere])) {
      const list = await tester.ok("GET", `${where}?${label}`);
      expect(list.kind).toBe(`${each.kind}List`);
      expect(list.items).toHaveLength(2);
    }
    await watch.until(({ type }) => type === "ADDED");
    for (const type of ["merge", "strategic"]) {
      const patched = await tester.ok(
        "PATCH",
        path,
        { metadata: { annotations: { [`patched-${type}`]: "true" } } },
        patchHeader(type),
      );
      expect(patched.metadata.annotations[`patched-${type}`]).toBe("true");
    }
    await watch.until(
      ({ type, object }) =>
        type === "MODIFIED" &&
        object.metadata.annotations?.["patched-merge"] === "true",
    );
    await eventually(async () => {
      const latest = await tester.ok("GET", path);
      latest.metadata.annotations.updated = "true";
      return (await tester.call("PUT", path, latest)).status === 200;
    });
    await watch.until(
      ({ type, object }) =>
        type === "MODIFIED" &&
        object.metadata.annotations?.["updated"] === "true",
    );
    watch.close();
  });

  if (each.status) {
    test("status: patch, get, update", async () => {
      const path = `${collection}/${sample("a").metadata.name}`;
      const patched = await tester.ok(
        "PATCH",
        `${path}/status`,
        {
          metadata: { annotations: { patchedstatus: "true" } },
          status: each.status,
        },
        patchHeader("merge"),
      );
      expect(patched.status).toMatchObject(each.status);
      expect(patched.metadata.annotations.patchedstatus).toBe(
        each.statusIsAll ? undefined : "true",
      );
      const viaStatus = await tester.ok("GET", `${path}/status`);
      // Controllers add conditions of their own meanwhile.
      const { conditions = [], ...others } = each.status;
      expect(viaStatus.status).toMatchObject(others);
      for (const condition of conditions)
        expect(viaStatus.status.conditions).toContainEqual(
          expect.objectContaining(condition),
        );
      await eventually(async () => {
        const latest = await tester.ok("GET", `${path}/status`);
        latest.metadata.annotations["updatedstatus"] = "true";
        latest.status = { ...latest.status, ...each.status };
        const answer = await tester.call("PUT", `${path}/status`, latest);
        if (answer.status !== 200 && answer.status !== 409)
          throw new Error(JSON.stringify(answer.body));
        if (answer.status === 200)
          expect(answer.body.status).toMatchObject(each.status);
        return answer.status === 200;
      });
    });
  }

  test("delete and delete of the collection", async () => {
    const watch = await tester.watch(`${everywhere}?watch=1&${label}`);
    const one = await tester.call(
      "DELETE",
      `${collection}/${sample("a").metadata.name}`,
    );
    expect(one.status).toBeLessThan(300);
    await watch.until(({ type }) => type === "DELETED");
    watch.close();
    expect(
      (await tester.call("GET", `${collection}/${sample("a").metadata.name}`))
        .status,
    ).toBe(404);
    if (each.kind !== "Namespace" && each.kind !== "Service")
      await tester.ok("DELETE", `${collection}?${label}`);
    else
      await tester.call("DELETE", `${collection}/${sample("b").metadata.name}`);
    await eventually(
      async () =>
        (await tester.ok("GET", `${collection}?${label}`)).items.length === 0,
      { what: "the collection to be empty" },
    );
  });
});
