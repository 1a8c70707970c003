// From the agent's options to its settings.
import { hostname } from "node:os";
import type { AgentConfig } from "../../../agent/config/agent-config.ts";
import type {
  CpuPolicy,
  MemoryPolicy,
  TopologyPolicy,
  TopologyScope,
} from "../../../agent/config/resource-policies.ts";
import { labelKeyProblems, labelValueProblems } from "../../../api/names.ts";
import { parseQuantity, quantityValue } from "../../../api/quantity.ts";
import type { OptionValues } from "../../options/parse.ts";
import { shutdownPeriods } from "./shutdown-periods.ts";
import { UsageError } from "../../options/table.ts";
import { gatesOfPart } from "../api/emulated-version.ts";
import { kubernetesVersion } from "../../version.ts";

function sizeBytes(text: string, option: string): number {
  try {
    return quantityValue(parseQuantity(text));
  } catch {
    throw new UsageError(
      `invalid argument "${text}" for "--${option}": must be an amount such as 10Mi`,
    );
  }
}

/** Below zero: logs are not rotated. */
function logSize(text: string): number {
  const bytes = sizeBytes(text, "container-log-max-size");
  return bytes < 0 ? Number.MAX_SAFE_INTEGER : bytes;
}

function logBudget(text: string): string {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text);
  return percent && Number(percent[1]) <= 100
    ? text
    : String(sizeBytes(text, "container-log-budget"));
}

/** The API server takes none twice, and a node that can't register is no node. */
function taints(texts: readonly string[]): ReturnType<typeof taint>[] {
  const seen = new Set<string>();
  return texts.map((text) => {
    const made = taint(text);
    const name = `${made.key}:${made.effect}`;
    if (seen.has(name))
      throw new UsageError(
        `invalid argument "${text}" for "--register-with-taints" (registerWithTaints): duplicated taints with the same key and effect`,
      );
    seen.add(name);
    return made;
  });
}

/** key=value:Effect */
function taint(text: string): { key: string; value?: string; effect: string } {
  const match =
    /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(
      text,
    );
  const [problem] = match
    ? [...labelKeyProblems(match[1]!), ...labelValueProblems(match[2] ?? "")]
    : ["must be key=value:Effect"];
  if (!match || problem !== undefined)
    throw new UsageError(
      `invalid argument "${text}" for "--register-with-taints" (registerWithTaints): ${problem}`,
    );
  return {
    key: match[1]!,
    ...(match[2] ? { value: match[2] } : {}),
    effect: match[3]!,
  };
}

function header(text: string): [string, string] {
  const colon = text.indexOf(":");
  if (colon < 1)
    throw new UsageError(
      `invalid argument "${text}" for "--manifest-url-header": must be name:value`,
    );
  return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
}

/** 0.0.0.0 and :: are no addresses, but say which family is preferred. */
function nodeAddress(
  text: string,
): Pick<AgentConfig, "nodeIPs" | "preferredFamily"> {
  if (text === "0.0.0.0") return { nodeIPs: [], preferredFamily: "IPv4" };
  if (text === "::") return { nodeIPs: [], preferredFamily: "IPv6" };
  return {
    nodeIPs: text.split(",").filter(Boolean),
    preferredFamily: undefined,
  };
}

/** Thresholds come with their operator: `<100Mi`. */
const thresholds = (
  map: Readonly<Record<string, string>>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(map).map(([signal, value]) => [
      signal,
      value.replace(/^</, ""),
    ]),
  );

/** The option without a flag. */
export const maxRestartPeriod =
  "crash-loop-back-off-max-container-restart-period";

/**
 * "/" is what the ecosystem's configurations write for the reference's default: its pods are in /kubepods then, and never
 * in the machine's own root, which must not get their limits.
 */
function podsCgroup(values: OptionValues): Partial<AgentConfig> {
  const root = values.optionalText("cgroup-root") ?? "";
  const isMachines = root !== "" && root.replaceAll("/", "") === "";
  if (root === "" || (isMachines && values.flag("cgroups-per-qos"))) return {};
  return { cgroupRoot: root };
}

export function agentConfig(
  values: OptionValues,
): Partial<AgentConfig> & { nodeName: string } {
  const nodeName = (values.optionalText("hostname-override") ?? hostname())
    .trim()
    .toLowerCase();
  return {
    nodeName,
    ...nodeAddress(values.text("node-ip")),
    rootDirectory: values.text("root-dir"),
    resolvConf: values.text("resolv-conf"),
    manifestsDirectory: values.optionalText("pod-manifest-path"),
    manifestUrl: values.optionalText("manifest-url"),
    manifestUrlHeaders: Object.fromEntries(
      values.list("manifest-url-header").map(header),
    ),
    fileCheckFrequencyMs: values.number("file-check-frequency"),
    httpCheckFrequencyMs: values.number("http-check-frequency"),
    syncFrequencyMs: values.number("sync-frequency"),
    objectChangeDetection: values.text(
      "config-map-and-secret-change-detection-strategy",
    ) as AgentConfig["objectChangeDetection"],
    registerNode: values.flag("register-node"),
    registerSchedulable: values.flag("register-schedulable"),
    volumeStatsAggPeriodMs: values.number("volume-stats-agg-period"),
    enableControllerAttachDetach: values.flag(
      "enable-controller-attach-detach",
    ),
    registerWithTaints: taints(values.list("register-with-taints")),
    nodeLabels: values.map("node-labels"),
    providerId: values.text("provider-id"),
    nodeStatusUpdateFrequencyMs: values.number("node-status-update-frequency"),
    nodeStatusMaxImages: values.number("node-status-max-images"),
    nodeLeaseDurationSeconds: values.number("node-lease-duration-seconds"),
    shutdownPeriods: shutdownPeriods(
      values,
      gatesOfPart(values, () => {}),
    ),
    externalCloudProvider: values.text("cloud-provider") === "external",
    maxPods: values.number("max-pods"),
    podsPerCore: values.number("pods-per-core"),
    port: values.number("port"),
    version: kubernetesVersion,
    featureGates: gatesOfPart(values, () => {}),
    clusterDns: values.list("cluster-dns"),
    clusterDomain: values.text("cluster-domain"),
    serializeImagePulls: values.flag("serialize-image-pulls"),
    registryQps: values.number("registry-qps"),
    registryBurst: values.number("registry-burst"),
    maxRestartPeriodMs: values.optionalNumber(maxRestartPeriod) ?? 300_000,
    eventQps: values.number("event-qps"),
    eventBurst: values.number("event-burst"),
    podMaxPids: values.number("pod-max-pids"),
    cpuCfsQuota: values.flag("cpu-cfs-quota"),
    cpuCfsQuotaPeriodMs: values.number("cpu-cfs-quota-period"),
    seccompDefault: values.flag("seccomp-default"),
    allowedUnsafeSysctls: values.list("allowed-unsafe-sysctls"),
    runtimeRequestTimeoutMs: values.number("runtime-request-timeout"),
    cgroupsPerQos: values.flag("cgroups-per-qos"),
    ...podsCgroup(values),
    cgroupDriver: values.text("cgroup-driver") as AgentConfig["cgroupDriver"],
    kubeletCgroups: values.text("kubelet-cgroups"),
    runtimeCgroups: values.text("runtime-cgroups"),
    systemCgroups: values.text("system-cgroups"),
    qosReserved: values.map("qos-reserved"),
    memoryThrottlingFactor: values.number("memory-throttling-factor"),
    swapBehavior: values.text("swap-behavior") as AgentConfig["swapBehavior"],
    singleProcessOomKill: values.flag("single-process-oom-kill"),
    cpuManagerPolicy: values.text("cpu-manager-policy") as CpuPolicy,
    cpuManagerPolicyOptions: values.map("cpu-manager-policy-options"),
    cpuManagerReconcilePeriodMs: values.number("cpu-manager-reconcile-period"),
    reservedCpus: values.text("reserved-cpus"),
    memoryManagerPolicy: values.text("memory-manager-policy") as MemoryPolicy,
    reservedMemory: values.list("reserved-memory"),
    topologyManagerPolicy: values.text(
      "topology-manager-policy",
    ) as TopologyPolicy,
    topologyManagerPolicyOptions: values.map("topology-manager-policy-options"),
    topologyManagerScope: values.text(
      "topology-manager-scope",
    ) as TopologyScope,
    kubeReserved: values.map("kube-reserved"),
    systemReserved: values.map("system-reserved"),
    imageGcHighThresholdPercent: values.number("image-gc-high-threshold"),
    imageGcLowThresholdPercent: values.number("image-gc-low-threshold"),
    minimumImageTtlMs: values.number("minimum-image-ttl-duration"),
    sandboxImage: values.text("pod-infra-container-image"),
    maximumDeadContainers: values.number("maximum-dead-containers"),
    maximumDeadContainersPerContainer: values.number(
      "maximum-dead-containers-per-container",
    ),
    podLogsDirectory: values.text("pod-logs-dir"),
    containerLogMaxFiles: values.number("container-log-max-files"),
    containerLogMaxSizeBytes: logSize(values.text("container-log-max-size")),
    containerLogBudget: logBudget(values.text("container-log-budget")),
    containerLogMaxWorkers: values.number("container-log-max-workers"),
    minimumContainerTtlMs: values.number("minimum-container-ttl-duration"),
    containerLogMonitorIntervalMs: values.number(
      "container-log-monitor-interval",
    ),
    maxParallelImagePulls: values.number("max-parallel-image-pulls"),
    nodeStatusReportFrequencyMs: values.number("node-status-report-frequency"),
    enforceNodeAllocatable: values.list("enforce-node-allocatable"),
    systemReservedCgroup: values.text("system-reserved-cgroup"),
    kubeReservedCgroup: values.text("kube-reserved-cgroup"),
    maximumImageAgeMs: values.number("image-maximum-gc-age"),
    evictionHard: thresholds(values.map("eviction-hard")),
    evictionSoft: thresholds(values.map("eviction-soft")),
    evictionSoftGracePeriod: values.map("eviction-soft-grace-period"),
    evictionMaxPodGraceSeconds: values.number("eviction-max-pod-grace-period"),
    evictionMinimumReclaim: values.map("eviction-minimum-reclaim"),
    localStorageCapacityIsolation: values.flag(
      "local-storage-capacity-isolation",
    ),
    evictionPressureTransitionPeriodMs: values.number(
      "eviction-pressure-transition-period",
    ),
  };
}
