// `orbit agent` (orbitlet): the node agent alone; with --kubeconfig a member of any conforming cluster, else static pods only.
import { systemClock } from "../api/clock.ts";
import { beginDaemon } from "./daemon.ts";
import { notifySystemd, startWatchdog, stopOnSignals } from "./lifecycle.ts";
import { agentOptions } from "./options/agent.ts";
import { readKubeletConfiguration } from "./options/kubelet-configuration/configuration-sources.ts";
import { parseOptions, type OptionValues } from "./options/parse.ts";
import type { OptionValue } from "./options/table.ts";
import { connectAgent, joiningValues } from "./parts/agent/agent-connection.ts";
import { localServiceRanges } from "./parts/network/local-network.ts";
import { holdLockFile } from "./parts/agent/lock-file.ts";
import { makeDirectory } from "./parts/directories.ts";

/**
 * As at the reference, a configuration file closes the ports where it and the flags say nothing. So does a drop-in without
 * such a file that has one of these fields and says nothing in it.
 */
const defaultsWithFile: ReadonlyMap<string, OptionValue> = new Map<
  string,
  OptionValue
>([
  ["anonymous-auth", false],
  ["authentication-token-webhook", true],
  ["authorization-mode", "Webhook"],
  ["read-only-port", 0],
]);

/** The agent's options with those of --config and --config-dir below them. */
export async function readAgentOptions(
  argv: readonly string[],
): Promise<{ values: OptionValues; withoutEffect: readonly string[] }> {
  const values = parseOptions(agentOptions, argv);
  values.refuseUnbuilt();
  const read = await readKubeletConfiguration(values, agentOptions);
  if (!read) return { values, withoutEffect: values.withoutEffect() };
  const merged = withGatesOfBoth(values, read.values).withFile(
    new Map([
      ...[...defaultsWithFile].filter(
        ([name]) => values.optionalText("config") || read.unset.has(name),
      ),
      ...read.values,
    ]),
  );
  return {
    values: merged,
    withoutEffect: [...merged.withoutEffect(), ...read.withoutEffect],
  };
}

/** Of gates alone those of the file stay beside those of flags, which win one by one, as at the reference. */
function withGatesOfBoth(
  values: OptionValues,
  file: ReadonlyMap<string, OptionValue>,
): OptionValues {
  const ofFile = file.get("feature-gates");
  if (!ofFile || !values.isSet("feature-gates")) return values;
  return values.under(
    new Map([
      [
        "feature-gates",
        {
          ...(ofFile as Readonly<Record<string, string>>),
          ...values.map("feature-gates"),
        },
      ],
    ]),
  );
}

export async function runAgent(
  argv: readonly string[],
): Promise<number | undefined> {
  const start = await beginDaemon(argv, {
    table: agentOptions,
    usage: "orbitlet [options]",
    about: "The node agent: runs the pods of this machine.",
    read: readAgentOptions,
  });
  if (!start) return 0;
  const { logger } = start;
  const lock = await holdLockFile({
    values: start.values,
    clock: systemClock,
    logger,
  });
  const rootDirectory = start.values.text("root-dir");
  makeDirectory("root-dir", rootDirectory, 0o700);
  const certificateDirectory = start.values.isSet("cert-dir")
    ? start.values.text("cert-dir")
    : `${rootDirectory}/pki`;
  const values = joiningValues(start.values, certificateDirectory);
  // Neither the clock's timers nor idle connections keep the process while it waits for its certificate.
  const awake = setInterval(() => undefined, 0x7fffffff);
  const connection = await connectAgent(
    values,
    certificateDirectory,
    logger,
  ).finally(() => clearInterval(awake));
  const [{ startAgentPart }, { AgentNetwork }] = await Promise.all([
    import("./parts/agent/agent.ts"),
    import("./parts/agent/agent-network.ts"),
  ]);
  const network = new AgentNetwork({
    values,
    client: connection?.client,
    joined: connection?.joined === true,
    clusterIdentity: connection?.clusterIdentity ?? "",
    dataDirectory: rootDirectory,
    clock: systemClock,
    logger,
  });
  await network.check();
  const part = await startAgentPart({
    values: await network.agentValues(),
    endpoint: values.isSet("container-runtime-endpoint")
      ? values.text("container-runtime-endpoint")
      : "",
    dataDirectory: rootDirectory,
    certificateDirectory,
    podCidrs: network.podCidrs,
    setPodRules: (ranges) => network.ranges.pods.setOwn(ranges),
    onPodRanges: (ranges) => network.ranges.set(ranges),
    podNetwork: network.ranges.hooks,
    podMtu: network.ranges.podMtu,
    clock: systemClock,
    logger,
    config: { serviceRanges: localServiceRanges(values) },
    ...(network.localObjects ? { localObjects: network.localObjects } : {}),
    ...(connection
      ? {
          client: connection.client,
          clientMetrics: connection.clientMetrics,
          certificateMetrics: connection.certificateMetrics,
        }
      : {}),
  }).catch(async (error: unknown) => {
    await network.stop();
    await connection?.close();
    throw error;
  });
  network.ranges.links.onChange(() => {
    return Promise.all([connection?.linksChanged(), part.agent.report()]);
  });
  network.start();
  const stopWatchdog = startWatchdog(logger);
  stopOnSignals(
    {
      async stop() {
        stopWatchdog();
        await network.stop();
        await part.stop();
        await connection?.close();
        lock?.release();
      },
    },
    logger,
  );
  lock?.onContention(() => process.kill(process.pid, "SIGTERM"));
  start.ready();
  notifySystemd("READY=1\nSTATUS=ready", logger);
  return undefined;
}
