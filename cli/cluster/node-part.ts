// This machine as a node of a composed cluster: the agent, and the objects of the manifests directory that are no pods. A
// file of its own, so that the agent's modules are read only where it runs.
import * as path from "node:path";
import { ManifestObjects } from "../../controllers/manifests/manifest-objects.ts";
import type { OptionValues } from "../options/parse.ts";
import { featureGatesOf, gatesOfPart } from "../parts/api/emulated-version.ts";
import { ClientMetrics } from "../../client/metrics/client-metrics.ts";
import { startAgentPart, type AgentPart } from "../parts/agent/agent.ts";
import type { NodeRangesSource } from "../parts/network/node-ranges.ts";
import { waitForNodeReady } from "../parts/node-ready.ts";
import type { ClusterContext } from "./cluster-context.ts";

export interface NodePlan {
  /** The agent's options. */
  readonly values: OptionValues;
  readonly nodeName: string;
  /** Ranges of pods; empty: the Node will be given them. */
  readonly podCidrs: readonly string[];
  readonly dataDirectory: string;
  /** Where logs of pods go instead of the usual places. */
  readonly logDirectories: {
    readonly podLogsDirectory?: string;
    readonly containerLogsDirectory?: string;
  };
  /** Called before the node is Ready. */
  readonly onStarted?: (agent: AgentPart) => void;
}

/** Resolves when the node is Ready. */
export async function startNode(
  cluster: ClusterContext,
  { values, nodeName, podCidrs, dataDirectory, ...plan }: NodePlan,
  ranges: NodeRangesSource,
): Promise<AgentPart> {
  const { pki, api, clock, logger, started } = cluster;
  const clientMetrics = new ClientMetrics();
  const client = cluster.clientFor(`system:node:${nodeName}`, clientMetrics);
  const running: { agent?: AgentPart } = {};
  const objects = new ManifestObjects({
    client,
    dataDirectory,
    clock,
    logger: logger.child({ part: "manifests" }),
    onProblem: (file, message) =>
      running.agent?.agent.manifestProblem(file, message),
  });
  started.add(() => objects.stop());
  const node = waitForNodeReady(client, nodeName);
  const agent = await startAgentPart({
    values,
    endpoint: cluster.values.isSet("container-runtime-endpoint")
      ? cluster.values.text("container-runtime-endpoint")
      : "",
    dataDirectory,
    podCidrs,
    setPodRules: (own) => ranges.pods.setOwn(own),
    onPodRanges: (given) => ranges.set(given),
    podNetwork: ranges.hooks,
    podMtu: ranges.podMtu,
    ...{ client, clientMetrics },
    config: {
      ...plan.logDirectories,
      registerPodRanges: true,
      // One program: what is on in the API server is on here, unless the agent's own option says otherwise.
      featureGates: {
        ...gatesOfPart(cluster.values, () => {}),
        ...featureGatesOf(values, "1.32", (text) => logger.warn(text)),
      },
    },
    certificateDirectory: path.join(dataDirectory, "pki"),
    cluster: {
      ca: pki.clusterCa,
      authorizer: api.security.authorizer,
      tokens: api.security.tokens,
    },
    clock,
    logger,
    onOtherManifests: (byFile) => objects.set(byFile),
  });
  running.agent = agent;
  started.add(() => agent.stop());
  started.add(() => node.stop());
  plan.onStarted?.(agent);
  await node.ready;
  return agent;
}
