// /logs/ over a real port: files and directories, paths and links that lead outside, and ?query= with the machine's own
// journalctl where it has entries, else files named after the service.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as http from "node:https";
import * as path from "node:path";
import pino from "pino";
import { systemClock } from "../../../api/clock.ts";
import { createCertificateAuthority } from "../../../api/pki/certificate.ts";
import {
  createAgentServer,
  type AgentServer,
} from "../../../server/agent-server.ts";
import {
  parseLogQuery,
  type LogQueryRefusal,
} from "../../../server/node-logs/log-query.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../support/temp-directory.ts";
import { createScriptedView } from "./scripted-view.ts";

let directory: string;
let logs: string;
const servers: AgentServer[] = [];

async function serve(settings: {
  enabled: boolean;
  queries: boolean;
}): Promise<number> {
  const pair = createCertificateAuthority({
    subject: { commonName: "node" },
    nowMs: systemClock.now(),
  });
  const server = createAgentServer({
    view: createScriptedView(),
    logger: pino({ level: "silent" }),
    tls: pair,
    address: "127.0.0.1",
    port: 0,
    anonymous: true,
    logs: { directory: logs, ...settings },
  });
  await server.start();
  servers.push(server);
  return server.port!;
}

function get(
  port: number,
  url: string,
): Promise<{ code: number | undefined; type: string; body: string }> {
  return new Promise((resolve, reject) => {
    http
      .get(
        { host: "127.0.0.1", port, path: url, rejectUnauthorized: false },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on("data", (chunk: Buffer) => chunks.push(chunk));
          answer.on("end", () =>
            resolve({
              code: answer.statusCode,
              type: answer.headers["content-type"] ?? "",
              body: Buffer.concat(chunks).toString("utf8"),
            }),
          );
          answer.on("error", reject);
        },
      )
      .on("error", reject);
  });
}

let port: number;
let closed: number;
let plain: number;
beforeAll(async () => {
  directory = makeTempDirectory();
  logs = path.join(directory, "log");
  fs.mkdirSync(path.join(logs, "pods/a"), { recursive: true });
  fs.writeFileSync(path.join(logs, "syslog"), "one\ntwo\n");
  fs.writeFileSync(path.join(logs, "empty"), "");
  fs.writeFileSync(path.join(logs, "orbit-none.log"), "of a service\n");
  fs.writeFileSync(path.join(logs, "orbit.log"), "of the agent\n");
  fs.mkdirSync(path.join(logs, "orbit-nested"));
  fs.writeFileSync(path.join(logs, "orbit-nested/orbit-nested.log"), "deep\n");
  fs.writeFileSync(path.join(logs, "pods/a/<0>.log"), "pod\n");
  fs.symlinkSync("pods/a/<0>.log", path.join(logs, "inside"));
  fs.writeFileSync(path.join(directory, "secret"), "SECRET");
  fs.symlinkSync("../secret", path.join(logs, "outside"));
  fs.symlinkSync("/etc", path.join(logs, "etc"));
  fs.symlinkSync("loop", path.join(logs, "loop"));
  execFileSync("mkfifo", [path.join(logs, "pipe")]);
  port = await serve({ enabled: true, queries: true });
  closed = await serve({ enabled: false, queries: true });
  plain = await serve({ enabled: true, queries: false });
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  removeTempDirectory(directory);
});

test("files and directories, also through links that stay inside", async () => {
  expect(await get(port, "/logs/syslog")).toMatchObject({
    code: 200,
    body: "one\ntwo\n",
  });
  expect((await get(port, "/logs/empty")).body).toBe("");
  expect((await get(port, "/logs/inside")).body).toBe("pod\n");
  const list = await get(port, "/logs/pods/a/");
  expect(list.type).toContain("text/html");
  expect(list.body).toContain('<a href="%3C0%3E.log">&#60;0&#62;.log</a>');
  expect((await get(port, "/logs/")).body).toContain(
    '<a href="pods/">pods/</a>',
  );
});

test.each([
  "outside",
  "etc/passwd",
  "../secret",
  "%2e%2e/secret",
  "..%2fsecret",
  "pods/..%2f..%2fsecret",
  "loop",
  "pipe",
  "none",
  "syslog/x",
  "a%00b",
])("/logs/%s leads nowhere", async (name) => {
  const { code, body } = await get(port, `/logs/${name}`);
  expect(body).not.toContain("SECRET");
  expect(body).not.toContain("root:");
  expect([400, 404]).toContain(code);
});

test("a service without a journal has its files; what is missing is named", async () => {
  const { code, body } = await get(
    port,
    "/logs/?query=orbit-none&query=orbit-nested&query=orbit-gone",
  );
  expect(code).toBe(200);
  expect(body).toBe("of a service\ndeep\n\nlog not found for orbit-gone\n");
  expect((await get(port, "/logs/?query=/syslog")).body).toBe("one\ntwo\n");
  // As clients know the node agent.
  expect((await get(port, "/logs/?query=kubelet")).body).toBe("of the agent\n");
  expect((await get(port, "/logs/?query=/outside")).code).toBe(406);
  expect((await get(port, "/logs/?query=a&boot=x")).code).toBe(400);
  expect((await get(port, "/logs/?query=orbit-none&tailLines=1")).body).toMatch(
    /options present and query resolved to log files for \[orbit-none\]/,
  );
});

test("without the query's setting the query is not looked at; without the handler there is nothing", async () => {
  expect((await get(plain, "/logs/?query=orbit-none")).body).toContain(
    "syslog",
  );
  expect((await get(closed, "/logs/syslog")).code).toBe(405);
});

test.each([
  ["query=kubelet&query=crio&tailLines=5&boot=-1&pattern=x", undefined],
  ["query=%20", /^query: Invalid value: \[" "\]: query cannot be empty$/],
  ["query=a%3Bb", /unsupported characters/],
  ["query=--help", /unsupported characters/],
  ["query=a&query=b&query=c&query=d&query=e", /Too many: 5/],
  ["query=/a&query=b", /cannot specify a file and service/],
  ["query=/a&query=/b", /more than one file/],
  ["query=/a&boot=0", /cannot specify file with options/],
  ["query=a&sinceTime=now", /^sinceTime: .*invalid time format$/],
  [
    "query=a&sinceTime=2026-01-02T00:00:00Z&untilTime=2026-01-01T00:00:00Z",
    /must be after `sinceTime`/,
  ],
  ["query=a&boot=1", /must be less than 1/],
  ["query=a&tailLines=100001", /between 0 and 100000/],
  [
    "query=a&tailLines=x&boot=1",
    /^tailLines: Invalid value: "x": strconv.Atoi: parsing "x": invalid syntax$/,
  ],
  [`query=a&pattern=${"a".repeat(5000)}`, /pattern/],
])("%s", (query, problem) => {
  const answer = parseLogQuery(new URLSearchParams(query));
  if (problem === undefined) {
    expect(answer).toEqual({
      services: ["kubelet", "crio"],
      file: undefined,
      options: { tailLines: 5, boot: -1, pattern: "x" },
    });
    return;
  }
  const refusal = answer as LogQueryRefusal;
  expect(refusal.problems.join("; ")).toMatch(problem);
  const unreadable = /cannot be empty|time format|invalid syntax/.test(
    refusal.problems[0]!,
  );
  expect(refusal.code).toBe(unreadable ? 400 : 406);
});
