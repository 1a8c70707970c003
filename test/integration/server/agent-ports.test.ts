// The agent's three ports: who may come in, what each path answers, and what bad requests get.
import * as http from "node:http";
import * as https from "node:https";
import * as net from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import pino from "pino";
import { WebSocket } from "ws";
import type { AccessAttributes } from "../../../api/contracts.ts";
import {
  YEAR_MS,
  createCertificateAuthority,
  issueCertificate,
  type CertificatePair,
} from "../../../api/pki/certificate.ts";
import {
  createAgentServer,
  type AgentServer,
} from "../../../server/agent-server.ts";
import { eventually } from "../../support/eventually.ts";
import { createScriptedView, type ScriptedView } from "./scripted-view.ts";

let view: ScriptedView;
let server: AgentServer;
let authority: CertificatePair;
let client: CertificatePair;
let stranger: CertificatePair;
let asked: AccessAttributes[] = [];

interface Answer {
  code: number;
  body: string;
  headers: http.IncomingHttpHeaders;
}

function send(
  options: https.RequestOptions & { port: number },
  body?: string,
  plain = false,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = (plain ? http : https).request(
      {
        host: "127.0.0.1",
        rejectUnauthorized: false,
        agent: false,
        ...options,
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () =>
          resolve({
            code: response.statusCode!,
            body: Buffer.concat(parts).toString(),
            headers: response.headers,
          }),
        );
        response.on("error", reject);
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

const token = { Authorization: "Bearer secret" };
const get = (
  path: string,
  headers: http.OutgoingHttpHeaders = token,
): Promise<Answer> => send({ port: server.port!, path, headers });
const post = (
  path: string,
  headers: http.OutgoingHttpHeaders = {},
): Promise<Answer> =>
  send({
    port: server.port!,
    path,
    method: "POST",
    headers: { ...token, ...headers },
  });

beforeAll(async () => {
  const nowMs = Date.now();
  authority = createCertificateAuthority({
    subject: { commonName: "clients" },
    nowMs,
  });
  const other = createCertificateAuthority({
    subject: { commonName: "others" },
    nowMs,
  });
  const leaf = (
    signer: CertificatePair,
    commonName: string,
    organizations: string[],
  ): CertificatePair =>
    issueCertificate(signer, {
      subject: { commonName, organizations },
      usages: ["server auth", "client auth"],
      validityMs: YEAR_MS,
      nowMs,
    });
  client = leaf(authority, "admin", ["system:masters"]);
  stranger = leaf(other, "admin", ["system:masters"]);
  view = createScriptedView();
  server = createAgentServer({
    view,
    logger: pino({ level: "silent" }),
    tls: { ...leaf(authority, "node-1", []), clientCa: authority.certificate },
    address: "127.0.0.1",
    port: 0,
    readOnlyPort: 0,
    healthzPort: 0,
    fineGrainedAccess: true,
    checkpoints: true,
    setVerbosity: (text) => {
      if (/^\d+$/.test(text)) return `set to ${text}`;
      throw new Error("no number");
    },
    zpages: {
      component: "kubelet",
      flags: () => ({ "node-ip": "10.0.0.1", address: "0.0.0.0" }),
      status: { binaryVersion: "1.32", emulationVersion: "1.32" },
    },
    tokens: {
      authenticateToken(text) {
        if (text === "broken") return Promise.reject(new Error("bad token"));
        const known = text === "secret" || text === "weak";
        return Promise.resolve(
          known ? { name: text, groups: [], extra: {} } : undefined,
        );
      },
    },
    authorizer: {
      authorize(attributes) {
        asked.push(attributes);
        return {
          decision:
            attributes.user.name === "weak" &&
            !["metrics", "healthz"].includes(attributes.subresource)
              ? "no-opinion"
              : "allow",
          reason: "",
        };
      },
    },
  });
  await server.start();
});

afterAll(() => server?.stop());
beforeEach(() => (asked = []));

describe("who may come in", () => {
  test.each([
    ["nobody", {}, 401],
    ["an unknown token", { Authorization: "Bearer nope" }, 401],
    ["a broken token", { Authorization: "Bearer broken" }, 401],
    ["another scheme", { Authorization: "Basic eDp5" }, 401],
    ["a token", token, 200],
  ])("%s", async (_name, headers, code) => {
    expect((await get("/pods", headers)).code).toBe(code);
  });

  test("a client certificate gives name and groups", async () => {
    const answer = await send({
      port: server.port!,
      path: "/stats/summary",
      cert: client.certificate,
      key: client.key,
    });
    expect(answer.code).toBe(200);
    expect(asked[0]).toMatchObject({
      user: {
        name: "admin",
        groups: ["system:masters", "system:authenticated"],
      },
      verb: "get",
      resource: "nodes",
      subresource: "stats",
      name: "node-1",
      path: "/stats/summary",
    });
  });

  test("a certificate of somebody else's authority is 401", async () => {
    const answer = await send({
      port: server.port!,
      path: "/pods",
      cert: stranger.certificate,
      key: stranger.key,
    });
    expect(answer.code).toBe(401);
  });

  test("authenticated is not allowed", async () => {
    const weak = { Authorization: "Bearer weak" };
    expect(await get("/pods", weak)).toMatchObject({
      code: 403,
      body: "Forbidden (user=weak, verb=get, resource=nodes, subresource(s)=[pods proxy])\n",
    });
    expect((await get("/metrics/resource", weak)).code).toBe(200);
    const exec = await send({
      port: server.port!,
      path: "/exec/default/p/c?command=true&output=1",
      headers: { ...weak, Connection: "Upgrade", Upgrade: "SPDY/3.1" },
    });
    expect(exec.code).toBe(403);
  });

  test.each([
    ["GET", "/logs/x", "get", "log"],
    ["GET", "/metrics/cadvisor", "get", "metrics"],
    ["GET", "/containerLogs/default/p/c", "get", "proxy"],
    ["POST", "/run/default/p/c", "create", "proxy"],
    ["POST", "/checkpoint/a/b/c", "create", "checkpoint"],
    ["DELETE", "/pods", "delete", "pods"],
    ["GET", "/statsfoo", "get", "proxy"],
    ["GET", "/flagz", "get", "proxy"],
  ])("%s %s asks for %s %s", async (method, path, verb, subresource) => {
    await send({ port: server.port!, path, method, headers: token });
    expect(asked[0]).toMatchObject({ verb, subresource });
  });
});

test("a permission of its own opens a path, nodes/proxy is asked for only without it", async () => {
  const weak = { Authorization: "Bearer weak" };
  expect((await get("/healthz/ping", weak)).code).toBe(200);
  expect(asked.map(({ subresource }) => subresource)).toEqual(["healthz"]);
  asked = [];
  expect(await get("/configz", weak)).toMatchObject({
    code: 403,
    body: "Forbidden (user=weak, verb=get, resource=nodes, subresource(s)=[configz proxy])\n",
  });
  asked = [];
  expect((await get("/runningpods/", weak)).code).toBe(403);
  expect(asked.map(({ subresource }) => subresource)).toEqual([
    "pods",
    "proxy",
  ]);
  for (const path of ["/healthzx", "/podsx", "/%70ods", "/configz%2f"])
    expect([path, (await get(path, weak)).body]).toEqual([
      path,
      "Forbidden (user=weak, verb=get, resource=nodes, subresource(s)=[proxy])\n",
    ]);
});

describe("paths", () => {
  test("checkpoints, with the reference's refusals", async () => {
    const ask = (path: string): Promise<Answer> => post(`/checkpoint/${path}`);
    expect(await ask("default/p/c?timeout=5&timeout=7")).toMatchObject({
      code: 200,
      body: '{"items":["/checkpoints/p-c-7"]}',
      headers: { "content-type": "application/json" },
    });
    expect(await ask("default/nope/c")).toMatchObject({
      code: 404,
      body: "pod does not exist",
    });
    expect(await ask("default/p/nope")).toMatchObject({
      code: 404,
      body: "container nope does not exist",
    });
    expect(await ask("default/p/c?timeout=1s")).toMatchObject({
      code: 404,
      body: "cannot parse value of timeout parameter",
    });
    expect(await ask("default/p/c?timeout=-1")).toMatchObject({
      code: 500,
      body: "checkpointing of default/p/c failed (rpc error: code = Unimplemented desc = no)",
    });
    expect((await get("/checkpoint/default/p/c")).code).toBe(405);
  });

  test("flags and status are for people", async () => {
    const text = { ...token, Accept: "text/*" };
    const flags = await get("/flagz", text);
    expect(flags.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(flags.body).toMatch(
      /^\nkubelet flags\nWarning: .*\n\naddress(:|: |=| )0\.0\.0\.0\nnode-ip\1(10\.0\.0\.1)\n$/,
    );
    expect(
      (await get("/statusz", { ...token, Accept: "a/b, text/plain;q=0.5" }))
        .body,
    ).toMatch(
      /^\nkubelet statusz\n[^]*\nUp.* \d+ hr \d\d min \d\d sec\n[^]*Binary version\W+1\.32\nEmulation version\W+1\.32\n$/,
    );
    for (const accept of ["application/json", "text/plain;version=1", ""])
      expect((await get("/statusz", { ...token, Accept: accept })).code).toBe(
        406,
      );
  });

  test("results of health checks", async () => {
    await get("/healthz");
    view.illness = "the loop hangs";
    await get("/healthz");
    view.illness = undefined;
    const { body } = await get("/metrics/slis");
    expect(body).toContain(
      'kubernetes_healthcheck{name="syncloop",type="healthz"} 0\n',
    );
    expect(body).toMatch(
      /kubernetes_healthchecks_total\{name="syncloop",status="error",type="healthz"\} 1\n/,
    );
  });

  test("pods and running pods", async () => {
    expect(JSON.parse((await get("/pods")).body)).toMatchObject({
      kind: "PodList",
      items: [{ metadata: { name: "p" } }],
    });
    expect(JSON.parse((await get("/runningpods/")).body)).toMatchObject({
      items: [{ metadata: { name: "running" } }],
    });
  });

  test("stats, metrics, configz", async () => {
    const summary: unknown = JSON.parse(
      (await get("/stats/summary?only_cpu_and_memory=true")).body,
    );
    expect(summary).not.toHaveProperty("pods.0.network");
    expect(summary).toMatchObject({
      pods: [{ containers: [{ cpu: { time: "2025-01-01T00:00:01Z" } }] }],
    });
    const own = (await get("/metrics")).body;
    expect(own).toContain('kubelet_node_name{node="node-1"} 1\n');
    expect(own).toContain(
      'kubelet_http_requests_total{long_running="false",method="GET",path="stats/summary",server_type="readwrite"}',
    );
    expect(own).toContain(
      'kubelet_running_containers{container_state="running"} 1\n',
    );
    expect(own).toMatch(/^process_resident_memory_bytes \d+$/m);
    const resource = (await get("/metrics/resource")).body;
    expect(resource).toContain(
      'container_cpu_usage_seconds_total{container="c",namespace="default",pod="p"} 1 1735689601250\n',
    );
    expect(resource).toContain(
      "node_memory_working_set_bytes 1000 1735689600000\n",
    );
    expect(resource).toContain("resource_scrape_error 0\n");
    const labels =
      'container="",id="/kubepods/poduid-p/abc",image="pause",name="abc",namespace="default",pod="p"';
    const cadvisor = (await get("/metrics/cadvisor")).body.replace(
      / 1735689600000$/gm,
      " T",
    );
    for (const line of [
      `container_cpu_usage_seconds_total{${labels.replace(",id", ',cpu="total",id')}} 1.5 T`,
      `container_spec_memory_limit_bytes{${labels}} 0`,
      `container_fs_writes_total{${labels.replace(",id", ',device="/dev/vda",id')}} 4 T`,
      `container_blkio_device_usage_total{${labels.replace(",id", ',device="/dev/vda",id').replace(",name", ',major="254",minor="0",name').replace(",pod", ',operation="Write",pod')}} 2 T`,
      `container_file_descriptors{${labels}} 7 T`,
      `container_ulimits_soft{${labels},ulimit="max_open_files"} 1024 T`,
      `container_network_receive_bytes_total{${labels.replace(",name", ',interface="eth0",name')}} 5 T`,
      `container_network_transmit_packets_dropped_total{${labels.replace(",name", ',interface="eth0",name')}} 2 T`,
      'cadvisor_version_info{cadvisorRevision="",cadvisorVersion="",dockerVersion="",kernelVersion="6.1.0",osVersion="Debian"} 1',
      "container_scrape_error 0",
      'machine_cpu_cores{boot_id="b",machine_id="m",system_uuid="u"} 2',
      'machine_swap_bytes{boot_id="b",machine_id="m",system_uuid="u"} 3000',
      'machine_nvm_capacity{boot_id="b",machine_id="m",mode="memory_mode",system_uuid="u"} 0',
    ])
      expect(cadvisor).toContain(`${line}\n`);
    expect(own.match(/^kubelet_volume_stats_used_bytes.*$/gm)).toEqual([
      'kubelet_volume_stats_used_bytes{namespace="default",persistentvolumeclaim="claim"} 7',
    ]);
    expect(JSON.parse((await get("/configz")).body)).toMatchObject({
      kubeletconfig: { kind: "KubeletConfiguration" },
    });
  });

  test("profiles of the process", async () => {
    expect((await get("/debug/pprof/")).body).toContain("/debug/pprof/profile");
    expect((await get("/debug/pprof/cmdline")).body).toContain("node");
    expect((await get("/debug/pprof/profile?seconds=0")).code).toBe(400);
    const { nodes } = JSON.parse(
      (await get("/debug/pprof/profile?seconds=0.01")).body,
    ) as { nodes: unknown[] };
    expect(nodes.length).toBeGreaterThan(0);
  });

  test("the log's verbosity", async () => {
    const put = (body: string): Promise<Answer> =>
      send(
        {
          port: server.port!,
          path: "/debug/flags/v",
          method: "PUT",
          headers: token,
        },
        body,
      );
    expect(await put("4")).toMatchObject({ code: 200, body: "set to 4\n" });
    expect(await put("x")).toMatchObject({ code: 400, body: "no number\n" });
    expect((await put("4".repeat(100))).code).toBe(413);
    expect(await get("/debug/flags/v")).toMatchObject({
      code: 406,
      body: "unsupported http method\n",
    });
    expect((await get("/debug/flags/v", {})).code).toBe(401);
    const weak = { Authorization: "Bearer weak" };
    expect((await get("/debug/flags/v", weak)).code).toBe(403);
  });

  test("logs and their query", async () => {
    expect(await get("/containerLogs/default/p/c")).toMatchObject({
      code: 200,
      body: "one\ntwo\n",
    });
    const cases: [string, number][] = [
      ["tailLines=x", 400],
      ["tailLines=-1", 422],
      ["limitBytes=0", 422],
      ["sinceSeconds=1&sinceTime=2025-01-01T00:00:00Z", 422],
      ["sinceTime=yesterday", 400],
      ["follow=maybe", 400],
      ["stream=Stdin", 422],
      ["stream=Stdout", 400],
      ["stream=All", 200],
      ["tail=x", 400],
      ["tail=all", 200],
    ];
    for (const [query, code] of cases)
      expect([
        query,
        (await get(`/containerLogs/default/p/c?${query}`)).code,
      ]).toEqual([query, code]);
    expect((await get("/containerLogs/default/nope/c")).code).toBe(404);
    await get("/containerLogs/default/p/c?tail=3");
    expect(view.logRequests.at(-1)?.tailLines).toBe(3);
  });

  test("a follower gets the first line at once", async () => {
    await new Promise<void>((resolve, reject) => {
      const request = https.get(
        {
          port: server.port!,
          host: "127.0.0.1",
          rejectUnauthorized: false,
          agent: false,
          path: "/containerLogs/default/p/c?follow=true",
          headers: token,
        },
        (response) => {
          response.once("data", (data: Buffer) => {
            request.destroy();
            if (data.toString() === "first\n") resolve();
            else reject(new Error(data.toString()));
          });
        },
      );
      request.on("error", () => undefined);
    });
  });

  test("run", async () => {
    expect(await post("/run/default/p/c?cmd=echo%20hello")).toMatchObject({
      code: 200,
      body: "hello\n",
    });
    expect((await post("/run/default/p/c?cmd=false")).code).toBe(500);
    expect((await post("/run/default/p/c")).code).toBe(400);
    expect((await get("/run/default/p/c?cmd=true")).code).toBe(405);
  });

  test.each([
    ["/nope", 404],
    ["/", 404],
    ["/pods/x", 404],
    ["/logs/", 404],
    ["/debug/pprof/nope", 404],
    ["/exec/default/p/c?command=true&output=1", 400],
    ["/exec/default/p/c?output=1", 400],
    ["/exec/default/p/c?command=true", 400],
    ["/exec/default/nope/c?command=true&output=1", 404],
    ["/exec/default/p/uid-other/c?command=true&output=1", 404],
    ["/exec/default/p/uid-p/c?command=true&output=1", 400],
    ["/portForward/default/p", 400],
    ["/portForward/default/p/uid-other", 404],
    ["/exec/%zz/p/c", 400],
    ["/attach/default/p/c?output=1", 400],
  ])("GET %s without an upgrade is %d", async (path, code) => {
    expect((await get(path)).code).toBe(code);
  });

  test("other methods are 405", async () => {
    for (const method of ["PUT", "DELETE", "PATCH"]) {
      const answer = await send({
        port: server.port!,
        path: "/pods",
        method,
        headers: token,
      });
      expect([method, answer.code, answer.headers.allow]).toEqual([
        method,
        405,
        "GET",
      ]);
    }
  });

  test("an unknown stream protocol is refused with what is known", async () => {
    const answer = await post("/exec/default/p/c?command=true&output=1", {
      Connection: "Upgrade",
      Upgrade: "SPDY/3.1",
      "X-Stream-Protocol-Version": "v9.channel.k8s.io",
    });
    expect(answer.code).toBe(403);
    expect(answer.body).toContain("v4.channel.k8s.io");
  });
});

describe("WebSocket protocols of other clients", () => {
  const open = (path: string, protocol: string): WebSocket =>
    new WebSocket(
      `wss://127.0.0.1:${server.port}${path}`,
      protocol === "" ? [] : [protocol],
      { headers: token, rejectUnauthorized: false },
    );

  async function messages(
    socket: WebSocket,
  ): Promise<{ texts: boolean[]; all: string[] }> {
    const texts: boolean[] = [];
    const all: string[] = [];
    socket.on("message", (data: Buffer, binary) => {
      texts.push(!binary);
      all.push(data.toString("latin1"));
    });
    await new Promise((resolve, reject) => {
      socket.once("close", resolve);
      socket.once("error", reject);
    });
    return { texts, all };
  }

  test("v4 carries a Status", async () => {
    const { all } = await messages(
      open(
        "/exec/default/p/c?command=sh&command=-c&command=echo+hi%3B+exit+3&output=1&error=1",
        "v4.channel.k8s.io",
      ),
    );
    expect(all.slice(0, 2)).toEqual(["\x01", "\x01hi\n"]);
    expect(JSON.parse(all[2]!.slice(1))).toMatchObject({
      details: { causes: [{ reason: "ExitCode", message: "3" }] },
    });
  });

  test.each(["base64.channel.k8s.io", "v4.base64.channel.k8s.io"])(
    "%s is text",
    async (protocol) => {
      const { all, texts } = await messages(
        open("/exec/default/p/c?command=echo&command=hi&output=1", protocol),
      );
      expect(all[1]).toBe(`1${Buffer.from("hi\n").toString("base64")}`);
      expect(texts.every(Boolean)).toBe(true);
    },
  );

  test("channel.k8s.io and no protocol send no status for success", async () => {
    for (const protocol of ["channel.k8s.io", ""])
      expect(
        (
          await messages(
            open(
              "/exec/default/p/c?command=echo&command=hi&stdout=true",
              protocol,
            ),
          )
        ).all,
      ).toEqual(["\x01", "\x01hi\n"]);
  });

  test("port-forward over v4 channels", async () => {
    const echo = net.createServer((socket) => socket.pipe(socket));
    await new Promise<void>((resolve) =>
      echo.listen(0, "127.0.0.1", () => resolve()),
    );
    const port = (echo.address() as net.AddressInfo).port;
    const socket = open(
      `/portForward/default/p?port=${port}`,
      "v4.channel.k8s.io",
    );
    const seen: Buffer[] = [];
    socket.on("message", (data: Buffer) => seen.push(data));
    await new Promise((resolve) => socket.once("open", resolve));
    socket.send(Buffer.from("\x00ping"));
    await eventually(() =>
      seen.some((data) => data.toString("latin1") === "\x00ping"),
    );
    const opening = Buffer.alloc(2);
    opening.writeUInt16LE(port);
    expect(seen.slice(0, 2)).toEqual([
      Buffer.concat([Buffer.from([0]), opening]),
      Buffer.concat([Buffer.from([1]), opening]),
    ]);
    socket.terminate();
    echo.close();
  });

  test("a channel's connection ends when the pod has closed all its ports", async () => {
    const once = net.createServer((socket) => {
      socket.once("data", () => socket.end("answer"));
    });
    await new Promise<void>((resolve) =>
      once.listen(0, "127.0.0.1", () => resolve()),
    );
    const { port } = once.address() as net.AddressInfo;
    const socket = open(
      `/portForward/default/p?port=${port}&port=${port}`,
      "v4.channel.k8s.io",
    );
    const seen: string[] = [];
    socket.on("message", (data: Buffer) => seen.push(data.toString("latin1")));
    let closed: number | undefined;
    socket.once("close", (code) => (closed = code));
    await new Promise((resolve) => socket.once("open", resolve));
    socket.send(Buffer.from("\x00question"));
    await eventually(() => seen.includes("\x00answer"));
    expect(closed).toBeUndefined();
    socket.send(Buffer.from("\x02question"));
    await eventually(() => closed !== undefined);
    expect(closed).toBe(1000);
    expect(seen).toContain("\x02answer");
    once.close();
  });

  test("a port that is refused is told on the error channel", async () => {
    const { all } = await messages(
      open("/portForward/default/p?port=1", "v4.channel.k8s.io"),
    );
    expect(all.at(-1)).toContain(
      "error forwarding port 1 to pod p_default, uid uid-p",
    );
  });
});

describe("the open ports", () => {
  const plain = (port: number, path: string): Promise<Answer> =>
    send({ port, path }, undefined, true);

  test("read-only", async () => {
    const port = server.readOnlyPort!;
    for (const path of [
      "/pods",
      "/stats/summary",
      "/metrics",
      "/metrics/resource",
      "/healthz",
    ])
      expect([path, (await plain(port, path)).code]).toEqual([path, 200]);
    for (const path of [
      "/exec/default/p/c",
      "/runningpods/",
      "/containerLogs/default/p/c",
      "/run/default/p/c",
      "/logs/",
      "/debug/pprof/",
    ])
      expect([path, (await plain(port, path)).code]).toEqual([path, 405]);
    for (const path of [
      "/configz",
      "/checkpoint/default/p/c",
      "/flagz",
      "/statusz",
      "/debug/flags/v",
    ])
      expect([path, (await plain(port, path)).code]).toEqual([path, 404]);
  });

  test("healthz tells of the agent's loops", async () => {
    const port = server.healthzPort!;
    expect(await plain(port, "/healthz")).toMatchObject({
      code: 200,
      body: "ok",
    });
    expect((await plain(port, "/pods")).code).toBe(404);
    view.illness = "the loop stands still";
    expect(await plain(port, "/healthz")).toMatchObject({
      code: 500,
      body: "[+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n",
    });
    expect((await plain(port, "/healthz/syncloop")).body).toContain(
      "stands still",
    );
    expect((await plain(port, "/healthz/ping")).code).toBe(200);
    expect((await plain(port, "/healthz?exclude=syncloop")).code).toBe(200);
    view.illness = undefined;
    expect((await plain(port, "/healthz/nope")).code).toBe(404);
    expect((await plain(port, "/healthz?verbose")).body).toContain(
      "[+]syncloop ok\nhealthz check passed",
    );
  });
});

describe("life and abuse", () => {
  test("a taken port is named, and nothing is left listening", async () => {
    const taken = createAgentServer({
      view,
      logger: pino({ level: "silent" }),
      tls: { certificate: client.certificate, key: client.key },
      address: "127.0.0.1",
      port: server.port!,
      healthzPort: 0,
    });
    await expect(taken.start()).rejects.toThrow(`127.0.0.1:${server.port}`);
    expect(taken.healthzPort).toBeUndefined();
  });

  test("a new certificate serves new connections", async () => {
    const fresh = issueCertificate(authority, {
      subject: { commonName: "renewed" },
      usages: ["server auth"],
      validityMs: YEAR_MS,
      nowMs: Date.now(),
    });
    server.updateTls({ ...fresh, clientCa: authority.certificate });
    const name = await new Promise((resolve) => {
      const request = https.get(
        {
          port: server.port!,
          host: "127.0.0.1",
          rejectUnauthorized: false,
          agent: false,
        },
        (response) => {
          resolve(
            (response.socket as TLSSocket).getPeerCertificate().subject.CN,
          );
          response.resume();
        },
      );
      request.end();
    });
    expect(name).toBe("renewed");
  });

  test("nonsense on every port does no harm", async () => {
    let state = 7;
    const next = (): number =>
      (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
    for (const port of [
      server.port!,
      server.readOnlyPort!,
      server.healthzPort!,
    ])
      for (let round = 0; round < 20; round++)
        await new Promise<void>((resolve) => {
          const socket = net.connect(port, "127.0.0.1", () => {
            socket.end(
              Buffer.from(
                Array.from({ length: 300 }, () => Math.floor(next() * 256)),
              ),
            );
          });
          socket.resume();
          socket.on("error", () => undefined);
          socket.on("close", () => resolve());
          socket.setTimeout(1000, () => socket.destroy());
        });
    expect((await get("/pods")).code).toBe(200);
  });

  test("an upgraded connection with nonsense in it is dropped and its session ended", async () => {
    const request = https.request({
      port: server.port!,
      host: "127.0.0.1",
      rejectUnauthorized: false,
      agent: false,
      method: "POST",
      path: "/exec/default/p/c?command=sleep&command=1000&output=1",
      headers: {
        ...token,
        Connection: "Upgrade",
        Upgrade: "SPDY/3.1",
        "X-Stream-Protocol-Version": "v4.channel.k8s.io",
      },
    });
    request.end();
    const socket = await new Promise<Duplex>((resolve) =>
      request.once("upgrade", (_response, upgraded) => resolve(upgraded)),
    );
    socket.resume();
    socket.on("error", () => undefined);
    const session = view.sessions.at(-1)!;
    socket.write(Buffer.alloc(1000, 0xff));
    await new Promise((resolve) => socket.once("close", resolve));
    await eventually(() => session.closedByCaller);
  });

  /** A frame of a client, masked with zeros. */
  function clientFrame(
    head: number,
    payload: Buffer = Buffer.alloc(0),
    length = payload.length,
  ): Buffer {
    const start = Buffer.alloc(14);
    start[0] = head;
    start[1] = 0xff;
    start.writeBigUInt64BE(BigInt(length), 2);
    return Buffer.concat([start, payload]);
  }
  const [FINAL, CONTINUATION, BINARY, PING] = [0x80, 0, 2, 9];

  test.each<[string, Buffer, number | undefined]>([
    ["unmasked", Buffer.from([0x82, 1, 0]), 1002],
    ["with reserved bits", clientFrame(FINAL | 0x40 | BINARY), 1002],
    ["of an unknown kind", clientFrame(FINAL | 3), 1002],
    ["that go on with nothing", clientFrame(FINAL | CONTINUATION), 1002],
    [
      "that begin within others",
      Buffer.concat([clientFrame(BINARY), clientFrame(FINAL | BINARY)]),
      1002,
    ],
    [
      "of exabytes",
      clientFrame(FINAL | BINARY, Buffer.alloc(9), 2 ** 60),
      1009,
    ],
    [
      "larger than a message may be",
      clientFrame(FINAL | BINARY, Buffer.alloc(2 ** 20 + 1)),
      1009,
    ],
    [
      "that make a large message",
      Buffer.concat([
        clientFrame(BINARY, Buffer.alloc(2 ** 19)),
        clientFrame(CONTINUATION, Buffer.alloc(2 ** 19 + 1)),
      ]),
      1009,
    ],
    [
      "without end and without bytes",
      Buffer.concat([
        clientFrame(BINARY),
        ...Array.from({ length: 20_000 }, () => clientFrame(CONTINUATION)),
      ]),
      1008,
    ],
    [
      "of many pings at once",
      Buffer.concat(
        Array.from({ length: 5000 }, () =>
          clientFrame(FINAL | PING, Buffer.alloc(125)),
        ),
      ),
      undefined,
    ],
  ])(
    "frames %s end the session and nothing else",
    async (_what, bytes, code) => {
      const request = https.request({
        ...{ port: server.port!, host: "127.0.0.1", agent: false },
        rejectUnauthorized: false,
        path: "/exec/default/p/c?command=sleep&command=1000&input=1&output=1",
        headers: {
          ...token,
          connection: "Upgrade",
          upgrade: "websocket",
          "sec-websocket-version": "13",
          "sec-websocket-key": Buffer.alloc(16).toString("base64"),
          "sec-websocket-protocol": "v5.channel.k8s.io",
        },
      });
      request.end();
      const socket = await new Promise<Duplex>((resolve) =>
        request.once("upgrade", (_response, upgraded) => resolve(upgraded)),
      );
      const session = view.sessions.at(-1)!;
      const received: Buffer[] = [];
      socket.on("data", (chunk: Buffer) => received.push(chunk));
      socket.on("error", () => undefined);
      socket.write(bytes);
      await new Promise((resolve) => socket.once("close", resolve));
      await eventually(() => session.closedByCaller);
      if (code !== undefined) {
        const last = Buffer.concat(received).subarray(-4);
        expect([last[0], last.readUInt16BE(2)]).toEqual([0x88, code]);
      }
      expect((await get("/pods")).code).toBe(200);
    },
  );
});
