// How many CPUs of their own a pod's containers ask for: those of a Guaranteed pod with a whole number of CPUs.
import { qosClass } from "../../../api/objects/pod-qos.ts";
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import { cpuMillis, isSidecar } from "../../pods/shape/pod-shape.ts";

/** 0: the container runs in the shared pool. */
export function exclusiveCpus(pod: Pod, { resources }: Container): number {
  if (qosClass(pod) !== "Guaranteed") return 0;
  const millis = cpuMillis({ ...resources?.limits, ...resources?.requests });
  return millis % 1000 === 0 ? millis / 1000 : 0;
}

/** The most at any one time: init containers run one by one, beside the sidecars before them. */
export function podExclusiveCpus(pod: Pod): number {
  let sidecars = 0;
  let starting = 0;
  for (const container of pod.spec.initContainers ?? []) {
    const count = exclusiveCpus(pod, container);
    if (isSidecar(container)) sidecars += count;
    else starting = Math.max(starting, sidecars + count);
  }
  const running = pod.spec.containers.reduce(
    (sum, container) => sum + exclusiveCpus(pod, container),
    sidecars,
  );
  return Math.max(starting, running);
}
