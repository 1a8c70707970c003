// Options of `orbit agent` (orbitlet). Those with a `file` path may be set in the KubeletConfiguration of --config; flags
// win. Defaults are the specification's.
import { agentNodeOptions } from "./agent/node.ts";
import { agentResourceOptions } from "./agent/resources.ts";
import { agentRuntimeOptions } from "./agent/runtime.ts";
import { agentServingOptions } from "./agent/serving.ts";
import { agentUpkeepOptions } from "./agent/upkeep.ts";
import { usedAgentOptions } from "./agent/used.ts";
import { classify, inFile } from "./build-table.ts";
import { apiClientOptions } from "./controller-manager.ts";
import { agentNetworkOptions } from "./network.ts";
import {
  gateOptions,
  loggingOptions,
  metricsOptions,
  profilingOptions,
} from "./shared.ts";
import type { OptionTable } from "./table.ts";
import { unbuiltAgentOptions } from "./unbuilt.ts";

const table: OptionTable = [
  ...agentNodeOptions,
  ...agentNetworkOptions,
  ...agentServingOptions,
  apiClientOptions("50", "100"),
  ...agentRuntimeOptions,
  ...agentResourceOptions,
  ...agentUpkeepOptions,
  ...inFile([profilingOptions, loggingOptions, metricsOptions, gateOptions], {
    profiling: "enableProfilingHandler",
    "contention-profiling": "enableContentionProfiling",
    "logging-format": "logging.format",
    "log-flush-frequency": "logging.flushFrequency",
    v: "logging.verbosity",
    vmodule: "logging.vmodule",
    "show-hidden-metrics-for-version": "showHiddenMetricsForVersion",
    "feature-gates": "featureGates",
  }),
];

export const agentOptions: OptionTable = classify(
  table,
  usedAgentOptions,
  unbuiltAgentOptions,
);
