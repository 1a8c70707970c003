// From the agent's options to its settings.
import { hostname } from "node:os";
import { isAbsolute, normalize } from "node:path";
import {
  resolveAgentConfig,
  type AgentConfig,
} from "../../../agent/config/agent-config.ts";
import type {
  CpuPolicy,
  MemoryPolicy,
  TopologyPolicy,
  TopologyScope,
} from "../../../agent/config/resource-policies.ts";
import { isGateOn } from "../../../agent/config/feature-gates.ts";
import { agentThresholds } from "../../../agent/node/pressure.ts";
import type { OptionValues } from "../../options/parse.ts";
import { shutdownPeriods } from "./shutdown-periods.ts";
import { UsageError } from "../../options/table.ts";
import { gatesOfPart } from "../api/emulated-version.ts";
import { kubernetesVersion } from "../../version.ts";
import { checkResourceManagers } from "./resource-checks.ts";

const sizeUnits: Readonly<Record<string, number>> = {
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
};

function sizeBytes(text: string, option = "container-log-max-size"): number {
  const match = /^(\d+(?:\.\d+)?)([kMG]|[KMG]i)?$/.exec(text);
  if (!match)
    throw new UsageError(
      `invalid argument "${text}" for "--${option}": must be an amount such as 10Mi`,
    );
  return Math.round(Number(match[1]) * sizeUnits[match[2] ?? ""]!);
}

function logBudget(text: string): string {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text);
  return percent && Number(percent[1]) <= 100
    ? text
    : String(sizeBytes(text, "container-log-budget"));
}

/** key=value:Effect */
function taint(text: string): { key: string; value?: string; effect: string } {
  const match =
    /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(
      text,
    );
  if (!match)
    throw new UsageError(
      `invalid argument "${text}" for "--register-with-taints": must be key=value:Effect`,
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

const maxRestartPeriod = "crash-loop-back-off-max-container-restart-period";

export function agentConfig(
  values: OptionValues,
): Partial<AgentConfig> & { nodeName: string } {
  const nodeName = (values.optionalText("hostname-override") ?? hostname())
    .trim()
    .toLowerCase();
  return {
    nodeName,
    nodeIPs: (values.optionalText("node-ip") ?? "").split(",").filter(Boolean),
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
    registerWithTaints: values.list("register-with-taints").map(taint),
    nodeLabels: values.map("node-labels"),
    providerId: values.text("provider-id"),
    nodeStatusUpdateFrequencyMs: values.number("node-status-update-frequency"),
    nodeStatusMaxImages: values.number("node-status-max-images"),
    nodeLeaseDurationSeconds: values.number("node-lease-duration-seconds"),
    shutdownPeriods: shutdownPeriods(values),
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
    ...(values.optionalText("cgroup-root")
      ? { cgroupRoot: values.text("cgroup-root") }
      : {}),
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
    maximumDeadContainers: values.number("maximum-dead-containers"),
    maximumDeadContainersPerContainer: values.number(
      "maximum-dead-containers-per-container",
    ),
    podLogsDirectory: values.text("pod-logs-dir"),
    containerLogMaxFiles: values.number("container-log-max-files"),
    containerLogMaxSizeBytes: sizeBytes(values.text("container-log-max-size")),
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

/** One more look at values that only together make a problem. */
export function checkAgentOptions(values: OptionValues): void {
  if (
    values.number("image-gc-low-threshold") >=
    values.number("image-gc-high-threshold")
  ) {
    throw new UsageError(
      "--image-gc-low-threshold must be lower than --image-gc-high-threshold",
    );
  }
  const maximumAgeMs = values.number("image-maximum-gc-age");
  if (
    maximumAgeMs > 0 &&
    maximumAgeMs <= values.number("minimum-image-ttl-duration")
  )
    throw new UsageError(
      "imageMaximumGCAge must be greater than imageMinimumGCAge (--minimum-image-ttl-duration)",
    );
  if (
    values.number("max-parallel-image-pulls") > 1 &&
    values.flag("serialize-image-pulls")
  )
    throw new UsageError(
      "maxParallelImagePulls cannot be larger than 1 unless serializeImagePulls (--serialize-image-pulls) is set to false",
    );
  checkLogsDirectory(values.text("pod-logs-dir"));
  checkRestartPeriod(values);
  checkAllocatable(values);
  checkSystemCgroups(values);
  checkResourceManagers(agentConfig(values));
  try {
    agentThresholds(resolveAgentConfig(agentConfig(values)));
  } catch (error) {
    const given = evictionOptions.filter((name) => values.isSet(name));
    throw new UsageError(
      `${given.map((name) => `--${name}`).join(", ")}: ${(error as Error).message}`,
    );
  }
}

const evictionOptions = [
  "eviction-hard",
  "eviction-soft",
  "eviction-soft-grace-period",
  "eviction-minimum-reclaim",
];

/** What the reference refuses: the path is a part of metrics and of links. Node's normalize keeps a slash at the end. */
function checkLogsDirectory(directory: string): void {
  const refuse = (fault: string): never => {
    throw new UsageError(`podLogsDir ${JSON.stringify(directory)} ${fault}`);
  };
  if (!isAbsolute(directory)) refuse("must be an absolute path");
  if (normalize(directory) !== directory || /.\/$/.test(directory))
    refuse("must be a normalized path");
  if (/[^ -~]/.test(directory))
    refuse("may contain only printable ASCII characters");
}

function checkRestartPeriod(values: OptionValues): void {
  const periodMs = values.optionalNumber(maxRestartPeriod);
  if (periodMs === undefined) return;
  if (
    !isGateOn(
      resolveAgentConfig(agentConfig(values)),
      "KubeletCrashLoopBackOffMax",
    )
  )
    throw new UsageError(
      "FeatureGate KubeletCrashLoopBackOffMax not enabled, CrashLoopBackOff.MaxContainerRestartPeriod must not be set",
    );
  if (periodMs < 1000 || periodMs > 300_000)
    throw new UsageError(
      `CrashLoopBackOff.MaxContainerRestartPeriod (got: ${periodMs / 1000} seconds) must be set between 1s and 300s`,
    );
}

/** Absolute, and none that would take a process out of the hierarchy's mount. */
function checkSystemCgroups(values: OptionValues): void {
  for (const option of ["system-cgroups", "runtime-cgroups"]) {
    const cgroup = values.text(option);
    if (cgroup === "") continue;
    if (!/^\/[^\s]*$/.test(cgroup) || cgroup.split("/").includes(".."))
      throw new UsageError(
        `--${option}: ${cgroup} is no absolute name of a cgroup`,
      );
  }
  const system = values.text("system-cgroups");
  if (system === "") return;
  if (system.replaceAll("/", "") === "")
    throw new UsageError(
      '--system-cgroups: system container cannot be root ("/")',
    );
  if (values.text("cgroup-root") === "")
    throw new UsageError(
      "systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified",
    );
}

/** What is held to its share must be named, as the reference demands. */
function checkAllocatable(values: OptionValues): void {
  const enforced = values.list("enforce-node-allocatable");
  if (enforced.includes("none") && enforced.length > 1)
    throw new UsageError(
      "--enforce-node-allocatable may not contain other values with none",
    );
  for (const name of ["system-reserved", "kube-reserved"]) {
    const both = enforced.filter(
      (each) => each === name || each === `${name}-compressible`,
    );
    if (both.length > 1)
      throw new UsageError(
        `--enforce-node-allocatable: both ${name} and ${name}-compressible cannot be specified together`,
      );
    if (both.length === 1 && values.text(`${name}-cgroup`) === "")
      throw new UsageError(
        `--${name}-cgroup must be specified when --enforce-node-allocatable includes ${both[0]}`,
      );
  }
  if (enforced.includes("pods") && !values.flag("cgroups-per-qos"))
    throw new UsageError(
      "--enforce-node-allocatable=pods needs --cgroups-per-qos",
    );
}
