// How many pods there are by what becomes of them, with the reference's names; counted at a scrape.
import { gauge } from "../../api/metrics/counted.ts";
import { Family } from "../../api/metrics/family.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { isStaticPod } from "../pods/shape/labels.ts";

interface Worker {
  readonly pod: Pod;
  readonly phase: "syncing" | "terminating" | "terminated" | "gone";
  readonly removed: boolean;
}

const lifecycles = {
  syncing: "sync",
  terminating: "terminating",
  terminated: "terminated",
  gone: "terminated",
} as const;

/** @param mirrors how many static pods have one; undefined: there is no API server */
export function workerFamilies(
  workers: readonly Worker[],
  live: readonly Worker[],
  mirrors: number | undefined,
): Family[] {
  const working = new Family(
    "kubelet_working_pods",
    "gauge",
    "Pods that are worked on, by how far they are, whether a source has them, and whether they are static.",
  );
  const active = new Family(
    "kubelet_active_pods",
    "gauge",
    "Pods that may use something of the node.",
  );
  const counts = new Map<string, number>();
  for (const { pod, phase, removed } of workers) {
    const config = removed ? "orphan" : "desired";
    const key = `${lifecycles[phase]} ${config} ${isStaticPod(pod)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  for (const lifecycle of ["sync", "terminating", "terminated"])
    for (const config of ["desired", "orphan"])
      for (const fixed of [true, false])
        working.add(
          { lifecycle, config, static: fixed ? "true" : "" },
          counts.get(`${lifecycle} ${config} ${fixed}`) ?? 0,
        );
  const fixed = live.filter(({ pod }) => isStaticPod(pod)).length;
  active.add({ static: "true" }, fixed);
  active.add({ static: "" }, live.length - fixed);
  const ephemeral = workers.reduce(
    (sum, { pod }) => sum + (pod.spec.ephemeralContainers?.length ?? 0),
    0,
  );
  return [
    working,
    active,
    gauge(
      "kubelet_managed_ephemeral_containers",
      "Ephemeral containers of the pods that are worked on.",
      ephemeral,
    ),
    gauge(
      "kubelet_mirror_pods",
      "Mirrors of static pods at the API server.",
      mirrors,
    ),
  ];
}
