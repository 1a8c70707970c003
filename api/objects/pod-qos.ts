// Quality of service: how sure a pod is of what it asked for. The API server writes it, the node agent makes cgroups and
// oom scores of it, quotas count by it.
import { QuantityError, quantityMilliValue } from "../quantity.ts";
import type { Pod } from "../types/core-v1.ts";

export type QosClass = "Guaranteed" | "Burstable" | "BestEffort";

/**
 * Guaranteed: every container, or the pod as a whole, has limits of cpu and memory that equal its requests; BestEffort: none asks for either.
 * A request that is not given is its limit, as the API server defaults it (pods from files may not have been there).
 */
export function qosClass({ spec }: Pick<Pod, "spec">): QosClass {
  let any = false;
  let guaranteed = true;
  // What the pod says as a whole counts alone.
  const parts = spec.resources
    ? [spec]
    : [...(spec.initContainers ?? []), ...spec.containers];
  for (const { resources } of parts)
    for (const name of ["cpu", "memory"]) {
      const limit = positive(resources?.limits?.[name]);
      const asked = resources?.requests?.[name];
      const request = asked === undefined ? limit : positive(asked);
      if (limit !== undefined || request !== undefined) any = true;
      if (limit === undefined || request !== limit) guaranteed = false;
    }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

/** Thousandths; undefined for nothing, and for what is no quantity, which validation reports. */
function positive(quantity: string | undefined): number | undefined {
  if (quantity === undefined) return undefined;
  try {
    const milli = quantityMilliValue(quantity);
    return milli > 0 ? milli : undefined;
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}
