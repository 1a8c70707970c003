// How much memory, and how many bytes of huge pages, a Guaranteed pod's containers ask for. Others get none of their own.
import { qosClass } from "../../../api/objects/pod-qos.ts";
import { parseQuantity, quantityValue } from "../../../api/quantity.ts";
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import { isSidecar } from "../../pods/shape/pod-shape.ts";

/** Bytes by resource: `memory` and `hugepages-<size>`, in the order of their names. Empty: nothing is pinned. */
export type MemoryDemand = ReadonlyMap<string, number>;

export function isMemoryResource(name: string): boolean {
  return name === "memory" || name.startsWith("hugepages-");
}

export function memoryDemand(pod: Pod, { resources }: Container): MemoryDemand {
  if (qosClass(pod) !== "Guaranteed") return new Map();
  const wanted = { ...resources?.limits, ...resources?.requests };
  return new Map(
    Object.entries(wanted)
      .filter(([name]) => isMemoryResource(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, text]) => [name, quantityValue(parseQuantity(text))]),
  );
}

/** The most at any one time, of the resources that the app containers ask for. */
export function podMemoryDemand(pod: Pod): MemoryDemand {
  const sidecars = new Map<string, number>();
  const starting = new Map<string, number>();
  const add = (to: Map<string, number>, name: string, bytes: number): void =>
    void to.set(name, (to.get(name) ?? 0) + bytes);
  for (const container of pod.spec.initContainers ?? [])
    for (const [name, bytes] of memoryDemand(pod, container))
      if (isSidecar(container)) add(sidecars, name, bytes);
      else
        starting.set(
          name,
          Math.max(starting.get(name) ?? 0, (sidecars.get(name) ?? 0) + bytes),
        );
  const running = new Map<string, number>();
  for (const container of pod.spec.containers)
    for (const [name, bytes] of memoryDemand(pod, container))
      add(running, name, bytes);
  return new Map(
    [...running].map(([name, bytes]) => [
      name,
      Math.max(bytes + (sidecars.get(name) ?? 0), starting.get(name) ?? 0),
    ]),
  );
}
