// Templates of pods lose the fields of features that are off when they are written, as pods do themselves.
import type { ResourceStrategy } from "../../strategy.ts";
import { dropDisabledFields, type PodFeatures } from "./pod-disabled-fields.ts";
import { podSpecAt, podSpecPaths } from "./pod-spec-paths.ts";

/** The strategy of a resource that holds a template; any other is returned as it is. */
export function withoutDisabledFields(
  group: string,
  resource: string,
  strategy: ResourceStrategy,
  features: PodFeatures,
): ResourceStrategy {
  const path = podSpecPaths[`${group}/${resource}`];
  if (!path || path === "spec") return strategy;
  return {
    ...strategy,
    prepareForCreate(object, context) {
      dropDisabledFields(podSpecAt(object, path), features);
      return strategy.prepareForCreate?.(object, context);
    },
    prepareForUpdate(object, old, context) {
      dropDisabledFields(
        podSpecAt(object, path),
        features,
        podSpecAt(old, path),
      );
      return strategy.prepareForUpdate?.(object, old, context);
    },
  };
}
