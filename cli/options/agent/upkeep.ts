// Options of the agent about eviction and garbage collection, and fields that its configuration file alone has. All of
// them have an effect.
import { group, option } from "../build-table.ts";
import type { OptionTable } from "../table.ts";

const percent = { min: 0, max: 100 };

const evictionOptions = group(
  "Eviction and garbage collection",
  option(
    "eviction-hard",
    "map",
    "imagefs.available<15%,memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%",
    "Thresholds that evict at once.",
    { file: "evictionHard" },
  ),
  option("eviction-soft", "map", "", "Thresholds with a grace period.", {
    file: "evictionSoft",
  }),
  option("eviction-soft-grace-period", "map", "", "Their grace periods.", {
    file: "evictionSoftGracePeriod",
  }),
  option(
    "eviction-max-pod-grace-period",
    "int",
    "0",
    "Longest grace of a soft eviction, in seconds; negative: the pod's own.",
    { file: "evictionMaxPodGracePeriod" },
  ),
  option(
    "eviction-minimum-reclaim",
    "map",
    "",
    "Least that an eviction frees.",
    { file: "evictionMinimumReclaim" },
  ),
  option(
    "eviction-pressure-transition-period",
    "duration",
    "5m0s",
    "Time before pressure is over.",
    { min: 0, file: "evictionPressureTransitionPeriod" },
  ),
  option(
    "image-gc-high-threshold",
    "int",
    "85",
    "Disk use in percent at which images are removed.",
    { ...percent, file: "imageGCHighThresholdPercent" },
  ),
  option(
    "image-gc-low-threshold",
    "int",
    "80",
    "Disk use in percent down to which they are removed.",
    { ...percent, file: "imageGCLowThresholdPercent" },
  ),
  option(
    "minimum-image-ttl-duration",
    "duration",
    "2m0s",
    "Least age of an unused image that is removed.",
    { min: 0, file: "imageMinimumGCAge" },
  ),
  option(
    "image-maximum-gc-age",
    "duration",
    "0s",
    "Age at which an unused image is removed whatever the disk's use; 0: none.",
    { min: 0, file: "imageMaximumGCAge", fileOnly: true },
  ),
  option(
    "maximum-dead-containers",
    "int",
    "-1",
    "Dead containers kept; -1: no limit.",
  ),
  option(
    "maximum-dead-containers-per-container",
    "int",
    "1",
    "Dead instances kept a container.",
  ),
);

/** Fields of KubeletConfiguration without a flag; the age of images is listed with the thresholds of images. */
const fileOptions = group(
  "In the configuration file alone",
  option(
    "container-log-max-workers",
    "int",
    "1",
    "Logs that are rotated at the same time.",
    { min: 1, max: 64, file: "containerLogMaxWorkers" },
  ),
  option(
    "minimum-container-ttl-duration",
    "duration",
    "0s",
    "Least age of an ended container that is removed.",
    { min: 0 },
  ),
  option(
    "container-log-monitor-interval",
    "duration",
    "10s",
    "Between looks at the sizes of logs.",
    { min: 3000, file: "containerLogMonitorInterval", fileOnly: true },
  ),
  option(
    "pod-logs-dir",
    "string",
    "/var/log/pods",
    "Directory of the logs of pods.",
    { file: "podLogsDir", fileOnly: true },
  ),
  option(
    "max-parallel-image-pulls",
    "int",
    "",
    "Images pulled at the same time, besides those that take more than a minute; unset: no limit.",
    { min: 1, file: "maxParallelImagePulls", fileOnly: true },
  ),
  option(
    "node-status-report-frequency",
    "duration",
    "5m0s",
    "Between reports of a node's status that has not changed.",
    { min: 0, file: "nodeStatusReportFrequency", fileOnly: true },
  ),
  option(
    "config-map-and-secret-change-detection-strategy",
    "string",
    "Watch",
    "How changes of what volumes are made of are noticed: Watch, Cache (kept for the Node's TTL) or Get.",
    {
      values: ["Watch", "Cache", "Get"],
      file: "configMapAndSecretChangeDetectionStrategy",
      fileOnly: true,
    },
  ),
  option(
    "container-log-budget",
    "string",
    "20%",
    "What the logs of all containers together may take, an amount or a part of the file system; 0: no budget.",
  ),
  option(
    "crash-loop-back-off-max-container-restart-period",
    "duration",
    "",
    "Longest delay before a container starts again (gate KubeletCrashLoopBackOffMax); unset: 5m0s.",
    {
      min: 1000,
      file: "crashLoopBackOff.maxContainerRestartPeriod",
      fileOnly: true,
    },
  ),
  option(
    "shutdown-grace-period",
    "duration",
    "0s",
    "How long pods may take to end when the machine shuts down (systemd's logind); 0: it is not held up.",
    { min: 0, file: "shutdownGracePeriod", fileOnly: true },
  ),
  option(
    "shutdown-grace-period-critical-pods",
    "duration",
    "0s",
    "How much of that is kept for critical pods, which end last.",
    { min: 0, file: "shutdownGracePeriodCriticalPods", fileOnly: true },
  ),
  option(
    "shutdown-grace-period-by-pod-priority",
    "repeated",
    "",
    "The same by priority: pods of this priority and above end together within the period.",
    { file: "shutdownGracePeriodByPodPriority", fileOnly: true },
  ),
);

export const agentUpkeepOptions: OptionTable = [evictionOptions, fileOptions];
