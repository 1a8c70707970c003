// A conversion webhook that never answers: its callers get the reference's answer when its time is over, and nobody else
// waits.
import { alwaysAllow } from "../../../../apiserver-lite/authorization/union-authorizer.ts";
import { WebhookClients } from "../../../../apiserver-lite/webhook-client/webhook-clients.ts";
import {
  convertedBy,
  crd,
  cronTab,
  definitions,
  versionOf,
} from "../../../support/definitions.ts";
import { eventually } from "../../../support/eventually.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import {
  startHttpsServer,
  type TestHttpsServer,
} from "../../../support/https-server.ts";
import { startTestServer, type Json, type TestServer } from "../support.ts";

const at = (version: string): string =>
  `/apis/stable.example.com/${version}/namespaces/default/crontabs`;
const others = "/apis/other.example.com/v1/namespaces/default/others";
/** Of a call, as at the reference. */
const callMs = 30_000;

let server: TestServer;
let webhook: TestHttpsServer;
let clock: FakeClock;
let calls = 0;

beforeAll(async () => {
  clock = new FakeClock();
  webhook = await startHttpsServer(() => {
    calls++;
    return undefined;
  });
  server = await startTestServer({
    // Only the webhook's time passes by hand.
    parts: (state) => ({
      authorizer: alwaysAllow,
      webhookClients: new WebhookClients({ state, clock }),
    }),
  });
  const versions = [versionOf("v1"), versionOf("v2", { storage: false })];
  for (const definition of [
    crd({ versions, spec: convertedBy(webhook, "/convert") }),
    crd({ group: "other.example.com", plural: "others", kind: "Other" }),
  ])
    await server.call("POST", definitions, definition);
  await eventually(
    async () =>
      (await server.call("GET", at("v2"))).status === 200 &&
      (await server.call("GET", others)).status === 200,
  );
  for (const name of ["a", "b"])
    await server.call("POST", at("v1"), cronTab(name, { spec: { name } }));
});
afterAll(async () => {
  await server.stop();
  await webhook.close();
});

/** Begins a request that comes to the webhook, and what it answered when it has. */
async function begin(method: string, path: string, body?: Json) {
  const before = calls;
  const asked: { answer?: Json; done: Promise<unknown> } = {
    done: server.call(method, path, body).then((answer) => {
      asked.answer = answer;
    }),
  };
  await eventually(() => calls > before, { what: "a call of the webhook" });
  return asked;
}

test.each([
  ["read", "GET", "/a", "v1"],
  ["list", "GET", "", "v1"],
  ["write", "POST", "", "v2"],
])(
  "a %s waits for the webhook's time, and others do not wait",
  async (_, method, rest, from) => {
    const v2 = { apiVersion: "stable.example.com/v2" };
    const waiting = await begin(
      method,
      `${at("v2")}${rest}`,
      method === "POST" ? { ...cronTab("new"), ...v2 } : undefined,
    );
    const watch = await server.watch(`${at("v1")}?watch=1`);
    const meanwhile = await Promise.all([
      server.call("GET", `${at("v1")}/a`),
      server.call("PUT", `${at("v1")}/b`, {
        ...(await server.call("GET", `${at("v1")}/b`)).body,
        spec: { changed: method + rest },
      }),
      server.call("GET", at("v1")),
      server.call("GET", others),
      server.call("GET", `${definitions}/crontabs.stable.example.com`),
    ]);
    expect(meanwhile.map(({ status }) => status)).toEqual(
      Array<number>(5).fill(200),
    );
    expect((await watch.next())!.type).toBe("ADDED");
    watch.close();
    clock.advance(callMs - 1);
    await server.call("GET", others);
    expect(waiting.answer).toBeUndefined();
    clock.advance(1);
    await waiting.done;
    expect(waiting.answer).toMatchObject({
      status: 500,
      body: {
        message: `conversion webhook for stable.example.com/${from}, Kind=CronTab failed: Post "${webhook.url}/convert?timeout=30s": context deadline exceeded`,
      },
    });
  },
);

test("a webhook that hangs keeps neither its definition nor the server from going", async () => {
  const reading = await begin("GET", `${at("v2")}/a`);
  const path = `${definitions}/crontabs.stable.example.com`;
  await server.call("DELETE", path);
  await eventually(
    async () => (await server.call("GET", path)).status === 404,
    { what: "the definition's end" },
  );
  expect(reading.answer).toBeUndefined();
  clock.advance(callMs);
  await reading.done;
  expect(reading.answer).toMatchObject({ status: 500 });
});
