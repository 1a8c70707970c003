// What the volumes of pods are and how long making them took, with the reference's names. The plug-ins that do the work are
// observed: a claim counts as the type that it is bound to.
import { Counters, Histograms } from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";
import type { VolumePlugin, VolumeRequest } from "./volume-plugin.ts";

/** The reference's names of plug-ins, where they are not made of the field's name. */
const pluginNames: Readonly<Partial<Record<VolumePlugin["field"], string>>> = {
  configMap: "configmap",
  downwardAPI: "downward-api",
  emptyDir: "empty-dir",
  hostPath: "host-path",
  local: "local-volume",
};

/** Of a driver of CSI the name follows. */
function nameOf({ field }: VolumePlugin, { source }: VolumeRequest): string {
  const name = `kubernetes.io/${pluginNames[field] ?? field}`;
  return source.csi ? `${name}:${source.csi.driver}` : name;
}

interface Counted {
  readonly plugin: string;
  mounted: boolean;
}

export class VolumeMetrics {
  /** By uid, then by the volume's name. */
  readonly #volumes = new Map<string, Map<string, Counted>>();
  readonly #operations = new Histograms(
    {
      name: "storage_operation_duration_seconds",
      help: "How long operations on volumes took, by plug-in and result.",
      labels: ["volume_plugin", "operation_name", "status", "migrated"],
    },
    [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
  );

  /** The same plug-in; its mounts are counted. */
  observe(plugin: VolumePlugin): VolumePlugin {
    return {
      ...plugin,
      mount: async (request) => {
        const name = nameOf(plugin, request);
        const counted = this.#begun(request, name);
        const startMs = performance.now();
        const ended = (status: string): void =>
          this.#operations.observe(
            (performance.now() - startMs) / 1000,
            ...[name, "volume_mount", status, "false"],
          );
        try {
          const mounted = await plugin.mount(request);
          counted.mounted = true;
          ended("success");
          return mounted;
        } catch (error) {
          ended("fail-unknown");
          throw error;
        }
      },
    };
  }

  #begun({ pod, name }: VolumeRequest, plugin: string): Counted {
    const uid = pod.metadata.uid ?? "";
    let ofPod = this.#volumes.get(uid);
    if (!ofPod) this.#volumes.set(uid, (ofPod = new Map()));
    let counted = ofPod.get(name);
    if (!counted) ofPod.set(name, (counted = { plugin, mounted: false }));
    return counted;
  }

  /** The pod's volumes are gone. */
  forget(uid: string): void {
    this.#volumes.delete(uid);
  }

  families(): Family[] {
    const wanted = new Counters(
      {
        name: "volume_manager_total_volumes",
        help: "Volumes of pods by plug-in: those that are wanted, and those that are there.",
        labels: ["plugin_name", "state"],
      },
      "gauge",
    );
    for (const ofPod of this.#volumes.values())
      for (const { plugin, mounted } of ofPod.values()) {
        wanted.count(plugin, "desired_state_of_world");
        wanted.add(mounted ? 1 : 0, plugin, "actual_state_of_world");
      }
    return [wanted.family(), this.#operations.family()];
  }
}
