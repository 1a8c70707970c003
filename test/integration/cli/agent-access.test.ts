// The node agent's ports fail closed: where they listen by what protects them, --enable-debugging-handlers, and tokens
// checked at the API server.
import * as fs from "node:fs";
import * as https from "node:https";
import * as path from "node:path";
import pino from "pino";
import { systemClock } from "../../../api/clock.ts";
import { errors } from "../../../api/errors.ts";
import { createCertificateAuthority } from "../../../api/pki/certificate.ts";
import { readAgentOptions } from "../../../cli/agent.ts";
import { createClient } from "../../../client/create-client.ts";
import type { Client } from "../../../client/client.ts";
import type { Transport } from "../../../client/transport.ts";
import { freePort } from "../../support/free-port.ts";
import { listeningSockets } from "../../support/listening.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { openPort, type OpenPort } from "./part-ports.ts";
import { useStopped } from "./support.ts";

const directories = useTempDirectories();
const open = useStopped();

async function start(
  argv: readonly string[],
  client?: Client,
  featureGates?: Readonly<Record<string, boolean>>,
): Promise<OpenPort> {
  const port = await openPort(
    ...(["agent", directories(), argv, client, featureGates] as const),
  );
  open.push(port);
  return port;
}

function request(
  port: number,
  method: string,
  target: string,
  token?: string,
): Promise<{ code: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = https.request(
      {
        host: "127.0.0.1",
        port,
        method,
        path: target,
        rejectUnauthorized: false,
        agent: false,
        headers: {
          accept: "*/*",
          ...(token ? { authorization: `Bearer ${token}` } : {}),
        },
      },
      (response) => {
        let body = "";
        response.on("data", (chunk: Buffer) => (body += chunk.toString()));
        response.on("end", () => resolve({ code: response.statusCode!, body }));
      },
    );
    sent.on("error", reject);
    sent.end();
  });
}

interface Review {
  spec: { token?: string; user?: string };
}

/** An API that knows one token and lets its user in. */
function reviewingClient(): Client & { asked: string[]; fails: boolean } {
  const asked: string[] = [];
  const transport = {
    request({
      resource,
      body,
    }: {
      resource: { resource: string };
      body: Review;
    }) {
      asked.push(resource.resource);
      if (made.fails) return Promise.reject(errors.unavailable("away"));
      if (resource.resource === "tokenreviews")
        return Promise.resolve({
          ...body,
          status:
            body.spec.token === "good"
              ? { authenticated: true, user: { username: "jane" } }
              : { authenticated: false },
        });
      if (resource.resource === "subjectaccessreviews")
        return Promise.resolve({
          ...body,
          status: { allowed: body.spec.user === "jane" },
        });
      return Promise.reject(errors.badRequest("no such resource"));
    },
    close: () => Promise.resolve(),
  } as unknown as Transport;
  const client = createClient(transport, {
    clock: systemClock,
    logger: pino({ level: "silent" }),
  });
  open.push({ stop: () => client.close() });
  const made = Object.assign(client, { asked, fails: false });
  return made;
}

const authorityFile = (): string => {
  const file = path.join(directories(), "ca.crt");
  fs.writeFileSync(
    file,
    createCertificateAuthority({
      subject: { commonName: "clients" },
      nowMs: Date.now(),
    }).certificate,
  );
  return file;
};

describe("addresses", () => {
  const everywhere = /^(0\.0\.0\.0|::)$/;
  const loopback = /^127\.0\.0\.1$/;
  test.each<[string, () => string[], RegExp, RegExp]>([
    ["nothing protects it", () => [], loopback, loopback],
    [
      "a client CA while anonymous requests may do everything",
      () => [`--client-ca-file=${authorityFile()}`],
      loopback,
      loopback,
    ],
    [
      "a client CA, no anonymous requests",
      () => [`--client-ca-file=${authorityFile()}`, "--anonymous-auth=false"],
      everywhere,
      loopback,
    ],
    [
      "authorization at the API server",
      () => ["--authorization-mode=Webhook"],
      everywhere,
      loopback,
    ],
    [
      "an address that was asked for",
      () => ["--address=0.0.0.0"],
      everywhere,
      everywhere,
    ],
  ])("%s", async (_what, argv, main, readOnly) => {
    const readOnlyPort = await freePort();
    const healthzPort = await freePort();
    const { port, log } = await start(
      [
        ...argv(),
        `--read-only-port=${readOnlyPort}`,
        `--healthz-port=${healthzPort}`,
      ],
      reviewingClient(),
    );
    const sockets = listeningSockets(process.pid);
    const addressOf = (wanted: number): string | undefined =>
      sockets.find((socket) => socket.port === wanted)?.address;
    expect(addressOf(port)).toMatch(main);
    expect(addressOf(readOnlyPort)).toMatch(readOnly);
    expect(addressOf(healthzPort)).toBe("127.0.0.1");
    const open = argv().every((each) => /^--(client-ca|address)/.test(each));
    expect(log().includes("may run commands in pods")).toBe(open);
  });
});

test("--enable-debugging-handlers=false: what looks into containers is 405, the rest goes on", async () => {
  const { port } = await start(["--enable-debugging-handlers=false"]);
  for (const [method, target] of [
    ["POST", "/run/default/p/c?cmd=id"],
    ["POST", "/exec/default/p/c?command=id&output=1"],
    ["GET", "/exec/default/p/uid-p/c?command=id&output=1"],
    ["POST", "/attach/default/p/c?output=1"],
    ["POST", "/portForward/default/p"],
    ["GET", "/containerLogs/default/p/c"],
    ["GET", "/runningpods/"],
    ["GET", "/runningpods"],
    ["GET", "/logs/"],
    ["GET", "/debug/pprof/heap"],
    ["PUT", "/exec/default/p/c"],
  ] as const)
    expect([target, await request(port, method, target)]).toEqual([
      target,
      { code: 405, body: "Debug endpoints are disabled.\n" },
    ]);
  expect((await request(port, "GET", "/configz")).code).toBe(404);
  expect((await request(port, "POST", "/checkpoint/default/p/c")).code).toBe(
    404,
  );
  expect((await request(port, "GET", "/pods")).code).toBe(200);
  expect((await request(port, "GET", "/healthz")).body).toBe("ok");
  expect((await request(port, "GET", "/stats/summary")).code).toBe(200);
  const on = await start([]);
  expect((await request(on.port, "GET", "/runningpods/")).code).toBe(200);
});

test("gates open and close paths", async () => {
  const { port } = await start([
    "--feature-gates=ContainerCheckpoint=false,ComponentFlagz=true",
    "--manifest-url-header=Authorization:Bearer secret",
  ]);
  expect((await request(port, "POST", "/checkpoint/default/p/c")).body).toBe(
    "404 page not found\n",
  );
  const flags = await request(port, "GET", "/flagz");
  expect(flags.code).toBe(200);
  expect(flags.body).toMatch(/^max-pods\W+110$/m);
  expect(flags.body).toMatch(/^manifest-url-header\W+CLASSIFIED$/m);
  expect(flags.body).toMatch(/^node-status-update-frequency\W+10s$/m);
  expect(flags.body).not.toContain("secret");
  expect((await request(port, "GET", "/statusz")).code).toBe(404);
});

test("the cluster's gates open and close paths as the agent's own do", async () => {
  const gates = { ContainerCheckpoint: false, ComponentStatusz: true };
  const { port } = await start([], undefined, gates);
  expect((await request(port, "POST", "/checkpoint/default/p/c")).code).toBe(
    404,
  );
  expect((await request(port, "GET", "/statusz")).code).toBe(200);
  expect((await request(port, "GET", "/flagz")).code).toBe(404);
});

describe("--authentication-token-webhook", () => {
  const closed = ["--authorization-mode=Webhook"];

  test("tokens are checked by reviews, once within the time answers are kept", async () => {
    const client = reviewingClient();
    const { port } = await start(
      ["--authentication-token-webhook", ...closed],
      client,
    );
    expect((await request(port, "GET", "/pods", "good")).code).toBe(200);
    expect((await request(port, "GET", "/pods", "good")).code).toBe(200);
    expect(client.asked.filter((each) => each === "tokenreviews")).toHaveLength(
      1,
    );
    expect((await request(port, "GET", "/pods", "bad")).code).toBe(401);
    expect((await request(port, "GET", "/pods")).code).toBe(403);
  });

  test("without it a token is nobody's", async () => {
    const client = reviewingClient();
    const { port } = await start(closed, client);
    expect((await request(port, "GET", "/pods", "good")).code).toBe(401);
    expect(client.asked).not.toContain("tokenreviews");
  });

  test("answers are kept no longer than --authentication-token-webhook-cache-ttl", async () => {
    const client = reviewingClient();
    const { port } = await start(
      [
        "--authentication-token-webhook",
        "--authentication-token-webhook-cache-ttl=1ms",
        ...closed,
      ],
      client,
    );
    for (let asked = 0; asked < 2; asked++) {
      expect((await request(port, "GET", "/pods", "good")).code).toBe(200);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(client.asked.filter((each) => each === "tokenreviews")).toHaveLength(
      2,
    );
  });

  test("it needs an API server to ask: an agent alone does not start", async () => {
    await expect(start(["--authentication-token-webhook"])).rejects.toThrow(
      "needs --kubeconfig: an agent alone checks client certificates (--client-ca-file), and no tokens",
    );
    await expect(start(closed)).rejects.toThrow("needs --kubeconfig");
  });

  test("an agent alone takes no token for anonymous, or for anybody", async () => {
    const { port } = await start([]);
    expect((await request(port, "GET", "/pods")).code).toBe(200);
    expect((await request(port, "GET", "/pods", "good")).code).toBe(401);
    const protectedPort = await start([
      "--anonymous-auth=false",
      `--client-ca-file=${authorityFile()}`,
    ]);
    for (const token of [undefined, "good", ""])
      expect(
        (await request(protectedPort.port, "GET", "/pods", token)).code,
      ).toBe(401);
  });

  test("an API server that does not answer lets nobody in", async () => {
    const client = reviewingClient();
    const { port } = await start(
      ["--authentication-token-webhook", "--anonymous-auth"],
      client,
    );
    expect((await request(port, "GET", "/pods", "good")).code).toBe(200);
    client.fails = true;
    // Not as anonymous either, who may do everything here.
    expect((await request(port, "GET", "/pods", "other")).code).toBe(401);
    const authorized = await start(
      ["--authentication-token-webhook", ...closed],
      client,
    );
    for (const token of [undefined, "good"])
      expect([401, 403, 500]).toContain(
        (await request(authorized.port, "GET", "/pods", token)).code,
      );
  });
});

test("with a configuration file the ports are closed unless it opens them, as at the reference", async () => {
  const file = path.join(directories(), "k.yaml");
  const read = async (body: string, ...argv: string[]) => {
    fs.writeFileSync(
      file,
      `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${body}`,
    );
    const { values } = await readAgentOptions([`--config=${file}`, ...argv]);
    return [
      values.flag("anonymous-auth"),
      values.flag("authentication-token-webhook"),
      values.text("authorization-mode"),
      values.number("read-only-port"),
    ];
  };
  expect(await read("")).toEqual([false, true, "Webhook", 0]);
  expect(
    await read(
      "authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}\nauthorization: {mode: AlwaysAllow}\nreadOnlyPort: 10255\n",
    ),
  ).toEqual([true, false, "AlwaysAllow", 10255]);
  expect(await read("", "--anonymous-auth", "--read-only-port=1")).toEqual([
    true,
    true,
    "Webhook",
    1,
  ]);
});
