// LimitPodHardAntiAffinityTopology: a pod keeps others off its node, not off a whole zone.
import { errors } from "../../../../api/errors.ts";
import type { AdmissionPlugin } from "../../plugin.ts";
import { writtenPod } from "../requests.ts";

const hostname = "kubernetes.io/hostname";

export const limitPodHardAntiAffinityTopology: AdmissionPlugin = {
  name: "LimitPodHardAntiAffinityTopology",
  validate(attributes) {
    const pod = writtenPod(attributes);
    const terms =
      pod?.spec.affinity?.podAntiAffinity
        ?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    for (const { topologyKey } of terms)
      if (topologyKey !== hostname)
        throw errors.forbidden(
          attributes.resource,
          pod?.metadata.name ?? "",
          `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${topologyKey} but only key ${hostname} is allowed`,
        );
  },
};
