// Paging while others write: every page at the first page's version, each object of that moment once, and the rules of
// remainingItemCount, in each encoding.
import {
  configMap,
  configMaps,
  startTestServer,
  type Json,
  type TestServer,
} from "./support.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.stop());

const make = (name: string, labels: object = {}) =>
  server.call(
    "POST",
    configMaps,
    configMap(name, { metadata: { name, labels } }),
  );
const names = (body: Json): string[] =>
  body.items.map((item: Json) => item.metadata.name);

test.each([
  ["whole collection", configMaps, ""],
  ["by label", configMaps, "&labelSelector=page%3Dyes"],
  ["all namespaces", "/api/v1/configmaps", ""],
])(
  "%s: a snapshot while objects come, go and change",
  async (_name, path, selector) => {
    const all = Array.from(
      { length: 25 },
      (_, index) => `p${String(index).padStart(2, "0")}`,
    );
    for (const name of all) await make(name, { page: "yes" });
    const seen: string[] = [];
    const versions = new Set<string>();
    let token = "";
    for (let page = 0; ; page++) {
      const { status, body } = await server.call(
        "GET",
        `${path}?limit=4${selector}${token}`,
      );
      expect(status).toBe(200);
      seen.push(...names(body));
      versions.add(body.metadata.resourceVersion);
      const left = all.length - seen.length;
      expect(body.metadata.remainingItemCount).toBe(
        selector === "" && left > 0 ? left : undefined,
      );
      if (!body.metadata.continue) break;
      token = `&continue=${encodeURIComponent(body.metadata.continue)}`;
      // Before, behind and at the place where the reader is.
      await Promise.all([
        make(`a${page}`, { page: "yes" }),
        make(`z${page}`, { page: "yes" }),
        server.call("DELETE", `${configMaps}/${all[page * 3]}`),
        server.call("DELETE", `${configMaps}/${all[24 - page]}`),
        server.call(
          "PATCH",
          `${configMaps}/${all[12]}`,
          { metadata: { labels: { page: `no${page}` } } },
          { "content-type": "application/merge-patch+json" },
        ),
      ]);
    }
    expect(seen).toEqual(all);
    expect(versions.size).toBe(1);
  },
);

test("a limit that is not reached leaves no token and no count", async () => {
  await make("a");
  for (const limit of [1, 2, 0, 500]) {
    const { body } = await server.call("GET", `${configMaps}?limit=${limit}`);
    expect(body.metadata).toEqual({
      resourceVersion: expect.any(String) as string,
    });
  }
});

test.each([
  ["text", "limit=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
  [
    "a foreign token",
    `continue=${Buffer.from('{"v":"v9","rv":1,"start":"x"}').toString("base64url")}`,
    400,
    "continue key is not valid",
  ],
  [
    "a token with a path out of its namespace",
    `continue=${Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: 1, start: "../kube-system/x" })).toString("base64url")}`,
    400,
    "continue key is not valid",
  ],
  ["a token of the future", "future", 504, "Too large resource version"],
])("%s is refused", async (_name, query, code, message) => {
  const future = `continue=${Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: 99999, start: "default/x" })).toString("base64url")}`;
  const answer = await server.call(
    "GET",
    `${configMaps}?${query === "future" ? future : query}`,
  );
  expect([answer.status, answer.body.message]).toEqual([
    code,
    expect.stringContaining(message),
  ]);
});

test("pages of Tables and of metadata carry the token", async () => {
  for (const name of ["a", "b", "c"]) await make(name);
  for (const [as, group] of [
    ["Table", "meta.k8s.io"],
    ["Table", "meta.orbit.io"],
    ["PartialObjectMetadataList", "meta.k8s.io"],
    ["PartialObjectMetadataList", "meta.orbit.io"],
  ]) {
    const { body } = await server.call(
      "GET",
      `${configMaps}?limit=2`,
      undefined,
      {
        accept: `application/json;as=${as};g=${group};v=v1`,
      },
    );
    expect([body.kind, body.apiVersion]).toEqual([as, `${group}/v1`]);
    expect((body.rows ?? body.items).length).toBe(2);
    expect(body.metadata).toMatchObject({
      continue: expect.any(String) as string,
      remainingItemCount: 1,
    });
  }
});
