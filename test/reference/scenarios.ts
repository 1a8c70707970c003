// All scenarios; each file in scenarios/ is one part of the interface.
import type { Scenario } from "./scenario.ts";
import { configMaps } from "./scenarios/config-maps.ts";
import { jsonPatch } from "./scenarios/json-patch.ts";
import { mergePatch } from "./scenarios/merge-patch.ts";
import { workloads } from "./scenarios/workloads.ts";

export const scenarios: readonly Scenario[] = [
  configMaps,
  jsonPatch,
  mergePatch,
  workloads,
];
