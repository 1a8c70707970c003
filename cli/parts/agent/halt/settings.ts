// What `orbit stop-pods` needs of the daemon's options and configuration: where its pods are, and how long they may take.
import {
  resolveAgentConfig,
  type AgentConfig,
} from "../../../../agent/config/agent-config.ts";
import { systemPriority } from "../../../../agent/pods/shape/critical-pod.ts";
import type { ShutdownPeriod } from "../../../../agent/config/shutdown-period.ts";
import { agentOptions } from "../../../options/agent.ts";
import { group, option } from "../../../options/build-table.ts";
import { readKubeletConfiguration } from "../../../options/kubelet-configuration/configuration-sources.ts";
import type { OptionValues } from "../../../options/parse.ts";
import { UsageError } from "../../../options/table.ts";
import { agentConfig } from "../agent-config.ts";
import { agentValues, partArguments } from "../agent-values.ts";

/** Named as in KubeletConfiguration, whose periods count where neither is given; by default a halt stays below ten seconds. */
export const haltOptions = [
  group(
    "Options",
    option(
      "shutdown-grace-period",
      "duration",
      "7s",
      "The most all pods may take to end; a pod's own grace counts where it is shorter.",
    ),
    option(
      "shutdown-grace-period-critical-pods",
      "duration",
      "2s",
      "How much of that is kept for critical pods, which end after all others.",
    ),
  ),
];

const ownNames = haltOptions.flatMap(({ options }) =>
  options.map(({ name }) => name),
);

/** @throws UsageError of the options; a configuration that can't be read any more keeps no pod from ending */
export async function haltSettings(
  values: OptionValues,
  dataDirectory: string,
): Promise<{ settings: AgentConfig; periods: readonly ShutdownPeriod[] }> {
  const options = agentValues(
    values.without(ownNames),
    partArguments(values, "agent-arg", agentOptions),
    dataDirectory,
  );
  const settingsOf = (read: OptionValues): AgentConfig =>
    resolveAgentConfig(agentConfig(read));
  let settings: AgentConfig;
  try {
    const file = await readKubeletConfiguration(options, agentOptions);
    settings = settingsOf(file ? options.withFile(file.values) : options);
  } catch (error) {
    process.stderr.write(
      `${(error as Error).message}: the agent's configuration is left out\n`,
    );
    settings = settingsOf(options);
  }
  return { settings, periods: periodsOf(values, settings.shutdownPeriods) };
}

function periodsOf(
  values: OptionValues,
  configured: readonly ShutdownPeriod[],
): readonly ShutdownPeriod[] {
  if (configured.length > 0 && !ownNames.some((name) => values.isSet(name)))
    return configured;
  const totalMs = values.number("shutdown-grace-period");
  const criticalMs = values.number("shutdown-grace-period-critical-pods");
  if (criticalMs > totalMs)
    throw new UsageError(
      "--shutdown-grace-period-critical-pods must not be longer than --shutdown-grace-period",
    );
  return [
    { priority: 0, graceSeconds: (totalMs - criticalMs) / 1000 },
    { priority: systemPriority, graceSeconds: criticalMs / 1000 },
  ];
}
