// Stock kubectl against the agent's port: exec, attach, port-forward and logs, over WebSocket and over SPDY.
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import pino from "pino";
import {
  YEAR_MS,
  createCertificateAuthority,
  issueCertificate,
} from "../../../api/pki/certificate.ts";
import {
  createAgentServer,
  type AgentServer,
} from "../../../server/agent-server.ts";
import { eventually } from "../../support/eventually.ts";
import { createKubectl, type Kubectl } from "../../support/kubectl.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { createScriptedView, type ScriptedView } from "./scripted-view.ts";
import { startStubApi, type StubApi } from "./stub-api.ts";

const temporary = useTempDirectories();
let view: ScriptedView;
let server: AgentServer;
let api: StubApi;
let kubectl: Kubectl;
let kubeconfig: string;
let echo: net.Server;

const spdy = {
  KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false",
  KUBECTL_PORT_FORWARD_WEBSOCKETS: "false",
};

beforeAll(async () => {
  const nowMs = Date.now();
  const authority = createCertificateAuthority({
    subject: { commonName: "test" },
    nowMs,
  });
  const tls = issueCertificate(authority, {
    subject: { commonName: "node-1" },
    usages: ["server auth"],
    validityMs: YEAR_MS,
    nowMs,
  });
  view = createScriptedView();
  server = createAgentServer({
    view,
    logger: pino({ level: "silent" }),
    tls,
    address: "127.0.0.1",
    port: 0,
    tokens: {
      authenticateToken: (token) =>
        Promise.resolve(
          token === "secret"
            ? { name: "api", groups: [], extra: {} }
            : undefined,
        ),
    },
  });
  await server.start();
  api = await startStubApi(server.port!, "secret");
  const directory = temporary();
  kubeconfig = path.join(directory, "config");
  fs.writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "c", cluster: { server: api.url } }],
      users: [{ name: "u", user: {} }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    }),
  );
  const run = createKubectl(kubeconfig);
  kubectl = (args, options) =>
    run(args, { ...options, env: { HOME: directory, ...options?.env } });
  echo = net.createServer({ allowHalfOpen: true }, (socket) =>
    socket.on("error", () => undefined).pipe(socket),
  );
  await new Promise<void>((resolve) =>
    echo.listen(0, "127.0.0.1", () => resolve()),
  );
});

afterAll(async () => {
  await server?.stop();
  api?.close();
  echo?.close();
});

describe.each([
  ["WebSocket", {}, "GET v5.channel.k8s.io"],
  ["SPDY", spdy, "POST SPDY/3.1"],
])("over %s", (_name, env, upgrade) => {
  test("exec gives output, errors and the exit code", async () => {
    const result = await kubectl(
      ["exec", "p", "--", "sh", "-c", "echo out; echo err >&2; exit 7"],
      { env },
    );
    expect(result).toEqual({
      stdout: "out\n",
      stderr: "err\ncommand terminated with exit code 7\n",
      code: 7,
    });
    expect(api.upgrades.at(-1)).toBe(upgrade);
  });

  test("exec -i ends the command's stdin with the client's", async () => {
    const result = await kubectl(["exec", "-i", "p", "--", "wc", "-c"], {
      env,
      stdin: "x".repeat(3_000_000),
    });
    expect(result.stdout.trim()).toBe("3000000");
    expect(result.code).toBe(0);
  });

  test("exec carries large output whole", async () => {
    const result = await kubectl(
      ["exec", "p", "--", "head", "-c", "5000000", "/dev/zero"],
      { env },
    );
    expect(result.stdout.length).toBe(5_000_000);
    expect(result.code).toBe(0);
  });

  test("a command that can't be started is told", async () => {
    const result = await kubectl(["exec", "p", "--", "/no/such/program"], {
      env,
    });
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("executing command in container");
  });

  test("an unknown container is refused before the upgrade", async () => {
    const result = await kubectl(["exec", "p", "-c", "nope", "--", "true"], {
      env,
    });
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("nope");
  });

  test("attach", async () => {
    const result = await kubectl(["attach", "-i", "p", "-c", "c"], {
      env,
      stdin: "hello\n",
    });
    expect(result.stdout).toContain("attached\nhello\n");
  });

  test("a client that leaves ends the session", async () => {
    const child = spawn(
      "kubectl",
      ["exec", "p", "--", "sh", "-c", "echo here; exec sleep 1000"],
      {
        env: { ...process.env, ...env, KUBECONFIG: kubeconfig },
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    await new Promise((resolve) => child.stdout.once("data", resolve));
    const session = view.sessions.at(-1)!;
    expect(session.closedByCaller).toBe(false);
    child.kill("SIGKILL");
    await eventually(() => session.closedByCaller, { what: "closed session" });
  });

  test("port-forward", async () => {
    const port = (echo.address() as net.AddressInfo).port;
    const child = spawn("kubectl", ["port-forward", "p", `:${port}`], {
      env: { ...process.env, ...env, KUBECONFIG: kubeconfig },
      stdio: ["ignore", "pipe", "pipe"],
    });
    try {
      const line = await new Promise<string>((resolve) =>
        child.stdout.once("data", (data: Buffer) => resolve(data.toString())),
      );
      const local = Number(/127\.0\.0\.1:(\d+)/.exec(line)![1]);
      const exchange = (text: string): Promise<string> =>
        new Promise((resolve, reject) => {
          const socket = net.connect(local, "127.0.0.1");
          let got = "";
          socket.on("data", (data: Buffer) => (got += data.toString()));
          socket.on("end", () => resolve(got));
          socket.on("error", reject);
          socket.end(text);
        });
      expect(
        await Promise.all([exchange("one"), exchange("two".repeat(500_000))]),
      ).toEqual(["one", "two".repeat(500_000)]);
      expect(await exchange("again")).toBe("again");
    } finally {
      child.kill("SIGKILL");
    }
  });
});

test("logs", async () => {
  expect((await kubectl("logs p")).stdout).toBe("one\ntwo\n");
  await kubectl("logs p --tail=3 --since=10s --timestamps");
  expect(view.logRequests.at(-1)).toEqual({
    container: "c",
    follow: false,
    previous: false,
    timestamps: true,
    sinceSeconds: 10,
    tailLines: 3,
  });
});
