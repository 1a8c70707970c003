// Places in flight without priority and fairness: nobody holds them with bodies that do not come, one user never has all of them, and work that takes
// too long keeps its own until it is done.
import * as net from "node:net";
import type { AdmissionPlugin } from "../../../apiserver-lite/admission/plugin.ts";
import type { RequestAuthenticator } from "../../../http-kit/authentication/authenticator.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import {
  configMap,
  configMaps,
  startTestServer,
  type Answer,
  type TestServer,
} from "./support.ts";

/** Whoever the header names; "master" is of system:masters. */
const byHeader: RequestAuthenticator = {
  authenticate: ({ headers }) => {
    const name = String(headers["x-user"] ?? "nobody");
    const groups = name === "master" ? ["system:masters"] : [];
    return { user: { name, groups, extra: {} } };
  },
};

let server: TestServer;
let open: () => void;
const sockets: net.Socket[] = [];

/** Writes of what is called slow… wait until they are let go. */
async function start(
  options: Parameters<typeof startTestServer>[0] = {},
): Promise<void> {
  const opened = new Promise<void>((resolve) => (open = resolve));
  const plugin = {
    name: "Gate",
    validate: ({ name }: { name: string }) =>
      name.startsWith("slow") ? opened : undefined,
  } as unknown as AdmissionPlugin;
  server = await startTestServer({
    maxRequestsInFlight: 8,
    maxMutatingRequestsInFlight: 4,
    priorityAndFairness: false,
    ...options,
    parts: () => ({ admission: [plugin], authenticators: [byHeader] }),
  });
}
afterEach(async () => {
  open();
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.stop();
});

const as = (user: string): Record<string, string> => ({ "x-user": user });
const create = (user: string, name: string): Promise<Answer> =>
  server.call("POST", configMaps, configMap(name), as(user));

async function inFlight(): Promise<number> {
  const { text } = await server.call(
    "GET",
    "/metrics",
    undefined,
    as("master"),
  );
  return Number(
    /inflight_requests\{[^}]*mutating"[^}]*\} (\d+)/.exec(text)?.[1],
  );
}

async function openSocket(bytes: string): Promise<net.Socket> {
  const socket = net.connect(server.server.port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => undefined);
  await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
  return socket;
}

test("bodies that do not come hold no place", async () => {
  await start();
  for (let at = 0; at < 50; at++)
    await openSocket(
      `POST ${configMaps} HTTP/1.1\r\nHost: x\r\nX-User: mallory\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"a`,
    );
  for (const user of ["alice", "mallory"])
    expect((await create(user, user)).status).toBe(201);
  expect(await inFlight()).toBe(0);
});

test("one user has half of the places, a second one the rest, a master always one", async () => {
  await start();
  const slow = ["slow-1", "slow-2"].map((name) => create("mallory", name));
  await eventually(async () => (await inFlight()) === 2);
  const refused = await create("mallory", "third");
  expect([refused.status, refused.text]).toEqual([
    429,
    "Too many requests, please try again later.\n",
  ]);
  expect(refused.headers.get("retry-after")).toBe("1");
  const others = ["slow-3", "slow-4"].map((name) => create("alice", name));
  await eventually(async () => (await inFlight()) === 4);
  expect((await create("bob", "fifth")).status).toBe(429);
  expect((await create("master", "sixth")).status).toBe(201);
  // Reading is another matter.
  expect(
    (await server.call("GET", configMaps, undefined, as("bob"))).status,
  ).toBe(200);
  open();
  for (const answer of await Promise.all([...slow, ...others]))
    expect(answer.status).toBe(201);
  expect((await create("mallory", "last")).status).toBe(201);
  await eventually(async () => (await inFlight()) === 0);
});

test("every writing verb needs a place, and a body makes no difference to reading", async () => {
  await start({ maxRequestsInFlight: 1, maxMutatingRequestsInFlight: 1 });
  expect((await create("alice", "there")).status).toBe(201);
  const slow = create("mallory", "slow-1");
  await eventually(async () => (await inFlight()) === 1);
  const at = `${configMaps}/there`;
  const merge = { "content-type": "application/merge-patch+json" };
  for (const [method, path, body, headers] of [
    ["POST", configMaps, configMap("other"), {}],
    ["PUT", at, configMap("there"), {}],
    ["PATCH", at, "{}", merge],
    ["DELETE", at, undefined, {}],
    ["DELETE", at, { kind: "DeleteOptions", apiVersion: "v1" }, {}],
    ["DELETE", configMaps, undefined, {}],
    ["DELETE", configMaps, { kind: "DeleteOptions", apiVersion: "v1" }, {}],
    ["POST", "/api/v1/namespaces/default/pods/p/eviction", {}, {}],
    ["POST", "/api/v1/namespaces/default/pods/p/binding", {}, {}],
    ["PUT", "/apis/apps/v1/namespaces/default/deployments/d/scale", {}, {}],
    ["POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {}, {}],
  ] as const) {
    const answer = await server.call(method, path, body, {
      ...headers,
      ...as("bob"),
    });
    expect([method, path, answer.status]).toEqual([method, path, 429]);
  }
  const reading = await openSocket(
    `GET ${configMaps} HTTP/1.1\r\nHost: x\r\nX-User: bob\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
  );
  let text = "";
  for await (const chunk of reading) text += String(chunk);
  expect(text).toMatch(/^HTTP\/1.1 200 /);
  open();
  expect((await slow).status).toBe(201);
});

test("work that takes too long keeps its place until it is done", async () => {
  const clock = new FakeClock();
  await start({ clock, requestTimeoutMs: 1500 });
  const asking = ["slow-1", "slow-2"].map((name) => create("mallory", name));
  await eventually(async () => (await inFlight()) === 2);
  clock.advance(1500);
  const answers = await Promise.all(asking);
  expect(answers.map(({ status }) => status)).toEqual([504, 504]);
  expect(await inFlight()).toBe(2);
  expect((await create("mallory", "third")).status).toBe(429);
  open();
  await eventually(async () => (await inFlight()) === 0);
  expect((await create("mallory", "third")).status).toBe(201);
});
