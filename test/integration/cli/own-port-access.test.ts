// Whom the ports of the controllers and the scheduler believe when they run alone: front proxies by --requestheader-*, and
// authorities that the API server publishes; and how fast these parts ask it.
import * as http from "node:http";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import pino from "pino";
import type { CertificatePair } from "../../../api/pki/certificate.ts";
import { agentOptions } from "../../../cli/options/agent.ts";
import { controllerManagerOptions } from "../../../cli/options/controller-manager.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { schedulerOptions } from "../../../cli/options/scheduler.ts";
import type { OptionTable } from "../../../cli/options/table.ts";
import { connectClient } from "../../../cli/parts/connect.ts";
import { configMaps, leases } from "../../../client/resources.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { openPort, type OpenPort, type PortProgram } from "./part-ports.ts";
import {
  askPort,
  useStopped,
  fileIn,
  authorityNamed,
  certificateOf,
} from "./support.ts";

const directories = useTempDirectories();
const open = useStopped();

const file = fileIn(directories);
const clients = authorityNamed("clients");
const proxies = authorityNamed("proxies");
const proxy = certificateOf(proxies, "front-proxy-client");
const admin = certificateOf(clients, "admin", ["system:masters"]);

async function start(
  program: PortProgram,
  ...argv: string[]
): Promise<OpenPort> {
  const port = await openPort(program, directories(), argv);
  open.push(port);
  return port;
}

/** The status of GET /metrics, and who was refused. */
function metrics(
  { port }: OpenPort,
  client?: CertificatePair,
  headers: http.OutgoingHttpHeaders = {},
): Promise<number | string> {
  return new Promise((resolve, reject) => {
    const sent = https.request(
      {
        host: "127.0.0.1",
        port,
        path: "/metrics",
        rejectUnauthorized: false,
        agent: false,
        headers,
        ...(client ? { cert: client.certificate, key: client.key } : {}),
      },
      (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () =>
          resolve(
            /forbidden: User "([^"]*)"/.exec(
              text.replaceAll('\\"', '"'),
            )?.[1] ?? response.statusCode!,
          ),
        );
      },
    );
    sent.on("error", reject);
    sent.end();
  });
}

describe("--requestheader-*", () => {
  const headers = (
    user: string,
    group = "staff",
  ): http.OutgoingHttpHeaders => ({
    "X-Remote-User": user,
    "X-Remote-Group": group,
  });

  test("a proxy with a certificate of theirs speaks for users", async () => {
    const port = await start(
      "controller-manager",
      `--requestheader-client-ca-file=${file(proxies.certificate)}`,
      "--requestheader-allowed-names=front-proxy-client",
      `--client-ca-file=${file(clients.certificate)}`,
    );
    expect(await metrics(port, proxy, headers("jane"))).toBe("jane");
    expect(await metrics(port, proxy, headers("jane", "system:masters"))).toBe(
      200,
    );
    // Its certificate is no user's, and headers of others mean nothing.
    expect(await metrics(port, proxy)).toBe(401);
    expect(
      await metrics(
        port,
        certificateOf(proxies, "root", ["system:masters"]),
        headers("j"),
      ),
    ).toBe(401);
    expect(
      await metrics(
        port,
        certificateOf(authorityNamed("others"), "front-proxy-client"),
        headers("root", "system:masters"),
      ),
    ).toBe(401);
    expect(
      await metrics(port, undefined, headers("root", "system:masters")),
    ).toBe("system:anonymous");
    expect(
      await metrics(
        port,
        certificateOf(clients, "bob"),
        headers("root", "system:masters"),
      ),
    ).toBe("bob");
    expect(await metrics(port, admin)).toBe(200);
  });

  test("the headers may have other names", async () => {
    const port = await start(
      "controller-manager",
      `--requestheader-client-ca-file=${file(proxies.certificate)}`,
      "--requestheader-username-headers=X-Who,X-User",
      "--requestheader-group-headers=X-Team",
    );
    expect(await metrics(port, proxy, { "X-User": "jane" })).toBe("jane");
    expect(
      await metrics(port, proxy, { "X-Who": "j", "X-Team": "system:masters" }),
    ).toBe(200);
    expect(await metrics(port, proxy, headers("jane"))).toBe(401);
  });
});

describe("authorities that the API server publishes", () => {
  const kubeconfig = (server: string): string =>
    file(
      JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        clusters: [
          { name: "c", cluster: { server, "insecure-skip-tls-verify": true } },
        ],
        users: [{ name: "u", user: { token: "t" } }],
        contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
        "current-context": "c",
      }),
    );

  async function apiServer(...argv: string[]): Promise<string> {
    const api = await start(
      "apiserver",
      `--token-auth-file=${file('t,admin,1,"system:masters"\n')}`,
      ...argv,
    );
    return `--authentication-kubeconfig=${kubeconfig(`https://127.0.0.1:${api.port}`)}`;
  }
  const publishing = (): Promise<string> =>
    apiServer(
      `--client-ca-file=${file(clients.certificate)}`,
      `--requestheader-client-ca-file=${file(proxies.certificate)}`,
      "--requestheader-allowed-names=front-proxy-client",
    );

  test.each(["controller-manager", "scheduler"] as const)(
    "orbit %s reads them with --authentication-kubeconfig",
    async (program) => {
      const port = await start(program, await publishing());
      expect(await metrics(port, admin)).toBe(200);
      expect(await metrics(port, proxy, { "X-Remote-User": "jane" })).toBe(
        "jane",
      );
      expect(
        await metrics(port, certificateOf(proxies, "other"), {
          "X-Remote-User": "jane",
        }),
      ).toBe(401);
    },
  );

  test("what it publishes later takes the place of it", async () => {
    const next = authorityNamed("next");
    const api = await start(
      "apiserver",
      `--token-auth-file=${file('t,admin,1,"system:masters"\n')}`,
      `--client-ca-file=${file(clients.certificate)}`,
      `--requestheader-client-ca-file=${file(proxies.certificate)}`,
    );
    const port = await start(
      "controller-manager",
      `--authentication-kubeconfig=${kubeconfig(`https://127.0.0.1:${api.port}`)}`,
    );
    expect(await metrics(port, admin)).toBe(200);
    const published = `/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication`;
    const patch = async (data: object): Promise<void> => {
      const { code } = await askPort(api.port, "PATCH", published, {
        token: "t",
        type: "application/merge-patch+json",
        body: { data },
      });
      expect(code).toBe(200);
    };
    await patch({ "requestheader-allowed-names": "no list" });
    await patch({
      "client-ca-file": next.certificate,
      "requestheader-client-ca-file": next.certificate,
      "requestheader-allowed-names": "[]",
    });
    const other = certificateOf(next, "other", ["system:masters"]);
    await eventually(async () => {
      expect(await metrics(port, other)).toBe(200);
      return true;
    });
    expect(await metrics(port, admin)).toBe(401);
    const asJane = { "X-Remote-User": "jane" };
    expect(await metrics(port, certificateOf(next, "p"), asJane)).toBe("jane");
    expect(await metrics(port, proxy, asJane)).toBe(401);
    await patch({ "requestheader-allowed-names": '["only"]' });
    await eventually(async () => {
      // No proxy any more, but a client of its own.
      expect(await metrics(port, certificateOf(next, "p"), asJane)).toBe("p");
      return true;
    });
    expect(await metrics(port, certificateOf(next, "only"), asJane)).toBe(
      "jane",
    );
  });

  test("what is published after the start only is believed", async () => {
    const api = await start(
      "apiserver",
      `--token-auth-file=${file('t,admin,1,"system:masters"\n')}`,
    );
    const port = await start(
      "controller-manager",
      `--authentication-kubeconfig=${kubeconfig(`https://127.0.0.1:${api.port}`)}`,
    );
    expect(await metrics(port, admin)).not.toBe(200);
    const { code } = await askPort(
      ...([api.port, "POST"] as const),
      "/api/v1/namespaces/kube-system/configmaps",
      {
        token: "t",
        body: {
          metadata: { name: "extension-apiserver-authentication" },
          data: { "client-ca-file": clients.certificate },
        },
      },
    );
    expect(code).toBe(201);
    await eventually(async () => {
      expect(await metrics(port, admin)).toBe(200);
      return true;
    });
  });

  test.each(["controller-manager", "scheduler"] as const)(
    "orbit %s --authentication-skip-lookup does not ask",
    async (program) => {
      const port = await start(
        program,
        await publishing(),
        "--authentication-skip-lookup",
      );
      expect(await metrics(port, admin)).not.toBe(200);
    },
  );

  test("its own options win over what is published", async () => {
    const others = authorityNamed("others");
    const port = await start(
      "controller-manager",
      await publishing(),
      `--client-ca-file=${file(others.certificate)}`,
    );
    expect(await metrics(port, admin)).toBe(401);
    expect(
      await metrics(port, certificateOf(others, "root", ["system:masters"])),
    ).toBe(200);
    expect(await metrics(port, proxy, { "X-Remote-User": "jane" })).toBe(
      "jane",
    );
  });

  test("an API server that publishes none is no failure", async () => {
    const port = await start("controller-manager", await apiServer());
    expect(port.log()).toContain("publishes no configmap");
    expect(await metrics(port)).toBe("system:anonymous");
  });

  test.each(["controller-manager", "scheduler"] as const)(
    "orbit %s ends when they can't be read, but with --authentication-tolerate-lookup-failure",
    async (program) => {
      const nobody = `--authentication-kubeconfig=${kubeconfig(`https://127.0.0.1:${await freePort()}`)}`;
      await expect(start(program, nobody)).rejects.toThrow(
        "--authentication-kubeconfig: unable to load configmap",
      );
      const port = await start(
        program,
        nobody,
        "--authentication-tolerate-lookup-failure",
      );
      expect(await metrics(port)).toBe("system:anonymous");
    },
  );
});

describe("--kube-api-qps and --kube-api-burst", () => {
  const programs: [string, OptionTable][] = [
    ["controller-manager", controllerManagerOptions],
    ["scheduler", schedulerOptions],
    ["agent", agentOptions],
  ];
  const object = { metadata: { name: "x", namespace: "default" } };

  async function took(
    table: OptionTable,
    argv: string[],
    requests: number,
    resource: typeof configMaps | typeof leases,
  ): Promise<number> {
    const server = http.createServer((_request, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(object));
    });
    await new Promise<void>((resolve) =>
      server.listen(0, "127.0.0.1", () => resolve()),
    );
    const { port } = server.address() as AddressInfo;
    const client = await connectClient(
      parseOptions(table, [`--master=http://127.0.0.1:${port}`, ...argv]),
      pino({ level: "silent" }),
    );
    open.push({
      async stop() {
        await client.close();
        await new Promise((resolve) => {
          server.close(resolve);
          server.closeAllConnections();
        });
      },
    });
    const startedMs = performance.now();
    const ref = resource as typeof configMaps;
    await Promise.all(
      Array.from({ length: requests }, () =>
        client.resource(ref).get("x", "default"),
      ),
    );
    return performance.now() - startedMs;
  }

  test.each(programs)(
    "orbit %s: what is above the burst waits its turn, leases do not",
    async (_program, table) => {
      const limit = ["--kube-api-qps=10", "--kube-api-burst=2"];
      // Of six, two go at once and four wait for a tenth of a second each.
      expect(await took(table, limit, 6, configMaps)).toBeGreaterThan(380);
      const slow = ["--kube-api-qps=0.01", "--kube-api-burst=1"];
      expect(await took(table, slow, 5, leases)).toBeLessThan(50_000);
      expect(await took(table, [], 200, configMaps)).toBeLessThan(50_000);
    },
  );
});
