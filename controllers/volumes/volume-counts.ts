// How many volumes and claims there are, bound and not, under the reference's names (pv_collector_*); counted at a scrape.
// Their number by plug-in is left out: plug-ins are the agent's.
import { addCounts } from "../../api/metrics/counted.ts";
import { Family } from "../../api/metrics/family.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
} from "../../api/types/core-v1.ts";

const legacyClass = "volume.beta.kubernetes.io/storage-class";

const counted = (name: string, what: string): Family =>
  new Family(`pv_collector_${name}`, "gauge", `${what}, by storage class.`);

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
