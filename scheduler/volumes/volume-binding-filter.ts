// Volumes: a pod's claims must exist, be bound where their class does not wait, and be reachable from the node; for
// claims of a class that waits, volumes must suit there or be made there (claim-plan.ts).
import { isReachable } from "../../api/objects/volumes/volume-match.ts";
import {
  rejectEverywhere,
  type FilterPlugin,
  type NodeFilter,
  type Rejection,
} from "../plugin.ts";
import { unboundImmediate, type StorageState } from "./storage-state.ts";
import { unavailable } from "./claim-plan.ts";

const plugin = "VolumeBinding";

const isMissingClaim = (problem: string): boolean =>
  /^persistentvolumeclaim "[^"]*" not found$/.test(problem);

const rejection = (...reasons: string[]): Rejection => ({
  plugin,
  reasons,
  unresolvable: true,
});

export function createVolumeBindingFilter(state: StorageState): FilterPlugin {
  return {
    name: plugin,
    hints: ["node-added", "node-labels", "volume"],
    compile({ pod }): NodeFilter | undefined {
      const claims = state.claimsOf(pod);
      if (claims.length === 0) return undefined;
      const problems = claims.flatMap((claim) =>
        "problem" in claim ? [claim.problem] : [],
      );
      // As the reference, which looks for all claims, then at each, and last at what is not bound.
      const problem =
        problems.find(isMissingClaim) ??
        problems.find((one) => one !== unboundImmediate) ??
        problems[0];
      if (problem !== undefined) return rejectEverywhere(rejection(problem));
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
        const reasons = new Set<string>();
        if (!node || !volumes.every((volume) => isReachable(volume, node)))
          reasons.add(unavailable.affinity);
        const planned = plan(info);
        if (typeof planned === "string") reasons.add(planned);
        return reasons.size > 0 ? rejection(...reasons) : undefined;
      };
    },
  };
}
