// Volumes that carry the label of a zone or region, as provisioners for clouds made them: the pod has to go to a node with
// the same. A volume over several zones names them with "__" between. Nodes without any such label take all volumes.
import type { PersistentVolume } from "../../api/types/core-v1.ts";
import type { FilterPlugin, Rejection } from "../plugin.ts";
import type { StorageState } from "./storage-state.ts";

const plugin = "VolumeZone";
/** The older names of the same labels. */
const newer: Readonly<Record<string, string>> = {
  "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
};
const topologyLabels = [...Object.keys(newer), ...Object.values(newer)];

interface Topology {
  readonly key: string;
  readonly values: ReadonlySet<string>;
}

/** A text with an empty part says nothing, as in the reference. */
function topologiesOf({ metadata }: PersistentVolume): Topology[] {
  return topologyLabels.flatMap((key) => {
    const parts = metadata.labels?.[key]?.split("__").map((one) => one.trim());
    return parts?.every((one) => one !== "")
      ? [{ key, values: new Set(parts) }]
      : [];
  });
}

export function createVolumeZoneFilter(state: StorageState): FilterPlugin {
  const rejected: Rejection = {
    plugin,
    reasons: ["node(s) had no available volume zone"],
    unresolvable: true,
  };
  return {
    name: plugin,
    hints: ["node-added", "node-labels", "volume"],
    compile({ pod }) {
      const wanted = state
        .claimsOf(pod)
        .flatMap((claim) =>
          "volume" in claim ? topologiesOf(claim.volume) : [],
        );
      if (wanted.length === 0) return undefined;
      return ({ node }) => {
        const labels = node?.metadata.labels ?? {};
        if (!topologyLabels.some((key) => key in labels)) return undefined;
        const fits = wanted.every(({ key, values }) => {
          const value = labels[key] ?? labels[newer[key] ?? key];
          return value !== undefined && values.has(value);
        });
        return fits ? undefined : rejected;
      };
    },
  };
}
