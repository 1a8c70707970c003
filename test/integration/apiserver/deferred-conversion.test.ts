// A kind whose versions are converted outside of the process, in batches that take their time: every read and write
// through both versions, in order on watches, once for all who ask; conversions that fail, lie or never end.
import pino from "pino";
import { systemClock } from "../../../api/clock.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { DeferredConversion } from "../../../apiserver-lite/registry/kinds/kind-definition.ts";
import { superuser } from "../../../apiserver-lite/index.ts";
import { createClient } from "../../../client/create-client.ts";
import { customKind, widget, widgets } from "../../support/custom-kind.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { startTestServer, type Answer, type TestServer } from "./support.ts";

const v1 = widgets;
const v2 = widgets.replace("/v1/", "/v2/");
const merge = { "content-type": "application/merge-patch+json" };

/** v1 has spec.size; v2, which is stored, spec.dimensions.size. */
class Outside {
  readonly calls: number[] = [];
  /** Names of objects whose conversion is refused. */
  readonly refused = new Set<string>();
  hangs = false;
  aborted = 0;
  answer = (objects: AnyObject[]): AnyObject[] => objects;

  conversion(timeoutMs = 30_000): DeferredConversion {
    return {
      mode: "deferred",
      maxBatch: 50,
      timeoutMs,
      convert: async (objects, apiVersion, signal) => {
        this.calls.push(objects.length);
        await new Promise((resolve) => setImmediate(resolve));
        if (this.hangs)
          await new Promise((resolve) =>
            signal.addEventListener("abort", () => {
              this.aborted++;
              resolve(undefined);
            }),
          );
        for (const { metadata } of objects)
          if (this.refused.has(metadata.name))
            throw new Error(`no way to convert ${metadata.name}`);
        return this.answer(
          objects.map((object) => {
            const spec = object["spec"] as {
              size?: number;
              dimensions?: { size: number };
            };
            return {
              ...structuredClone(object),
              apiVersion,
              spec:
                apiVersion === object.apiVersion
                  ? spec
                  : apiVersion.endsWith("/v1")
                    ? { size: spec.dimensions?.size }
                    : { dimensions: { size: spec.size } },
            };
          }),
        );
      },
    };
  }
}

let outside: Outside;
let server: TestServer;
const start = async (timeoutMs?: number, clock?: FakeClock): Promise<void> => {
  outside = new Outside();
  server = await startTestServer({
    bookmarkIntervalMs: 60_000,
    ...(clock ? { clock } : {}),
  });
  await server.server.registry.kinds.register(
    customKind({
      versions: ["v1", "v2"],
      conversion: outside.conversion(timeoutMs),
    }),
  );
};
afterEach(() => server.stop());

const get = (path: string, accept = "application/json"): Promise<Answer> =>
  server.call("GET", path, undefined, { accept });
const make = (name: string, size = 1): Promise<Answer> =>
  server.call("POST", v1, widget(name, { spec: { size } }));
const stored = (name: string): Readonly<AnyObject> =>
  server.server.registry.read("example.com", "widgets", "default", name)!;

test("is written and read through both versions", async () => {
  await start();
  const made = await make("a", 3);
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({
    apiVersion: "example.com/v1",
    spec: { size: 3 },
  });
  expect(stored("a")).toMatchObject({
    apiVersion: "example.com/v2",
    spec: { dimensions: { size: 3 } },
  });
  expect((await get(`${v2}/a`)).body.spec).toEqual({ dimensions: { size: 3 } });
  expect((await get(`${v1}/a`)).body).toEqual(made.body);
  const patched = await server.call(
    "PATCH",
    `${v1}/a`,
    { spec: { size: 4 } },
    merge,
  );
  expect(patched.body.spec).toEqual({ size: 4 });
  const put = await server.call("PUT", `${v1}/a`, {
    ...patched.body,
    spec: { size: 5 },
  });
  expect(put.body.spec).toEqual({ size: 5 });
  // An update that changes nothing keeps its version.
  expect((await server.call("PUT", `${v1}/a`, put.body)).body).toEqual(
    put.body,
  );
  const applied = await server.call(
    "PATCH",
    `${v1}/a?fieldManager=me&force=true`,
    widget("a", { spec: { size: 6 } }),
    { "content-type": "application/apply-patch+yaml" },
  );
  expect(applied.body.spec).toEqual({ size: 6 });
  expect(applied.body.metadata.managedFields).toContainEqual(
    expect.objectContaining({
      manager: "me",
      apiVersion: "example.com/v1",
    }),
  );
  expect(stored("a")["spec"]).toEqual({ dimensions: { size: 6 } });
  const dry = await server.call(
    "PATCH",
    `${v1}/a?dryRun=All`,
    { spec: { size: 9 } },
    merge,
  );
  expect(dry.body.spec).toEqual({ size: 9 });
  const table = "application/json;as=Table;g=meta.k8s.io;v=v1";
  expect((await get(v1, table)).body.rows[0].cells).toEqual(["a", "6"]);
  expect((await get(v1, "application/yaml")).text).toContain("size: 6");
  expect((await server.call("DELETE", `${v1}/a`)).status).toBe(200);
  expect((await get(`${v1}/a`)).status).toBe(404);
});

test("a list is converted in batches, once for all who ask", async () => {
  await start();
  await Promise.all(Array.from({ length: 120 }, (_, at) => make(`w${at}`, at)));
  outside.calls.length = 0;
  const lists = await Promise.all([get(v1), get(v1), get(v1)]);
  for (const { body } of lists) {
    expect(body.items).toHaveLength(120);
    expect(body.items[7].spec).toEqual({ size: expect.any(Number) });
    expect(body.kind).toBe("WidgetList");
  }
  expect(outside.calls.every((count) => count <= 50)).toBe(true);
  // The answers to the creates were converted already.
  const first = outside.calls.length;
  await get(v1);
  await get(`${v1}/w7`);
  expect(outside.calls).toHaveLength(first);
  // A fresh kind has kept nothing.
  await server.server.registry.kinds.register(
    customKind({ versions: ["v1", "v2"], conversion: outside.conversion() }),
  );
  outside.calls.length = 0;
  await Promise.all([get(v1), get(v1), get(v1)]);
  expect(outside.calls.every((count) => count <= 50)).toBe(true);
  expect(outside.calls.length).toBeLessThan(10);
  expect(outside.calls.reduce((sum, count) => sum + count)).toBe(120);
  const page = (await get(`${v1}?limit=30`)).body;
  expect(page.items).toHaveLength(30);
  expect(page.metadata.remainingItemCount).toBe(90);
  // Objects of the version that is stored need nobody.
  outside.calls.length = 0;
  expect((await get(v2)).body.items).toHaveLength(120);
  expect(outside.calls).toEqual([]);
});

test.each([
  "",
  "&resourceVersion=0",
  "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
])("a watch sees everything once and in order (watch=1%s)", async (query) => {
  await start();
  for (let at = 0; at < 3; at++) await make(`w${at}`, at);
  const watch = await server.watch(`${v1}?watch=1${query}`);
  const sizes = async (count: number): Promise<string[]> => {
    const seen: string[] = [];
    while (seen.length < count) {
      const frame = await watch.next();
      if (frame!.type === "BOOKMARK") {
        seen.push("BOOKMARK");
        continue;
      }
      expect(frame!.object.apiVersion).toBe("example.com/v1");
      seen.push(
        `${frame!.type} ${frame!.object.metadata.name} ${frame!.object.spec.size}`,
      );
    }
    return seen;
  };
  const initial = ["ADDED w0 0", "ADDED w1 1", "ADDED w2 2"];
  if (query.includes("sendInitial")) initial.push("BOOKMARK");
  expect(await sizes(initial.length)).toEqual(initial);
  const writes: Promise<unknown>[] = [];
  for (let at = 10; at < 60; at++)
    writes.push(
      server.call(
        "PATCH",
        `${v2}/w${at % 3}`,
        { spec: { dimensions: { size: at } } },
        merge,
      ),
    );
  await Promise.all(writes);
  await server.call("DELETE", `${v2}/w1`);
  const seen = await sizes(51);
  expect(seen.at(-1)).toMatch(/^DELETED w1 \d+$/);
  expect(seen.slice(0, 50).every((one) => /^MODIFIED w\d \d+$/.test(one))).toBe(
    true,
  );
  expect(new Set(seen).size).toBe(51);
  watch.close();
});

test("a watch that resumes begins with the past, converted", async () => {
  await start();
  const { body } = await make("a", 1);
  await server.call("PATCH", `${v1}/a`, { spec: { size: 2 } }, merge);
  await server.call("DELETE", `${v1}/a`);
  const { resourceVersion } = body.metadata;
  const watch = await server.watch(
    `${v1}?watch=1&resourceVersion=${resourceVersion}`,
  );
  const frames = [await watch.next(), await watch.next()];
  expect(frames.map((frame) => [frame!.type, frame!.object.spec])).toEqual([
    ["MODIFIED", { size: 2 }],
    ["DELETED", { size: 2 }],
  ]);
  watch.close();
});

test("a conversion that fails is a 500 that names it; on a watch an ERROR event", async () => {
  await start();
  await make("good");
  const watch = await server.watch(`${v1}?watch=1`);
  expect(await watch.take(1)).toEqual(["ADDED good"]);
  outside.refused.add("bad");
  const made = await server.call("POST", v2, {
    ...widget("bad", { spec: { dimensions: { size: 1 } } }),
    apiVersion: "example.com/v2",
  });
  expect(made.status).toBe(201);
  const refused = {
    status: 500,
    body: {
      kind: "Status",
      code: 500,
      message:
        "conversion of Widget to example.com/v1 failed: no way to convert bad",
    },
  };
  expect(await get(`${v1}/bad`)).toMatchObject(refused);
  expect(await get(v1)).toMatchObject(refused);
  expect((await get(`${v1}/good`)).status).toBe(200);
  expect((await get(v2)).status).toBe(200);
  expect(await make("bad")).toMatchObject({ status: 500 });
  const error = await watch.next();
  expect(error).toMatchObject({ type: "ERROR", object: refused.body });
  expect(await watch.next()).toBeUndefined();
  expect(await get(`${v1}?watch=1`)).toMatchObject(refused);
  // It is nobody's for good.
  outside.refused.clear();
  expect((await get(`${v1}/bad`)).body.spec).toEqual({ size: 1 });
});

test("answers that are not the objects asked for are refused", async () => {
  await start();
  await make("a");
  await make("b");
  await server.server.registry.kinds.register(
    customKind({ versions: ["v1", "v2"], conversion: outside.conversion() }),
  );
  const said = async (): Promise<string> => (await get(v1)).body.message;
  outside.answer = (objects) => objects.slice(1);
  expect(await said()).toContain("1 objects came back for 2");
  outside.answer = (objects) => objects.reverse();
  expect(await said()).toContain('metadata.name is "b", not "a"');
  outside.answer = (objects) =>
    objects.map((object) => ({ ...object, apiVersion: "example.com/v2" }));
  expect(await said()).toContain('apiVersion is "example.com/v2"');
  outside.answer = (objects) => objects.map(() => null as unknown as AnyObject);
  expect(await said()).toContain("an object that came back is null");
  // Labels may differ, the rest of the metadata may not.
  outside.answer = (objects) =>
    objects.map((object) => ({
      ...object,
      metadata: {
        ...object.metadata,
        labels: { l: "1" },
        resourceVersion: "7",
        finalizers: ["x"],
      },
    }));
  const { items } = (await get(v1)).body;
  expect(items[0].metadata).toMatchObject({ labels: { l: "1" } });
  expect(items[0].metadata.finalizers).toBeUndefined();
  expect(items[0].metadata.resourceVersion).toBe(
    stored("a").metadata.resourceVersion,
  );
});

test("a conversion that hangs costs a request its own time, a watch the conversion's", async () => {
  const clock = new FakeClock();
  await start(1500, clock);
  /** Time passes until the answer is there. */
  const awaited = async (answer: Promise<Answer>): Promise<Answer> => {
    let over = false;
    void answer.then(() => (over = true));
    await eventually(async () => {
      await clock.advanceAsync(10);
      return over;
    });
    return answer;
  };
  await make("a");
  const watch = await server.watch(`${v1}?watch=1`);
  await watch.take(1);
  outside.hangs = true;
  await server.call(
    "PATCH",
    `${v2}/a`,
    { spec: { dimensions: { size: 2 } } },
    merge,
  );
  expect(await awaited(get(`${v1}/a?timeout=50ms`))).toMatchObject({
    status: 504,
    body: { reason: "Timeout" },
  });
  expect((await awaited(get(`${v1}/a`))).body.message).toBe(
    "conversion of Widget to example.com/v1 failed: no answer within 1500 ms",
  );
  expect(await watch.next()).toMatchObject({ type: "ERROR" });
  await eventually(() => outside.aborted > 0);
  // Others do not notice, and the next who asks is served again.
  expect((await get(`${v2}/a`)).status).toBe(200);
  outside.hangs = false;
  expect((await get(`${v1}/a`)).body.spec).toEqual({ size: 2 });
});

test("objects stay in the version they were stored in until they are written", async () => {
  await start();
  await make("a", 3);
  const { registry } = server.server;
  // From now on the first version is the stored one.
  await registry.kinds.register(
    customKind({ versions: ["v2", "v1"], conversion: outside.conversion() }),
  );
  expect(stored("a").apiVersion).toBe("example.com/v2");
  const { body } = await get(`${v1}/a`);
  expect(body.spec).toEqual({ size: 3 });
  // A write that changes nothing brings it into the stored version.
  const put = await server.call("PUT", `${v1}/a`, body);
  expect(put.status).toBe(200);
  expect(stored("a")).toMatchObject({
    apiVersion: "example.com/v1",
    spec: { size: 3 },
  });
  expect((await get(`${v2}/a`)).body.spec).toEqual({ dimensions: { size: 3 } });
});

test("in process the same: requests, watches, informers", async () => {
  await start();
  const client = createClient(server.server.transport(superuser), {
    clock: systemClock,
    logger: pino({ level: "silent" }),
  });
  const ref = {
    ...{ group: "example.com", version: "v1", resource: "widgets" },
    ...{ kind: "Widget", namespaced: true },
  };
  const objects = client.resource<AnyObject>(ref);
  await objects.create(widget("a", { spec: { size: 1 } }));
  expect((await objects.get("a", "default"))["spec"]).toEqual({ size: 1 });
  const seen: string[] = [];
  const informer = client.informer<AnyObject>(ref);
  informer.addHandler({
    onAdd: (object) => void seen.push(`+${JSON.stringify(object["spec"])}`),
    onUpdate: (_, object) =>
      void seen.push(`~${JSON.stringify(object["spec"])}`),
    onDelete: (object) => void seen.push(`-${JSON.stringify(object["spec"])}`),
  });
  await informer.synced();
  await objects.patch("a", "default", {
    type: "merge",
    body: { spec: { size: 2 } },
  });
  await objects.delete("a", "default");
  await eventually(() => seen.length === 3);
  expect(seen).toEqual(['+{"size":1}', '~{"size":2}', '-{"size":2}']);
  await client.close();
});
