// How many pods there are by what becomes of them, with the reference's names; counted at a scrape.
import { gauge } from "../../api/metrics/counted.ts";
import { Family } from "../../api/metrics/family.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { isStaticPod } from "../pods/shape/labels.ts";

interface Worker {
  readonly pod: Pod;
  readonly phase: "syncing" | "terminating" | "terminated" | "gone";
  /** No source has it any more. */
  readonly removed: boolean;
  /** No source has had it since the agent began: it was found in the runtime. */
  readonly runtimeOnly: boolean;
}

const lifecycles = {
  syncing: "sync",
  terminating: "terminating",
  terminated: "terminated",
  gone: "terminated",
} as const;

const staticLabels = ["true", ""] as const;
const staticLabel = ({ pod }: Worker): "true" | "" =>
  isStaticPod(pod) ? "true" : "";

/**
 * A pod that no source has any more is neither desired nor active, although its containers may still run.
 * @param mirrors how many static pods have one; undefined: there is no API server
 */
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
  const counts = new Map<string, number>();
  for (const worker of workers) {
    const config = worker.removed ? "orphan" : "desired";
    const of = worker.runtimeOnly
      ? "runtime_only unknown"
      : `${config} ${staticLabel(worker)}`;
    const key = `${lifecycles[worker.phase]} ${of}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  for (const lifecycle of ["sync", "terminating", "terminated"])
    for (const [config, label] of [
      ...staticLabels.map((label) => ["desired", label] as const),
      ...staticLabels.map((label) => ["orphan", label] as const),
      ["runtime_only", "unknown"] as const,
    ])
      working.add(
        { lifecycle, config, static: label },
        counts.get(`${lifecycle} ${config} ${label}`) ?? 0,
      );
  const desired = byStatic(
    "kubelet_desired_pods",
    "[ALPHA] The number of pods the kubelet is being instructed to run. static is true if the pod is not from the apiserver.",
    workers,
  );
  const active = byStatic(
    "kubelet_active_pods",
    "Pods that may use something of the node.",
    live,
  );
  const ephemeral = workers.reduce(
    (sum, { pod }) => sum + (pod.spec.ephemeralContainers?.length ?? 0),
    0,
  );
  return [
    working,
    desired,
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

/** Those that a source has. */
function byStatic(
  name: string,
  help: string,
  workers: readonly Worker[],
): Family {
  const family = new Family(name, "gauge", help);
  const wanted = workers.filter(({ removed }) => !removed);
  for (const label of staticLabels)
    family.add(
      { static: label },
      wanted.filter((worker) => staticLabel(worker) === label).length,
    );
  return family;
}
