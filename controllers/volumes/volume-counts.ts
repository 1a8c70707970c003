// How many volumes and claims there are, bound and not, under the reference's names (pv_collector_*); counted at a scrape.
// Their number by plug-in is left out: plug-ins are the agent's.
import { Family } from "../../api/metrics/family.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
} from "../../api/types/core-v1.ts";

const legacyClass = "volume.beta.kubernetes.io/storage-class";

const counted = (name: string, what: string): Family =>
  new Family(`pv_collector_${name}`, "gauge", `${what}, by storage class.`);

/** Adds one sample for each set of labels among them. */
function addCounts(
  family: Family,
  all: readonly Readonly<Record<string, string>>[],
): Family {
  const counts = new Map<
    string,
    { labels: Readonly<Record<string, string>>; count: number }
  >();
  for (const labels of all) {
    const key = JSON.stringify(labels);
    const known = counts.get(key);
    if (known) known.count++;
    else counts.set(key, { labels, count: 1 });
  }
  for (const { labels, count } of counts.values()) family.add(labels, count);
  return family;
}

export function volumeCounts(
  volumes: readonly PersistentVolume[],
  claims: readonly PersistentVolumeClaim[],
): Family[] {
  const volumesThat = (bound: boolean) =>
    volumes
      .filter(({ status }) => (status?.phase === "Bound") === bound)
      .map(({ spec }) => ({ storage_class: spec?.storageClassName ?? "" }));
  const claimsThat = (bound: boolean) =>
    claims
      .filter(({ status }) => (status?.phase === "Bound") === bound)
      .map(({ metadata, spec }) => ({
        namespace: metadata.namespace ?? "",
        storage_class:
          metadata.annotations?.[legacyClass] ?? spec?.storageClassName ?? "",
        volume_attributes_class: spec?.volumeAttributesClassName ?? "",
      }));
  return [
    addCounts(
      counted("bound_pv_count", "Volumes that are bound"),
      volumesThat(true),
    ),
    addCounts(
      counted("unbound_pv_count", "Volumes that are not bound"),
      volumesThat(false),
    ),
    addCounts(
      counted("bound_pvc_count", "Claims that are bound"),
      claimsThat(true),
    ),
    addCounts(
      counted("unbound_pvc_count", "Claims that are not bound"),
      claimsThat(false),
    ),
  ];
}
