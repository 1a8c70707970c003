// Where a resource holds a pod's spec.
import type { AnyObject } from "../../../../api/object.ts";
import type { PodSpec } from "../../../../api/types/core-v1.ts";

export const podSpecPaths: Readonly<Record<string, string>> = {
  "/pods": "spec",
  "/podtemplates": "template.spec",
  "/replicationcontrollers": "spec.template.spec",
  "apps/daemonsets": "spec.template.spec",
  "apps/deployments": "spec.template.spec",
  "apps/replicasets": "spec.template.spec",
  "apps/statefulsets": "spec.template.spec",
  "batch/jobs": "spec.template.spec",
  "batch/cronjobs": "spec.jobTemplate.spec.template.spec",
};

export function podSpecAt(
  object: Readonly<AnyObject>,
  path: string,
): PodSpec | undefined {
  let spec: unknown = object;
  for (const part of path.split("."))
    spec = (spec as Record<string, unknown> | undefined)?.[part];
  return spec as PodSpec | undefined;
}
