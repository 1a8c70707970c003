// Requests over several API servers: which server they go to, what is sent again, and whose watches end.
import { pino } from "pino";
import { FailoverTransport } from "../../../client/failover-transport.ts";
import type { ApiRequest } from "../../../client/transport.ts";
import { nodes } from "../../../client/resources.ts";

const logger = pino({ level: "silent" });

function failure(code: string): Error {
  const error = new Error("GET /", {
    cause: Object.assign(new Error(), { code }),
  });
  error.name = "TransportError";
  return error;
}

/** Servers by name; `down` says with which error each fails. */
function servers(down: Record<string, string | undefined>) {
  const calls: string[] = [];
  const left: string[] = [];
  const transport = new FailoverTransport({
    servers: Object.keys(down),
    tls: {},
    logger,
    open: (server) => ({
      async request({ verb }: ApiRequest) {
        calls.push(`${server} ${verb}`);
        const code = down[server];
        if (code !== undefined) throw failure(code);
        return { metadata: { name: server } };
      },
      watch: () => {
        calls.push(`${server} watch`);
        return undefined as never;
      },
      raw: async () => ({ status: 200, body: server }),
      updateTls: async () => void left.push(server),
      close: async () => undefined,
    }),
  });
  const request = (verb: ApiRequest["verb"]) =>
    transport.request({ verb, resource: nodes });
  return { transport, calls, left, request, down };
}

test("all go to the first server that answers, and stay there", async () => {
  const { request, calls, left, transport, down } = servers({
    a: "ECONNREFUSED",
    b: undefined,
  });
  await request("create");
  down["a"] = undefined;
  await request("get");
  transport.watch(nodes, {});
  expect(calls).toEqual(["a create", "b create", "b get", "b watch"]);
  expect(left).toEqual(["a"]);
  expect(transport.server).toBe("b");
});

test("connections are made again where the machine's addresses have changed", async () => {
  const { request, calls, left, transport } = servers({ a: undefined });
  await transport.reconnect();
  expect(left).toEqual(["a"]);
  await request("get");
  expect(calls).toEqual(["a get"]);
});

test.each([
  ["create", ["a create"]],
  ["patch", ["a patch"]],
  ["delete", ["a delete"]],
  ["get", ["a get", "b get"]],
  ["list", ["a list", "b list"]],
] as const)(
  "a %s that may have been done is not done twice",
  async (verb, expected) => {
    const { request, calls, transport } = servers({
      a: "UND_ERR_SOCKET",
      b: undefined,
    });
    await request(verb).catch(() => undefined);
    expect(calls).toEqual(expected);
    // The next one goes to the other server in any case.
    expect(transport.server).toBe("b");
  },
);

test("when none answers each was asked once", async () => {
  const { request, calls } = servers({
    a: "ECONNREFUSED",
    b: "EHOSTUNREACH",
    c: "UND_ERR_CONNECT_TIMEOUT",
  });
  await expect(request("get")).rejects.toMatchObject({
    name: "TransportError",
  });
  expect(calls).toEqual(["a get", "b get", "c get"]);
});

test("an answer of the API server is no reason to leave it", async () => {
  const { calls, transport } = servers({ a: undefined, b: undefined });
  const refused = new FailoverTransport({
    servers: ["a", "b"],
    tls: {},
    logger,
    open: () => ({
      request: () => Promise.reject(new Error("Forbidden")),
      watch: () => undefined as never,
      raw: () => Promise.reject(new Error("Forbidden")),
      updateTls: async () => undefined,
      close: async () => undefined,
    }),
  });
  await expect(
    refused.request({ verb: "get", resource: nodes }),
  ).rejects.toThrow("Forbidden");
  expect(refused.server).toBe("a");
  expect(transport.server).toBe("a");
  expect(calls).toEqual([]);
});

test.each([
  ["ECONNREFUSED", []],
  ["UND_ERR_HEADERS_TIMEOUT", ["a"]],
])(
  "one server alone: %s renews the connections of %j",
  async (code, expected) => {
    const { request, left, transport } = servers({ a: code });
    await expect(request("get")).rejects.toThrow();
    expect(left).toEqual(expected);
    expect(transport.server).toBe("a");
  },
);
