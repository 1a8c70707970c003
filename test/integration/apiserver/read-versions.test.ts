// The resourceVersion tables of get and list, cell by cell, and paging.
import {
  configMap,
  configMaps,
  startTestServer,
  type Json,
  type TestServer,
} from "./support.ts";

let server: TestServer;
/** Collection versions after the n-th object was made. */
const versions: string[] = [];

beforeAll(async () => {
  server = await startTestServer();
  for (let index = 0; index < 5; index++) {
    const made = await server.call(
      "POST",
      configMaps,
      configMap(`m${index}`, { data: { index: String(index) } }),
    );
    versions.push(made.body["metadata"].resourceVersion);
  }
});
afterAll(() => server.stop());

const list = (query: string) => server.call("GET", `${configMaps}?${query}`);
const names = (body: Json): string[] =>
  body["items"].map((item: Json) => item.metadata.name);

describe("list", () => {
  const all = ["m0", "m1", "m2", "m3", "m4"];
  const newest = () => versions[4]!;
  const third = () => versions[2]!;
  type Want = { items: string[]; version?: () => string } | { status: number };
  const cells: [cell: string, query: () => string, want: Want][] = [
    ["unset, no limit, unset", () => "", { items: all, version: newest }],
    [
      "unset, no limit, 0",
      () => "resourceVersion=0",
      { items: all, version: newest },
    ],
    [
      "unset, no limit, other: not older than",
      () => `resourceVersion=${third()}`,
      { items: all, version: newest },
    ],
    [
      "unset, limit, unset",
      () => "limit=2",
      { items: ["m0", "m1"], version: newest },
    ],
    [
      "unset, limit, 0",
      () => "limit=2&resourceVersion=0",
      { items: all, version: newest },
    ],
    [
      "unset, limit, other: exact",
      () => `limit=9&resourceVersion=${third()}`,
      { items: ["m0", "m1", "m2"], version: third },
    ],
    [
      "Exact, no limit, unset: invalid",
      () => "resourceVersionMatch=Exact",
      { status: 422 },
    ],
    [
      "Exact, no limit, 0: invalid",
      () => "resourceVersionMatch=Exact&resourceVersion=0",
      { status: 422 },
    ],
    [
      "Exact, no limit, other",
      () => `resourceVersionMatch=Exact&resourceVersion=${third()}`,
      { items: ["m0", "m1", "m2"], version: third },
    ],
    [
      "Exact, limit, unset: invalid",
      () => "limit=2&resourceVersionMatch=Exact",
      { status: 422 },
    ],
    [
      "Exact, limit, 0: invalid",
      () => "limit=2&resourceVersionMatch=Exact&resourceVersion=0",
      { status: 422 },
    ],
    [
      "Exact, limit, other",
      () => `limit=2&resourceVersionMatch=Exact&resourceVersion=${third()}`,
      { items: ["m0", "m1"], version: third },
    ],
    [
      "NotOlderThan, no limit, unset: invalid",
      () => "resourceVersionMatch=NotOlderThan",
      { status: 422 },
    ],
    [
      "NotOlderThan, no limit, 0",
      () => "resourceVersionMatch=NotOlderThan&resourceVersion=0",
      { items: all, version: newest },
    ],
    [
      "NotOlderThan, no limit, other",
      () => `resourceVersionMatch=NotOlderThan&resourceVersion=${third()}`,
      { items: all, version: newest },
    ],
    [
      "NotOlderThan, limit, 0",
      () => "limit=2&resourceVersionMatch=NotOlderThan&resourceVersion=0",
      { items: all, version: newest },
    ],
    [
      "NotOlderThan, limit, other",
      () =>
        `limit=2&resourceVersionMatch=NotOlderThan&resourceVersion=${third()}`,
      { items: ["m0", "m1"], version: newest },
    ],
    [
      "an unknown match",
      () => "resourceVersionMatch=Newest&resourceVersion=1",
      { status: 422 },
    ],
    ["no number", () => "resourceVersion=abc", { status: 400 }],
    ["a forged token", () => "continue=abc", { status: 400 }],
    [
      "a version before history",
      () => "resourceVersionMatch=Exact&resourceVersion=1",
      { items: [] },
    ],
  ];
  test.each(cells)("%s", async (_cell, query, want) => {
    const answer = await list(query());
    if ("status" in want) {
      expect(answer.status).toBe(want.status);
      expect(answer.body["kind"]).toBe("Status");
      return;
    }
    expect(answer.status).toBe(200);
    expect(names(answer.body)).toEqual(want.items);
    if (want.version)
      expect(answer.body["metadata"].resourceVersion).toBe(want.version());
  });

  test("pages keep the collection's version while it changes", async () => {
    const first = await list("limit=2");
    expect(first.body["metadata"].remainingItemCount).toBe(3);
    const token = first.body["metadata"].continue;
    const other = "/api/v1/namespaces/default/configmaps";
    await server.call("POST", other, configMap("m00"));
    await server.call("DELETE", `${other}/m3`);
    const second = await list(`limit=2&continue=${token}`);
    expect(names(second.body)).toEqual(["m2", "m3"]);
    expect(second.body["metadata"].resourceVersion).toBe(
      first.body["metadata"].resourceVersion,
    );
    const third = await list(
      `limit=2&continue=${second.body["metadata"].continue}`,
    );
    expect(names(third.body)).toEqual(["m4"]);
    expect(third.body["metadata"].continue).toBeUndefined();
    expect(third.body["metadata"].remainingItemCount).toBeUndefined();

    // A token beside another version.
    expect(
      (await list(`limit=2&continue=${token}&resourceVersion=0`)).status,
    ).toBe(200);
    expect(
      (await list(`limit=2&continue=${token}&resourceVersion=5`)).status,
    ).toBe(400);
    expect(
      (
        await list(
          `limit=2&continue=${token}&resourceVersionMatch=Exact&resourceVersion=5`,
        )
      ).status,
    ).toBe(422);
    await server.call("DELETE", `${other}/m00`);
    await server.call("POST", other, configMap("m3"));
  });

  test("selectors leave out remainingItemCount", async () => {
    const answer = await list("limit=1&fieldSelector=metadata.name!=m0");
    expect(names(answer.body)).toEqual(["m1"]);
    expect(answer.body["metadata"].continue).toBeTruthy();
    expect(answer.body["metadata"].remainingItemCount).toBeUndefined();
  });

  test("an unknown field label is refused", async () => {
    const answer = await list("fieldSelector=spec.nothing=1");
    expect(answer.status).toBe(400);
    expect(answer.body["message"]).toBe(
      '"spec.nothing" is not a known field selector: only "metadata.name", "metadata.namespace"',
    );
  });

  test("items have no kind of their own; the list has", async () => {
    const { body } = await list("");
    expect(body["kind"]).toBe("ConfigMapList");
    expect(body["items"][0].kind).toBeUndefined();
    expect(body["items"][0].metadata.name).toBe("m0");
  });
});

describe("get", () => {
  test.each([
    ["unset", "", 200],
    ["0", "?resourceVersion=0", 200],
    ["not older than", "?resourceVersion=2", 200],
    ["no number", "?resourceVersion=x", 400],
  ])("%s", async (_name, query, status) => {
    expect((await server.call("GET", `${configMaps}/m0${query}`)).status).toBe(
      status,
    );
  });

  test("a version of the future", async () => {
    const answer = await server.call(
      "GET",
      `${configMaps}/m0?resourceVersion=999999`,
    );
    expect(answer.status).toBe(504);
    expect(answer.body["message"]).toMatch(
      /^Timeout: Too large resource version: 999999, current: \d+$/,
    );
    expect(answer.body["details"].causes[0].reason).toBe(
      "ResourceVersionTooLarge",
    );
  });

  test("not found", async () => {
    const answer = await server.call("GET", `${configMaps}/none`);
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: 'configmaps "none" not found',
      reason: "NotFound",
      details: { name: "none", kind: "configmaps" },
      code: 404,
    });
  });
});

test("history that has gone: 410 with a token that goes on inconsistently", async () => {
  const small = await startTestServer({ historyMs: 1, historyBytes: 1 });
  try {
    for (let index = 0; index < 4; index++)
      await small.call("POST", configMaps, configMap(`m${index}`));
    const first = await small.call("GET", `${configMaps}?limit=2`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    for (let index = 4; index < 6; index++)
      await small.call("POST", configMaps, configMap(`m${index}`));
    await new Promise((resolve) => setTimeout(resolve, 5));
    await small.call("POST", configMaps, configMap("m6"));
    const token = first.body["metadata"].continue;
    const gone = await small.call(
      "GET",
      `${configMaps}?limit=2&continue=${token}`,
    );
    expect(gone.status).toBe(410);
    expect(gone.body["reason"]).toBe("Expired");
    expect(gone.body["message"]).toMatch(
      /^The provided continue parameter is too old/,
    );
    const rest = await small.call(
      "GET",
      `${configMaps}?continue=${gone.body["metadata"].continue}`,
    );
    expect(names(rest.body)).toEqual(["m2", "m3", "m4", "m5", "m6"]);
    const exact = await small.call(
      "GET",
      `${configMaps}?resourceVersionMatch=Exact&resourceVersion=${first.body["metadata"].resourceVersion}`,
    );
    expect(exact.status).toBe(410);
    expect(exact.body["message"]).toBe(
      "The resourceVersion for the provided list is too old.",
    );
    const watch = await small.watch(
      `${configMaps}?watch=1&resourceVersion=${first.body["metadata"].resourceVersion}`,
    );
    const frame = await watch.next();
    expect(frame?.type).toBe("ERROR");
    expect(frame?.object["code"]).toBe(410);
    expect(frame?.object["message"]).toMatch(/^too old resource version: /);
    expect(await watch.next()).toBeUndefined();
  } finally {
    await small.stop();
  }
});
