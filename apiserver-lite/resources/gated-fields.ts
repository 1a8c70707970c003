// Fields of specs whose gate is on unless it is turned off: then they are dropped when an object is written, unless the
// stored one has them already. Those of pods have a file of their own (core/pod/pod-disabled-fields.ts).
import type { AnyObject } from "../../api/object.ts";
import type { ResourceStrategy } from "./strategy.ts";

type Spec = Record<string, unknown>;

/** By group and resource, then by gate. */
const gatedFields: Readonly<
  Record<string, Readonly<Record<string, readonly string[]>>>
> = {
  "batch/jobs": {
    JobBackoffLimitPerIndex: ["backoffLimitPerIndex", "maxFailedIndexes"],
    JobManagedBy: ["managedBy"],
    JobSuccessPolicy: ["successPolicy"],
  },
  "/services": { ServiceTrafficDistribution: ["trafficDistribution"] },
};

/** @param gates those that are set */
export function withoutGatedFields(
  name: string,
  strategy: ResourceStrategy,
  gates: Readonly<Record<string, boolean>>,
): ResourceStrategy {
  const dropped = Object.entries(gatedFields[name] ?? {}).flatMap(
    ([gate, fields]) => (gates[gate] === false ? fields : []),
  );
  if (dropped.length === 0) return strategy;
  const drop = (object: AnyObject, old?: Readonly<AnyObject>): void => {
    const spec = object["spec"] as Spec | undefined;
    const before = old?.["spec"] as Spec | undefined;
    for (const field of dropped)
      if (spec && field in spec && before?.[field] === undefined)
        delete spec[field];
  };
  return {
    ...strategy,
    prepareForCreate(object, context) {
      drop(object);
      return strategy.prepareForCreate?.(object, context);
    },
    prepareForUpdate(object, old, context) {
      drop(object, old);
      return strategy.prepareForUpdate?.(object, old, context);
    },
  };
}
