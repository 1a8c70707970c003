// The cluster of `orbit server`: state and certificates below --data-dir, renewed while it runs, the administrator's
// kubeconfig, snapshots, and the parts that --disable does not name, with their ports.
import * as os from "node:os";
import * as path from "node:path";
import type { Logger } from "pino";
import {
  PkiKeeper,
  writeKubeconfig,
  type ClusterPki,
} from "../../apiserver-lite/index.ts";
import { localAddress } from "../../api/address-kind.ts";
import { systemClock } from "../../api/clock.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import {
  failureMetrics,
  type FailureCount,
  type Stoppable,
} from "../lifecycle.ts";
import type { OptionValues } from "../options/parse.ts";
import { UsageError } from "../options/table.ts";
import {
  addressInRange,
  advertisedAddress,
  machineAddresses,
  urlHost,
} from "../parts/addresses.ts";
import type { AgentPart } from "../parts/agent/agent.ts";
import { clusterDomain } from "../parts/agent/agent-values.ts";
import { scheduledSnapshots } from "../parts/api/snapshots.ts";
import { chooseStore } from "../parts/api/store.ts";
import { composeCluster, loadParts } from "./compose-cluster.ts";
import { planServer, type ServerPlan } from "./server-plan.ts";
import { Started } from "./started.ts";

const clock = systemClock;

export interface RunningServer extends Stoppable {
  /** Of the API server. */
  readonly port: number;
  /** One line for `systemctl status`. */
  status(): string;
  /** Why only a new start can help. */
  fatal(): Error | undefined;
}

function statusLine(pods: readonly Pod[] | undefined): string {
  if (!pods) return "ready";
  const running = pods.filter(({ status }) => status?.phase === "Running");
  return `ready; ${running.length} of ${pods.length} pods run`;
}

/** The names the serving certificate is for; looked at again from time to time. */
function hostNames(values: OptionValues, nodeName: string): string[] {
  // Reading them takes milliseconds where there are hundreds of interfaces.
  const addresses = machineAddresses();
  return [
    ...new Set([
      os.hostname(),
      nodeName,
      ...addresses,
      advertisedAddress(
        values.text("bind-address"),
        values.optionalText("advertise-address"),
        () => addresses,
      ),
      ...values.list("tls-san"),
    ]),
  ];
}

/** Writes the administrator's kubeconfig, and logs that the API serves. */
function adminKubeconfig(
  values: OptionValues,
  { kubeconfigFile }: ServerPlan,
): { url(port: number): string; write(pki: ClusterPki, port: number): void } {
  const host = urlHost(localAddress(values.text("bind-address")));
  const url = (port: number): string => `https://${host}:${port}`;
  return {
    url,
    write(pki, port) {
      if (kubeconfigFile === "") return;
      writeKubeconfig(kubeconfigFile, {
        server: url(port),
        certificateAuthority: pki.clusterCa.certificate,
        client: pki.admin,
        clusterName: values.text("cluster-name"),
      });
    },
  };
}

/** Starts everything; resolves when it is ready. The started parts are stopped again when something fails. */
export async function startServer(
  values: OptionValues,
  logger: Logger,
  failures: FailureCount,
): Promise<RunningServer> {
  const started = new Started(logger);
  try {
    return await startParts(values, logger, failures, started);
  } catch (error) {
    await started.abandon();
    throw error;
  }
}

async function startParts(
  values: OptionValues,
  logger: Logger,
  failures: FailureCount,
  started: Started,
): Promise<RunningServer> {
  const plan = await planServer(values, logger);
  const { dataDirectory, disabled, ownServing } = plan;
  const modules = loadParts((part) =>
    part === "network" ? plan.network !== undefined : !disabled.has(part),
  );
  const kubeconfig = adminKubeconfig(values, plan);
  let onRenewed: (pki: ClusterPki) => void = () => undefined;
  const keeper = new PkiKeeper({
    directory: path.join(dataDirectory, "pki"),
    hosts: () => hostNames(values, plan.node.nodeName),
    serviceAddresses: [
      addressInRange(plan.serviceCidr, 1, "service-cluster-ip-range"),
    ],
    clusterDomain,
    clock,
    logger,
    onRenewed: (pki) => onRenewed(pki),
  });
  const pki = keeper.start();
  started.add(() => keeper.stop());
  const state = {
    values,
    kind: values.text("store"),
    dataDirectory,
    clock,
    logger,
  };
  const store = await chooseStore(state);
  const snapshots = await scheduledSnapshots(state);
  let agent: AgentPart | undefined;
  const cluster = await composeCluster({
    values,
    controllerValues: plan.controllerValues,
    schedulerPlan: plan.schedulerPlan,
    store,
    pki,
    ...(ownServing ? { serving: ownServing } : {}),
    modules,
    node: { ...plan.node, onStarted: (part) => (agent = part) },
    ...(plan.network ? { network: plan.network } : {}),
    loadBalancer: plan.loadBalancer,
    ...(plan.nodeIpam ? { nodeIpam: plan.nodeIpam } : {}),
    nodeMetrics: !disabled.has("metrics"),
    localPath: !disabled.has("local-path"),
    partPorts: true,
    moreMetrics: () => [
      failureMetrics(failures),
      ...(snapshots?.metrics() ?? []),
    ],
    onAddresses: () => keeper.look(),
    onServing(port) {
      if (snapshots) {
        snapshots.start();
        started.add(() => snapshots.stop());
      }
      try {
        kubeconfig.write(pki, port);
      } catch (error) {
        throw new UsageError(`--write-kubeconfig: ${(error as Error).message}`);
      }
      logger.info(
        { url: kubeconfig.url(port), kubeconfig: plan.kubeconfigFile },
        "the API server serves",
      );
    },
    clock,
    logger,
    started,
  });
  const { port } = cluster;
  onRenewed = (renewed) => {
    cluster.updatePki(renewed);
    kubeconfig.write(renewed, port);
  };
  return {
    port,
    status: () => statusLine(agent?.agent.pods()),
    fatal: () => store.fatal,
    stop: () => started.stop(),
  };
}
