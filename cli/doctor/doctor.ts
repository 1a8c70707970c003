// `orbit doctor`: looks for what would keep a cluster from running well on this machine, and names the command that
// changes it. It changes nothing itself, and needs neither a running cluster nor one that ever ran; where one runs, or a
// kubeconfig is given, it looks at that, too.
import { readdir, readFile, readlink } from "node:fs/promises";
import * as path from "node:path";
import pino from "pino";
import { systemClock } from "../../api/clock.ts";
import { createClient } from "../../client/create-client.ts";
import { createHttpTransport } from "../../client/http-transport.ts";
import { runtimeKind } from "../../cri/open-runtime.ts";
import type { Runtime } from "../../cri/runtime.ts";
import { group, option } from "../options/build-table.ts";
import { helpText, wantsHelp } from "../options/help.ts";
import { parseOptions, type OptionValues } from "../options/parse.ts";
import { UsageError, type OptionTable } from "../options/table.ts";
import { readKubeconfig } from "../parts/connect.ts";
import {
  defaultEndpoint,
  normalEndpoint,
  privateRuntime,
  privateRuntimeDirectory,
  readEndpoint,
  socketAnswers,
} from "../parts/agent/runtime-endpoint.ts";
import {
  clusterFindings,
  credentialFinding,
} from "./cluster/cluster-checks.ts";
import { dockerDaemon } from "./docker-checks.ts";
import type { Finding, MachineFiles } from "./finding.ts";
import {
  certificates,
  isServing,
  ports,
  programs,
  room,
  timeSource,
} from "./host-checks.ts";
import {
  connections,
  controlGroups,
  descriptors,
  inotifyInstances,
  memory,
  mountPropagation,
  overlay,
  processes,
} from "./kernel-checks.ts";
import { containerRuntime } from "./runtime-checks.ts";

const table: OptionTable = [
  group(
    "Options",
    option("data-dir", "string", "/var/lib/orbit", "The server's."),
    option("secure-port", "int", "6443", "The API server's.", {
      min: 1,
      max: 65_535,
    }),
    option("port", "int", "10250", "The node agent's.", {
      min: 1,
      max: 65_535,
    }),
    option(
      "container-runtime-endpoint",
      "string",
      "",
      "The server's. Not given: the one that the data directory records, else the machine's containerd where it answers.",
    ),
    option(
      "kubeconfig",
      "string",
      "",
      "An administrator's, of the cluster to look at. Not given: /etc/orbit/orbit.yaml where the server runs.",
    ),
    option(
      "cluster-domain",
      "string",
      "cluster.local",
      "The server's: asked of the cluster's name server.",
    ),
    option("output", "string", "text", "text or json.", {
      short: "o",
      values: ["text", "json"],
    }),
  ),
];

const quietly = async <T>(look: Promise<T>, otherwise: T): Promise<T> =>
  await look.catch(() => otherwise);

const machine: MachineFiles = {
  read: (file) => quietly(readFile(file, "utf8"), undefined),
  list: (directory) => quietly(readdir(directory), []),
  link: (file) => quietly(readlink(file), undefined),
};

const marks = { ok: "ok     ", warning: "warning", failed: "FAILED " };

function text(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.flatMap(({ name, state, found, remedy }) => [
    `${marks[state]}  ${name.padEnd(width)}  ${found}`,
    ...(remedy === undefined
      ? []
      : [`         ${"".padEnd(width)}  → ${remedy}`]),
  ]);
  return `${lines.join("\n")}\n`;
}

/** As the server chooses; undefined: a private one. */
async function endpointOf(
  values: OptionValues,
  directory: string,
): Promise<string | undefined> {
  const given = normalEndpoint(values.text("container-runtime-endpoint"));
  if (given !== "") return given;
  const recorded = await readEndpoint(directory);
  if (recorded !== undefined) return recorded;
  return (await socketAnswers(defaultEndpoint)) ? defaultEndpoint : undefined;
}

async function connectionTo(endpoint: string): Promise<Runtime> {
  const { openRuntime } = await import("../../cri/open-runtime.ts");
  return openRuntime({
    endpoint,
    logger: pino({ level: "silent" }),
    requestTimeoutMs: 10_000,
    ensureSandboxImage: false,
  });
}

/** The server's own file. */
const usualKubeconfig = "/etc/orbit/orbit.yaml";

/** @param running whether a server has the data directory; a server with another file, or an agent alone, gives none */
async function cluster(
  values: OptionValues,
  running: boolean,
): Promise<Finding[]> {
  const given = values.text("kubeconfig");
  const file = given || usualKubeconfig;
  if (!given && !(running && (await machine.read(file)) !== undefined))
    return [];
  const connection = await readKubeconfig(file, "kubeconfig");
  const logger = pino({ level: "silent" });
  const transport = createHttpTransport({
    ...connection,
    logger,
    requestTimeoutMs: 20_000,
  });
  const client = createClient(transport, { clock: systemClock, logger });
  try {
    return [
      ...credentialFinding(connection.tls?.cert, file, systemClock.now()),
      ...(await clusterFindings({
        client,
        server: connection.server,
        domain: values.text("cluster-domain"),
        clock: systemClock,
      })),
    ];
  } finally {
    await client.close();
  }
}

/** Resolves to the exit code: 2 when a check failed, 0 otherwise. @throws UsageError */
export async function runDoctor(argv: readonly string[]): Promise<number> {
  if (wantsHelp(argv, table)) {
    process.stdout.write(
      helpText(
        "orbit doctor [options]",
        "Look for what would keep a cluster from running well on this machine; exits with 2 when something would.",
        table,
      ),
    );
    return 0;
  }
  const values = parseOptions(table, argv);
  const directory = path.resolve(values.text("data-dir"));
  if (process.getuid?.() !== 0)
    throw new UsageError("orbit doctor has to run as root, as a node does");
  const endpoint = await endpointOf(values, directory);
  const own = `unix://${privateRuntimeDirectory(directory)}/`;
  const isPrivate =
    endpoint === undefined ||
    endpoint === privateRuntime ||
    endpoint.startsWith(own);
  const running = await isServing(directory, machine);
  const findings = [
    await controlGroups(machine),
    await overlay(machine),
    await mountPropagation(machine),
    ...(await memory(machine)),
    await inotifyInstances(machine),
    ...(await descriptors(machine)),
    await processes(machine),
    ...[await connections(machine)].filter((each) => each !== undefined),
    ...(await programs(isPrivate)),
    ...(isPrivate
      ? []
      : await containerRuntime(
          endpoint,
          () => connectionTo(endpoint),
          machine,
        )),
    ...(endpoint !== undefined && runtimeKind(endpoint) === "docker"
      ? await dockerDaemon(endpoint)
      : []),
    await timeSource(machine),
    ...(await room(directory)),
    ...(await ports(
      {
        "secure-port": values.number("secure-port"),
        port: values.number("port"),
      },
      running,
    )),
    ...(await certificates(
      path.join(directory, "pki"),
      machine,
      systemClock.now(),
    )),
    ...(await cluster(values, running)),
  ];
  process.stdout.write(
    values.text("output") === "json"
      ? `${JSON.stringify(findings, undefined, 2)}\n`
      : text(findings),
  );
  return findings.some(({ state }) => state === "failed") ? 2 : 0;
}
