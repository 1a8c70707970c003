// Options of `orbit scheduler`.
import { group, markUnused, option } from "./build-table.ts";
import {
  apiClientOptions,
  leaderElectionOptions,
} from "./controller-manager.ts";
import { gateOptions, loggingOptions, profilingOptions } from "./shared.ts";
import type { OptionTable } from "./table.ts";

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
  profilingOptions,
  loggingOptions,
  gateOptions,
];

export const usedSchedulerOptions: readonly string[] = [
  "logging-format",
  "v",
  "log-flush-frequency",
  "kubeconfig",
  "master",
];

export const schedulerOptions: OptionTable = markUnused(
  table,
  usedSchedulerOptions,
);
