// What only together makes a problem among the options of the agent. All problems are reported at once, in the reference's
// words, which name the field and the option.
import { isAbsolute, normalize } from "node:path";
import {
  resolveAgentConfig,
  type AgentConfig,
} from "../../../../agent/config/agent-config.ts";
import {
  isGateOn,
  type AgentGate,
} from "../../../../agent/config/feature-gates.ts";
import { agentThresholds } from "../../../../agent/node/pressure.ts";
import { sysctlPatternProblem } from "../../../../agent/node/sysctl-policy.ts";
import { formatDuration } from "../../../../api/duration.ts";
import type { OptionValues } from "../../../options/parse.ts";
import { UsageError } from "../../../options/table.ts";
import { agentConfig, maxRestartPeriod } from "../agent-config.ts";
import { isCgroupV2 } from "../host-checks.ts";
import { checkAllocatable, checkSystemCgroups } from "./cgroup-checks.ts";
import { checkResourceManagers } from "./resource-checks.ts";

interface AgentCheck {
  readonly values: OptionValues;
  readonly config: AgentConfig;
  readonly isOn: (gate: AgentGate) => boolean;
  readonly unifiedCgroups: boolean;
}

/** What is wrong, each problem for itself. */
type Check = (check: AgentCheck) => readonly (string | undefined | false)[];

const checks: readonly Check[] = [
  checkImages,
  checkLogs,
  checkRestartPeriod,
  checkCpuPeriod,
  checkSwap,
  checkSystemCgroups,
  checkAllocatable,
  ({ config }) => config.allowedUnsafeSysctls.map(sysctlPatternProblem),
  ({ config }) => [thrown(() => checkResourceManagers(config))],
  checkThresholds,
  checkHiddenMetrics,
];

/** @throws UsageError with a line for each problem */
export function checkAgentOptions(
  values: OptionValues,
  unifiedCgroups = isCgroupV2(),
): void {
  const config = resolveAgentConfig(agentConfig(values));
  const isOn = (gate: AgentGate): boolean => isGateOn(config, gate);
  const problems = checks
    .flatMap((check) => check({ values, config, isOn, unifiedCgroups }))
    .filter((problem) => typeof problem === "string");
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
}

function thrown(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function checkImages({ values, config }: AgentCheck): (string | false)[] {
  const low = config.imageGcLowThresholdPercent;
  const high = config.imageGcHighThresholdPercent;
  const { maximumImageAgeMs, minimumImageTtlMs } = config;
  return [
    low >= high &&
      `imageGCLowThresholdPercent (--image-gc-low-threshold) ${low} must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) ${high}`,
    maximumImageAgeMs > 0 &&
      maximumImageAgeMs <= minimumImageTtlMs &&
      `imageMaximumGCAge ${formatDuration(maximumImageAgeMs)} must be greater than imageMinimumGCAge (--minimum-image-ttl-duration) ${formatDuration(minimumImageTtlMs)}`,
    values.number("max-parallel-image-pulls") > 1 &&
      config.serializeImagePulls &&
      "maxParallelImagePulls cannot be larger than 1 unless serializeImagePulls (--serialize-image-pulls) is set to false",
  ];
}

/** The directory is a part of metrics and of links. Node's normalize keeps a slash at the end. */
function checkLogs({ values, config, isOn }: AgentCheck): (string | false)[] {
  const directory = config.podLogsDirectory;
  const shown = `podLogsDir ${JSON.stringify(directory)}`;
  const queries = values.flag("enable-system-log-query");
  return [
    !isAbsolute(directory) && `${shown} must be an absolute path`,
    (normalize(directory) !== directory || /.\/$/.test(directory)) &&
      `${shown} must be a normalized path`,
    /[^ -~]/.test(directory) &&
      `${shown} may contain only printable ASCII characters`,
    queries &&
      !isOn("NodeLogQuery") &&
      "NodeLogQuery feature gate is required for enableSystemLogQuery",
    queries &&
      !values.flag("enable-system-log-handler") &&
      "enableSystemLogHandler is required for enableSystemLogQuery",
  ];
}

function checkRestartPeriod({ values, isOn }: AgentCheck): (string | false)[] {
  const periodMs = values.optionalNumber(maxRestartPeriod);
  if (periodMs === undefined) return [];
  if (!isOn("KubeletCrashLoopBackOffMax"))
    return [
      "FeatureGate KubeletCrashLoopBackOffMax not enabled, CrashLoopBackOff.MaxContainerRestartPeriod must not be set",
    ];
  return [
    (periodMs < 1000 || periodMs > 300_000) &&
      `CrashLoopBackOff.MaxContainerRestartPeriod (got: ${periodMs / 1000} seconds) must be set between 1s and 300s`,
  ];
}

function checkCpuPeriod({ config, isOn }: AgentCheck): (string | false)[] {
  return [
    config.cpuCfsQuotaPeriodMs !== 100 &&
      !isOn("CustomCPUCFSQuotaPeriod") &&
      `cpuCFSQuotaPeriod (--cpu-cfs-quota-period) ${formatDuration(config.cpuCfsQuotaPeriodMs)} requires feature gate CustomCPUCFSQuotaPeriod`,
  ];
}

function checkSwap(check: AgentCheck): (string | false)[] {
  const { values, config, isOn, unifiedCgroups } = check;
  return [
    values.isSet("swap-behavior") &&
      !isOn("NodeSwap") &&
      "memorySwap.swapBehavior (--swap-behavior) cannot be set when NodeSwap feature flag is disabled",
    config.swapBehavior === "LimitedSwap" &&
      isOn("NodeSwap") &&
      !unifiedCgroups &&
      "swap feature is enabled and LimitedSwap (memorySwap.swapBehavior, --swap-behavior) but it is only supported with cgroupv2",
    values.isSet("single-process-oom-kill") &&
      !config.singleProcessOomKill &&
      !unifiedCgroups &&
      "singleProcessOOMKill (--single-process-oom-kill) must not be explicitly set to false when using cgroup v1",
  ];
}

const thresholdOptions = [
  "eviction-hard",
  "eviction-soft",
  "eviction-soft-grace-period",
  "eviction-minimum-reclaim",
];

function checkThresholds({
  values,
  config,
}: AgentCheck): (string | undefined)[] {
  const problem = thrown(() => agentThresholds(config));
  const given = thresholdOptions.filter((name) => values.isSet(name));
  return [
    problem && `${given.map((name) => `--${name}`).join(", ")}: ${problem}`,
  ];
}

/** Of 1.32, the release before. */
function checkHiddenMetrics({ values }: AgentCheck): (string | false)[] {
  return [
    !["", "1.31"].includes(values.text("show-hidden-metrics-for-version")) &&
      "--show-hidden-metrics-for-version must be omitted or have the value '1.31'. Only the previous minor version is allowed",
  ];
}
