// Which service an EndpointSlice belongs to.
import type { EndpointSlice } from "../api/types/discovery-v1.ts";

const serviceLabel = "kubernetes.io/service-name";

/** An index: `namespace/name` of the slice's service, or nothing. */
export function ownEndpointSlices({
  metadata,
}: EndpointSlice): readonly string[] {
  const name = metadata.labels?.[serviceLabel];
  return name ? [`${metadata.namespace ?? ""}/${name}`] : [];
}
