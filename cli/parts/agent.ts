// The node agent as a part: the runtime, the agent itself and its ports.
import type { Logger } from "pino";
import { createAgent, type Agent } from "../../agent/agent.ts";
import type { Clock } from "../../api/clock.ts";
import type { AnyObject } from "../../api/object.ts";
import type { Client } from "../../client/client.ts";
import type { OptionValues } from "../options/parse.ts";
import { agentConfig, checkAgentOptions } from "./agent-config.ts";
import { chooseRuntime } from "./runtime.ts";

export interface AgentPartOptions {
  values: OptionValues;
  /** "" unless the user asked for one. */
  endpoint: string;
  dataDirectory: string;
  podCidr: string;
  /** Absent: static pods only. */
  client?: Client;
  clock: Clock;
  logger: Logger;
  onOtherManifests?: (
    byFile: ReadonlyMap<string, readonly AnyObject[]>,
  ) => void;
}

export interface AgentPart {
  readonly agent: Agent;
  stop(): Promise<void>;
}

export async function startAgentPart(
  options: AgentPartOptions,
): Promise<AgentPart> {
  const { values, clock, client, dataDirectory, podCidr } = options;
  checkAgentOptions(values);
  const logger = options.logger.child({ part: "agent" });
  const chosen = await chooseRuntime({
    endpoint: options.endpoint,
    dataDirectory,
    podCidr,
    requestTimeoutMs: values.number("runtime-request-timeout"),
    logger,
  });
  const agent = createAgent({
    runtime: chosen.runtime,
    config: agentConfig(values),
    clock,
    logger,
    ...(client ? { client } : {}),
    ...(options.onOtherManifests
      ? { onOtherManifests: options.onOtherManifests }
      : {}),
  });
  await agent.start();
  return {
    agent,
    async stop() {
      await agent.stop();
      await chosen.stop();
    },
  };
}
