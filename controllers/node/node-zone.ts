// The failure zone of a node: its region and zone by their labels, of which the older names go before the present ones.
import type { Node } from "../../api/types/core-v1.ts";

const regionLabels = [
  "failure-domain.beta.kubernetes.io/region",
  "topology.kubernetes.io/region",
];
const zoneLabels = [
  "failure-domain.beta.kubernetes.io/zone",
  "topology.kubernetes.io/zone",
];

/** One text a zone, as the reference joins them; empty for nodes without either label. */
export function zoneKey({ metadata: { labels = {} } }: Node): string {
  const valueOf = (names: readonly string[]): string =>
    labels[names.find((name) => labels[name] !== undefined) ?? ""] ?? "";
  const region = valueOf(regionLabels);
  const zone = valueOf(zoneLabels);
  return region === "" && zone === "" ? "" : `${region}:\0:${zone}`;
}
