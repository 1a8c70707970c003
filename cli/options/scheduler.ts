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
    option("config", "string", "", "KubeSchedulerConfiguration file."),
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
