// Volumes: a pod's claims must exist, be bound where their class does not wait, and be reachable from the node; for
// claims of a class that waits, volumes must suit there or be made there (claim-plan.ts).
import { isReachable } from "../../api/objects/volumes/volume-match.ts";
import type { FilterPlugin, NodeFilter, Rejection } from "../plugin.ts";
import type { StorageState } from "./storage-state.ts";
import { unavailable } from "./claim-plan.ts";

const plugin = "VolumeBinding";

const rejection = (reason: string): Rejection => ({
  plugin,
  reasons: [reason],
  unresolvable: true,
});

export function createVolumeBindingFilter(state: StorageState): FilterPlugin {
  return {
    name: plugin,
    hints: ["node-added", "node-labels", "volume"],
    compile({ pod }): NodeFilter | undefined {
      const claims = state.claimsOf(pod);
      if (claims.length === 0) return undefined;
      const problem = claims.find((claim) => "problem" in claim);
      if (problem) {
        const rejected = { ...rejection(problem.problem), everywhere: true };
        return () => rejected;
      }
      const volumes = claims.flatMap((claim) =>
        "volume" in claim ? [claim.volume] : [],
      );
      const unbound = claims.flatMap((claim) =>
        "unbound" in claim ? [claim.unbound] : [],
      );
      const plan =
        unbound.length > 0 ? state.planner(unbound) : () => undefined;
      return (info) => {
        const { node } = info;
        if (!node || !volumes.every((volume) => isReachable(volume, node)))
          return rejection(unavailable.affinity);
        const planned = plan(info);
        return typeof planned === "string" ? rejection(planned) : undefined;
      };
    },
  };
}
