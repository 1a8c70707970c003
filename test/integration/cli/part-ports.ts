// The ports of every program, opened by the programs' own composition from a command line, without the parts behind them.
import pino from "pino";
import { systemClock, type Clock } from "../../../api/clock.ts";
import type { Client } from "../../../client/client.ts";
import { agentOptions } from "../../../cli/options/agent.ts";
import { apiServerOptions } from "../../../cli/options/apiserver.ts";
import { controllerManagerOptions } from "../../../cli/options/controller-manager.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { schedulerOptions } from "../../../cli/options/scheduler.ts";
import { openAgentPorts } from "../../../cli/parts/agent/agent-ports.ts";
import { partServing } from "../../../cli/parts/serving/serving-source.ts";
import { ServingFiles } from "../../../cli/parts/agent/serving-files.ts";
import { startApiPart } from "../../../cli/parts/api/apiserver.ts";
import { chooseStore } from "../../../cli/parts/api/store.ts";
import { openOwnPort } from "../../../cli/parts/serving/own-port.ts";
import { PartMetrics } from "../../../cli/parts/part-metrics.ts";
import { freePort } from "../../support/free-port.ts";
import { createScriptedView } from "../server/scripted-view.ts";

export interface OpenPort {
  readonly port: number;
  /** What was logged, as JSON lines. */
  log(): string;
  stop(): Promise<void>;
}

export const portPrograms = [
  "apiserver",
  "controller-manager",
  "scheduler",
  "agent",
] as const;
export type PortProgram = (typeof portPrograms)[number];

/** Opens the HTTPS port of a program on 127.0.0.1 with certificates below `directory`. */
export async function openPort(
  program: PortProgram,
  directory: string,
  argv: readonly string[] = [],
  client?: Client,
  /** That the cluster gives an agent, beside the agent's own. */
  featureGates?: Readonly<Record<string, boolean>>,
  clock: Clock = systemClock,
): Promise<OpenPort> {
  let text = "";
  const logger = pino(
    { level: "trace" },
    { write: (line: string) => void (text += line) },
  );
  const log = (): string => text;
  if (program === "apiserver") {
    const values = parseOptions(apiServerOptions, [
      "--bind-address=127.0.0.1",
      `--cert-dir=${directory}`,
      ...argv,
    ]);
    const part = await startApiPart({
      values,
      store: await chooseStore({
        kind: values.list("etcd-servers").length > 0 ? "etcd" : "memory",
        dataDirectory: directory,
        ...{ clock, logger, values },
      }),
      serving: partServing(values, "apiserver"),
      pki: undefined,
      port: 0,
      clock,
      logger,
    });
    return { port: part.server.port, log, stop: () => part.stop() };
  }
  const port = await freePort();
  if (program === "agent") {
    const options = {
      values: parseOptions(agentOptions, [
        `--port=${port}`,
        "--read-only-port=0",
        "--healthz-port=0",
        ...argv,
      ]),
      certificateDirectory: directory,
      clock,
      logger,
      ...(client ? { client } : {}),
      ...(featureGates ? { config: { featureGates } } : {}),
    };
    const server = (await openAgentPorts(options, createScriptedView()))!;
    const files = new ServingFiles(options, server);
    files.start();
    return {
      port,
      log,
      async stop() {
        files.stop();
        await server.stop();
      },
    };
  }
  const own = await openOwnPort(
    parseOptions(
      program === "scheduler" ? schedulerOptions : controllerManagerOptions,
      [
        `--secure-port=${port}`,
        "--bind-address=127.0.0.1",
        `--cert-dir=${directory}`,
        ...argv,
      ],
    ),
    logger,
    {
      name: program,
      what: `the ${program}'s port`,
      metrics: new PartMetrics(),
      clock,
    },
  );
  return { port, log, stop: () => own.stop() };
}
