// What `orbit server`'s options mean for its parts: the options of each, its names and ranges, and the directories, which
// are there afterwards. A problem with any of them is a UsageError before anything starts.
import * as path from "node:path";
import type { Logger } from "pino";
import { agentOptions } from "../options/agent.ts";
import { readKubeletConfiguration } from "../options/kubelet-configuration/configuration-sources.ts";
import { controllerManagerOptions } from "../options/controller-manager.ts";
import type { OptionValues } from "../options/parse.ts";
import { schedulerOptions } from "../options/scheduler.ts";
import { UsageError } from "../options/table.ts";
import { addressInRange, nodePodCidr } from "../parts/addresses.ts";
import { agentConfig } from "../parts/agent/agent-config.ts";
import { agentValues, partArguments } from "../parts/agent/agent-values.ts";
import { featureGatesOf, gatesOfPart } from "../parts/api/emulated-version.ts";
import { makeDirectory } from "../parts/directories.ts";
import {
  networkPlan,
  type NetworkPlan,
} from "../parts/network/network-plan.ts";
import {
  nodeIpamPlan,
  type NodeIpamPlan,
} from "../parts/network/node-ipam-plan.ts";
import {
  checkWireguard,
  checkWireguardPort,
} from "../parts/network/wireguard-check.ts";
import {
  givenServing,
  type ServingSource,
} from "../parts/serving/serving-source.ts";
import {
  planScheduler,
  type SchedulerPlan,
} from "../parts/scheduler/scheduler-plan.ts";
import {
  loadBalancerPlan,
  type LoadBalancerPlan,
} from "./load-balancer-plan.ts";
import type { NodePlan } from "./node-part.ts";

const defaultDataDirectory = "/var/lib/orbit";

export interface ServerPlan {
  readonly dataDirectory: string;
  /** Parts of --disable. */
  readonly disabled: ReadonlySet<string>;
  readonly serviceCidr: string;
  readonly controllerValues: OptionValues;
  readonly schedulerPlan: SchedulerPlan;
  readonly node: NodePlan;
  /** Undefined: the machine is no node, or proxy and DNS are left out. */
  readonly network: NetworkPlan | undefined;
  /** Undefined: other programs give Services their load balancers. */
  readonly loadBalancer: LoadBalancerPlan;
  /** Undefined: nodes get no ranges of pods. */
  readonly nodeIpam: NodeIpamPlan | undefined;
  /** Of --tls-cert-file. */
  readonly ownServing: ServingSource | undefined;
  /** "": none is written. */
  readonly kubeconfigFile: string;
}

/** The fields of --config and --config-dir, below what the options say. */
async function withKubeletConfiguration(
  values: OptionValues,
  logger: Logger,
): Promise<OptionValues> {
  const read = await readKubeletConfiguration(values, agentOptions);
  if (!read) return values;
  if (read.withoutEffect.length > 0)
    logger.warn(
      { options: read.withoutEffect },
      "these fields of the agent's configuration are accepted but have no effect yet",
    );
  return values.withFile(read.values);
}

/** The agent's own default for a port without authentication is another than the server's. */
function closedByDefault(agent: OptionValues): OptionValues {
  return agent.isSet("read-only-port")
    ? agent
    : agent.under(new Map([["read-only-port", 0]]));
}

/** Pods ask this cluster's DNS server, where its Service's address is served. */
function withClusterDns(
  agent: OptionValues,
  network: NetworkPlan | undefined,
): OptionValues {
  const address = network?.proxy ? network.dns?.serviceAddress : undefined;
  return address !== undefined && !agent.isSet("cluster-dns")
    ? agent.under(new Map([["cluster-dns", [address]]]))
    : agent;
}

/** Logs of pods are where podLogsDir says, or in the usual place for the machine's main cluster, else under the data directory. */
function logDirectories(
  dataDirectory: string,
  agent: OptionValues,
): NodePlan["logDirectories"] {
  if (dataDirectory === defaultDataDirectory) return {};
  return {
    ...(agent.isSet("pod-logs-dir")
      ? {}
      : { podLogsDirectory: path.join(dataDirectory, "log/pods") }),
    containerLogsDirectory: path.join(dataDirectory, "log/containers"),
  };
}

/** Ports of this program on the node. */
function ownPorts(values: OptionValues, agent: OptionValues): number[] {
  return [
    ...["secure-port", "controllers-port", "scheduler-port"].map((name) =>
      values.number(name),
    ),
    ...["port", "read-only-port", "healthz-port"].map((name) =>
      agent.number(name),
    ),
  ];
}

/** What --controller-manager-arg and --scheduler-arg ask for. */
export async function planParts(
  values: OptionValues,
  logger: Logger,
): Promise<{ controllerValues: OptionValues; schedulerPlan: SchedulerPlan }> {
  const controllerValues = partArguments(
    values,
    "controller-manager-arg",
    controllerManagerOptions,
  );
  for (const name of ["enable-leader-migration", "leader-migration-config"])
    if (controllerValues.value(name))
      throw new UsageError(
        `--controller-manager-arg: --${name}: its controllers are no other manager's: only \`orbit controller-manager\` takes part in a migration`,
      );
  const own = partArguments(values, "scheduler-arg", schedulerOptions);
  if (own.isSet("write-config-to"))
    throw new UsageError(
      "--scheduler-arg: write-config-to is for `orbit scheduler` alone",
    );
  // One program: what is on in the API server is on here, unless the scheduler's own option says otherwise.
  const schedulerPlan = await planScheduler(own, {
    ...gatesOfPart(values, () => {}),
    ...featureGatesOf(own, "1.32", (text) => logger.warn(text)),
  }).catch((error: unknown) => {
    // An option of the scheduler, where the server may have one of the same name.
    throw error instanceof UsageError && error.message.startsWith("--")
      ? new UsageError(`--scheduler-arg: ${error.message}`)
      : error;
  });
  for (const warning of schedulerPlan.warnings) logger.warn(warning);
  return { controllerValues, schedulerPlan };
}

/** Where the administrator's kubeconfig goes; its directory is there afterwards. */
function kubeconfigFileOf(values: OptionValues): string {
  const file = values.text("write-kubeconfig");
  if (file !== "")
    makeDirectory("write-kubeconfig", path.dirname(path.resolve(file)), 0o755);
  return file;
}

/** The controllers give every node its ranges out of --cluster-cidr, unless their options say otherwise. */
function serverIpamPlan(
  values: OptionValues,
  controllers: OptionValues,
): NodeIpamPlan | undefined {
  if (
    controllers.isSet("allocate-node-cidrs") &&
    !controllers.flag("allocate-node-cidrs")
  )
    return undefined;
  return nodeIpamPlan(
    controllers,
    values.list("cluster-cidr"),
    values.list("service-cluster-ip-range"),
  );
}

/** The first range of each family, where no other server's node can have it; empty: the controllers say which. */
function ownPodCidrs(
  values: OptionValues,
  ipam: NodeIpamPlan | undefined,
): readonly string[] {
  if (ipam && values.text("store") === "etcd") return [];
  return values
    .list("cluster-cidr")
    .map((range, n) =>
      nodePodCidr(range, "cluster-cidr", ipam?.clusterRanges[n]?.nodeBits),
    );
}

export async function planServer(
  values: OptionValues,
  logger: Logger,
): Promise<ServerPlan> {
  const disabled = new Set(values.list("disable"));
  const dataDirectory = path.resolve(values.text("data-dir"));
  const serviceCidr =
    values.list("service-cluster-ip-range")[0] ?? "10.43.0.0/16";
  const ownServing = givenServing(values);
  const agentArguments = partArguments(values, "agent-arg", agentOptions);
  const parts = await planParts(values, logger);
  const withoutEffect = [
    agentArguments,
    parts.controllerValues,
    parts.schedulerPlan.values,
  ].flatMap((part) => part.withoutEffect());
  if (withoutEffect.length > 0)
    logger.warn(
      { options: withoutEffect },
      "these options of parts are accepted but have no effect yet",
    );
  const forAgent = closedByDefault(
    await withKubeletConfiguration(
      agentValues(values, agentArguments, dataDirectory),
      logger,
    ),
  );
  const { nodeName, nodeIPs = [] } = agentConfig(forAgent);
  const network = networkPlan(
    values,
    { values: forAgent, nodeName, nodeIPs },
    addressInRange(serviceCidr, 10, "service-cluster-ip-range"),
  );
  checkWireguardPort(network, values.text("service-node-port-range"));
  await checkWireguard(network);
  const nodeIpam = serverIpamPlan(values, parts.controllerValues);
  const loadBalancer = loadBalancerPlan(values, [
    ...ownPorts(values, forAgent),
    ...(network?.routes === "wireguard" ? [network.wireguard.port] : []),
  ]);
  makeDirectory("data-dir", dataDirectory, 0o700);
  if (!disabled.has("agent"))
    makeDirectory("manifests", values.text("manifests"), 0o755);
  return {
    dataDirectory,
    disabled,
    serviceCidr,
    ...parts,
    node: {
      values: withClusterDns(forAgent, network),
      nodeName,
      podCidrs: ownPodCidrs(values, nodeIpam),
      dataDirectory,
      logDirectories: logDirectories(dataDirectory, forAgent),
    },
    network,
    loadBalancer,
    nodeIpam,
    ownServing,
    kubeconfigFile: kubeconfigFileOf(values),
  };
}
