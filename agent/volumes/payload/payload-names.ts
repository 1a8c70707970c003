// The ConfigMaps and Secrets that a pod's volumes are made of.
import type { Pod } from "../../../api/types/core-v1.ts";

export interface ObjectName {
  /** configmaps or secrets */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

export function payloadNames({ metadata, spec }: Pod): ObjectName[] {
  const namespace = metadata.namespace ?? "default";
  const named = (resource: string, name: string | undefined): ObjectName[] =>
    name ? [{ resource, namespace, name }] : [];
  return (spec.volumes ?? []).flatMap(({ configMap, secret, projected }) => [
    ...named("configmaps", configMap?.name),
    ...named("secrets", secret?.secretName),
    ...(projected?.sources ?? []).flatMap((each) => [
      ...named("configmaps", each.configMap?.name),
      ...named("secrets", each.secret?.name),
    ]),
  ]);
}
