// Options of `orbit scheduler`.
import { group, classify, option } from "./build-table.ts";
import {
  apiClientOptions,
  delegatedAccessOptions,
  leaderElectionOptions,
} from "./controller-manager.ts";
import { usedPortOptions } from "./controller-manager/used.ts";
import {
  gateOptions,
  loggingOptions,
  profilingOptions,
  tlsOptions,
} from "./shared.ts";
import type { OptionTable } from "./table.ts";
import { unbuiltSchedulerOptions } from "./unbuilt.ts";

const table: OptionTable = [
  group(
    "Serving",
    option(
      "secure-port",
      "int",
      "10259",
      "HTTPS port of health and metrics; 0 disables.",
      { min: 0, max: 65535 },
    ),
    option("bind-address", "string", "0.0.0.0", "Address of the HTTPS port."),
    option(
      "config",
      "string",
      "",
      "KubeSchedulerConfiguration file (kubescheduler.config.k8s.io/v1). Beside it the options of leader election count; --kubeconfig, --kube-api-content-type, --kube-api-qps, --kube-api-burst and --profiling do not: the file says that.",
    ),
    option(
      "write-config-to",
      "string",
      "",
      "File that the configuration is written to, with its defaults; the program ends then. Without meaning inside of `orbit server`.",
    ),
    option(
      "pod-max-in-unschedulable-pods-duration",
      "duration",
      "5m",
      "How long a pod that fits nowhere waits for an event before it is tried again.",
      { min: 1 },
    ),
  ),
  apiClientOptions("50", "100"),
  leaderElectionOptions,
  delegatedAccessOptions,
  tlsOptions("/var/run/orbit"),
  profilingOptions,
  loggingOptions,
  gateOptions,
];

const usedSchedulerOptions: readonly string[] = [
  ...usedPortOptions,
  "config",
  "write-config-to",
  "pod-max-in-unschedulable-pods-duration",
  "feature-gates",
  "emulated-version",
  "leader-elect",
  "leader-elect-lease-duration",
  "leader-elect-renew-deadline",
  "leader-elect-retry-period",
  "leader-elect-resource-lock",
  "leader-elect-resource-name",
  "leader-elect-resource-namespace",
  "logging-format",
  "v",
  "log-flush-frequency",
  "vmodule",
  "profiling",
  "kubeconfig",
  "master",
];

export const schedulerOptions: OptionTable = classify(
  table,
  usedSchedulerOptions,
  unbuiltSchedulerOptions,
);
