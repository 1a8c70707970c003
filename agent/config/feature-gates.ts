// Whether a feature of the agent is on: as its gate was set, else as release 1.32 has it.
import gates from "../../api/facts/feature-gates.json";
import type { AgentConfig } from "./agent-config.ts";

/** Gates with an effect in the agent. */
export type AgentGate =
  | "CSIVolumeHealth"
  | "ClusterTrustBundleProjection"
  | "ComponentFlagz"
  | "ComponentStatusz"
  | "ContainerCheckpoint"
  | "CustomCPUCFSQuotaPeriod"
  | "DynamicResourceAllocation"
  | "GracefulNodeShutdown"
  | "GracefulNodeShutdownBasedOnPodPriority"
  | "CPUManagerPolicyAlphaOptions"
  | "CPUManagerPolicyBetaOptions"
  | "ImageVolume"
  | "InPlacePodVerticalScaling"
  | "KubeletCgroupDriverFromCRI"
  | "KubeletCrashLoopBackOffMax"
  | "KubeletPodResourcesDynamicResources"
  | "KubeletPodResourcesGet"
  | "InPlacePodVerticalScalingAllocatedStatus"
  | "KubeletFineGrainedAuthz"
  | "KubeletTracing"
  | "MemoryQoS"
  | "NodeLogQuery"
  | "NodeSwap"
  | "PodLogsQuerySplitStreams"
  | "QOSReserved"
  | "PodLevelResources"
  | "SupplementalGroupsPolicy"
  | "TopologyManagerPolicyBetaOptions"
  | "UserNamespacesSupport";

export function isGateOn(
  { featureGates }: Pick<AgentConfig, "featureGates">,
  gate: AgentGate,
): boolean {
  return (
    featureGates[gate] ?? gates[gate]["1.32"].split(" ").slice(1).includes("on")
  );
}
