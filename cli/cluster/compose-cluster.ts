// A cluster in this process: the API server over a store, and on its in-process transport the controllers, the scheduler
// and, where there is a plan for it, this machine as a node. `orbit server` and the library compose it here; they differ in
// what they hand in: where the state is, whose certificates, which parts, whether parts have ports. The parts start in
// this order, and `started` stops them in reverse.
import type { ServingSource } from "../parts/serving/serving-source.ts";
import type { Logger } from "pino";
import { superuser, type ClusterPki } from "../../apiserver-lite/index.ts";
import type { Clock } from "../../api/clock.ts";
import type { Family } from "../../api/metrics/family.ts";
import type { Client } from "../../client/client.ts";
import type { ClientMetrics } from "../../client/metrics/client-metrics.ts";
import { countedTransport } from "../../client/metrics/counted-transport.ts";
import { createClient } from "../../client/create-client.ts";
import type { Store } from "../../storage/store.ts";
import type { OptionValues } from "../options/parse.ts";
import type { AgentPart } from "../parts/agent/agent.ts";
import { recordKernelSetting } from "../parts/agent/machine-files.ts";
import { startApiPart } from "../parts/api/apiserver.ts";
import type { NetworkPlan } from "../parts/network/network-plan.ts";
import type { NodeIpamPlan } from "../parts/network/node-ipam-plan.ts";
import type { startNodeNetwork } from "../parts/network/node-network.ts";
import { NodeRangesSource } from "../parts/network/node-ranges.ts";
import type { SchedulerPlan } from "../parts/scheduler/scheduler-plan.ts";
import { checkAuthority } from "./authority-check.ts";
import type { ClusterContext } from "./cluster-context.ts";
import type { startControllers } from "./controllers-part.ts";
import type { LoadBalancerPlan } from "./load-balancer-plan.ts";
import type { NodePlan, startNode } from "./node-part.ts";
import { PartPorts } from "./part-ports.ts";
import type { startScheduler } from "./scheduler-part.ts";
import type { Started } from "./started.ts";

type PartName = "controllers" | "scheduler" | "agent" | "network";

/** The code of the parts that are to run; undefined: not to run. */
interface PartModules {
  controllers?: Promise<{ startControllers: typeof startControllers }>;
  scheduler?: Promise<{ startScheduler: typeof startScheduler }>;
  agent?: Promise<{ startNode: typeof startNode }>;
  network?: Promise<{ startNodeNetwork: typeof startNodeNetwork }>;
}

/** Begins to read the code of parts: done early, it is there when the disk has answered for the store. */
export function loadParts(wanted: (part: PartName) => boolean): PartModules {
  return {
    ...(wanted("controllers")
      ? { controllers: import("./controllers-part.ts") }
      : {}),
    ...(wanted("scheduler")
      ? { scheduler: import("./scheduler-part.ts") }
      : {}),
    ...(wanted("agent") ? { agent: import("./node-part.ts") } : {}),
    ...(wanted("network")
      ? { network: import("../parts/network/node-network.ts") }
      : {}),
  };
}

interface ClusterComposition {
  /** Options of `orbit server`. */
  values: OptionValues;
  /** Options of --controller-manager-arg. */
  controllerValues: OptionValues;
  schedulerPlan: SchedulerPlan;
  store: Store;
  pki: ClusterPki;
  /** The user's own serving pair; default: the PKI's. */
  serving?: ServingSource;
  modules: PartModules;
  node?: NodePlan;
  network?: NetworkPlan;
  loadBalancer: LoadBalancerPlan;
  nodeIpam?: NodeIpamPlan;
  /** There is a class of volumes that are directories of nodes. */
  localPath?: boolean;
  /** metrics.k8s.io is served without an add-on. */
  nodeMetrics?: boolean;
  /** Whether controllers and scheduler open the ports of their options. */
  partPorts: boolean;
  /** Overrides --bind-address and --secure-port. */
  bindAddress?: string;
  port?: number;
  moreMetrics?: () => readonly Family[];
  /** Called when the API serves, before other parts start. */
  onServing?: (port: number) => void;
  /** Called when the addresses of this machine may have changed. */
  onAddresses?: () => void;
  clock: Clock;
  logger: Logger;
  started: Started;
}

interface ComposedCluster {
  /** Of the API server. */
  readonly port: number;
  /** As ClusterContext.clientFor. */
  clientFor(user: string): Client;
  /** Uses renewed certificates from now on. */
  updatePki(pki: ClusterPki): void;
}

/** Resolves when the node has its ranges of pods and its network runs. */
async function startNetwork(
  { startNodeNetwork: start }: { startNodeNetwork: typeof startNodeNetwork },
  context: ClusterContext,
  plan: NetworkPlan,
  ranges: NodeRangesSource,
  dataDirectory: string,
): Promise<() => readonly Family[]> {
  const podRanges = await ranges.known;
  return start(
    {
      ...context,
      clusterIdentity: context.pki.clusterCa.certificate,
      dataDirectory,
    },
    plan,
    { ...ranges, podRanges },
  );
}

/** Resolves when all parts run, and the node is Ready. Rejects with what was started left to the caller to stop. */
export async function composeCluster(
  options: ClusterComposition,
): Promise<ComposedCluster> {
  const { values, pki, serving, modules, clock, logger, started } = options;
  let networkMetrics: () => readonly Family[] = () => [];
  const api = await startApiPart({
    values,
    store: options.store,
    serving,
    whole: true,
    nodeMetrics: options.nodeMetrics ?? false,
    // The proxy of this machine makes them lead to pods.
    serviceAddresses: options.network?.proxy ?? false,
    pki,
    clock,
    logger,
    ...(options.bindAddress === undefined
      ? {}
      : { bindAddress: options.bindAddress }),
    ...(options.port === undefined ? {} : { port: options.port }),
    moreMetrics: () => [
      ...(options.moreMetrics?.() ?? []),
      ...networkMetrics(),
    ],
  });
  started.add(() => api.stop());
  const { port } = api.server;
  options.onServing?.(port);
  const clientFor = (name: string, metrics?: ClientMetrics): Client => {
    const plain = api.server.transport({ ...superuser, name }, name);
    const client = createClient(
      metrics ? countedTransport(plain, metrics) : plain,
      { clock, logger },
    );
    started.add(() => client.close());
    return client;
  };
  const ports = new PartPorts();
  const shared = { values, pki, api, clock, logger, started };
  const context: ClusterContext = {
    ...shared,
    clientFor,
    openPort: async (partPort) => {
      if (options.partPorts) await ports.open(shared, partPort);
    },
  };
  if (values.text("store") === "etcd")
    await checkAuthority(
      clientFor("system:apiserver"),
      pki.clusterCa.certificate,
      logger,
    );
  if (modules.controllers)
    await (
      await modules.controllers
    ).startControllers(context, options.controllerValues, {
      loadBalancer: options.loadBalancer,
      ...(options.nodeIpam ? { nodeIpam: options.nodeIpam } : {}),
      localPath: options.localPath ?? false,
    });
  if (modules.scheduler)
    await (
      await modules.scheduler
    ).startScheduler(context, options.schedulerPlan);
  const dataDirectory = options.node?.dataDirectory ?? "";
  const ranges = new NodeRangesSource(
    options.node?.podCidrs ?? [],
    {
      clusterRanges: values.list("cluster-cidr"),
      clock,
      logger: logger.child({ part: "pod-network" }),
      onKernelSetting: (file, before) =>
        recordKernelSetting(dataDirectory, file, before),
    },
    options.network?.routes,
  );
  started.add(() => ranges.stop());
  if (options.network?.policy) ranges.guard.expect();
  const network =
    modules.network && options.network
      ? startNetwork(
          await modules.network,
          context,
          options.network,
          ranges,
          dataDirectory,
        )
      : undefined;
  // A failure is reported where it is awaited.
  network?.catch(() => undefined);
  let agent: AgentPart | undefined;
  if (modules.agent && options.node)
    agent = await (
      await modules.agent
    ).startNode(context, options.node, ranges);
  if (network) networkMetrics = await network;
  if (agent)
    ranges.links.onChange(async () => {
      agent?.agent.report();
      options.onAddresses?.();
      await api.updateAddress();
    });
  return {
    port,
    clientFor,
    updatePki(renewed) {
      api.updatePki(renewed);
      agent?.renewCertificate(renewed.clusterCa);
      ports.updatePki(renewed);
    },
  };
}
