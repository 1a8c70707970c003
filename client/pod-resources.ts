// What a pod asks for, as the scheduler, quotas and the node agent count it: the sum of its containers and restartable
// init containers, or the largest moment of its init phase, plus overhead. CPU is in millicores, all else in whole units.
import { quantityMilliValue, quantityValue } from "../api/quantity.ts";
import type { Container, PodSpec } from "../api/types/core-v1.ts";

export type Resources = Map<string, number>;

/** For scoring only: what a container that asks for nothing is counted with. */
const unspecified = { cpu: 100, memory: 200 * 1024 * 1024 };

/** A quantity as a number in the unit of its resource: millicores for cpu, else bytes or pieces. */
export function resourceAmount(
  name: string,
  quantity: string | number,
): number {
  return name === "cpu"
    ? quantityMilliValue(quantity)
    : quantityValue(quantity);
}

export function toResources(
  list: Readonly<Record<string, string | number>> | undefined,
): Resources {
  const resources: Resources = new Map();
  for (const [name, quantity] of Object.entries(list ?? {}))
    resources.set(name, resourceAmount(name, quantity));
  return resources;
}

export function addResources(to: Resources, what: Resources, sign = 1): void {
  for (const [name, amount] of what)
    to.set(name, (to.get(name) ?? 0) + sign * amount);
}

function raiseTo(to: Resources, what: Resources): void {
  for (const [name, amount] of what)
    if (amount > (to.get(name) ?? 0)) to.set(name, amount);
}

const plain = (container: Container): Resources =>
  toResources(container.resources?.requests);

function nonZero(container: Container): Resources {
  const requests = plain(container);
  for (const [name, amount] of Object.entries(unspecified))
    if (!requests.has(name)) requests.set(name, amount);
  return requests;
}

export function podRequests(
  spec: PodSpec,
  options: { nonZero?: boolean } = {},
): Resources {
  const ask = options.nonZero ? nonZero : plain;
  const total: Resources = new Map();
  for (const container of spec.containers) addResources(total, ask(container));
  // Init containers run one by one; those that restart always stay beside what follows.
  const sidecars: Resources = new Map();
  const initPeak: Resources = new Map();
  for (const container of spec.initContainers ?? []) {
    const requests = ask(container);
    if (container.restartPolicy === "Always") {
      addResources(total, requests);
      addResources(sidecars, requests);
      raiseTo(initPeak, sidecars);
    } else {
      addResources(requests, sidecars);
      raiseTo(initPeak, requests);
    }
  }
  raiseTo(total, initPeak);
  addResources(total, toResources(spec.overhead));
  return total;
}
