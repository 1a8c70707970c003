// What this process's own rights mean for the resources of containers.
import { readFileSync } from "node:fs";
import { hasSysResource } from "./linux-resources.ts";

/** Our own oom_score_adj, below which no child may go where CAP_SYS_RESOURCE is missing; undefined: no bound. */
export function lowestOomScoreAdj(): number | undefined {
  try {
    if (hasSysResource(readFileSync("/proc/self/status", "utf8")))
      return undefined;
    return Number(readFileSync("/proc/self/oom_score_adj", "utf8"));
  } catch {
    return undefined;
  }
}
