// How many devices containers and pods ask for. Devices can't be overcommitted, so that limits name them all. Pure.
import { parseQuantity, quantityValue } from "../../../api/quantity.ts";
import type {
  PodSpec,
  ResourceRequirements,
} from "../../../api/types/core-v1.ts";

type Requests = Map<string, number>;

/** In the order of the resources' names. */
export function containerRequests(
  resources: ResourceRequirements | undefined,
  isDeviceResource: (name: string) => boolean,
): Requests {
  const limits = resources?.limits ?? {};
  const wanted: Requests = new Map();
  for (const name of Object.keys(limits).sort()) {
    const count = quantityValue(parseQuantity(limits[name] ?? "0"));
    if (count > 0 && isDeviceResource(name)) wanted.set(name, count);
  }
  return wanted;
}

/** At most at one time: sidecars run beside all that start after them, other init containers one after another. */
export function podRequests(
  spec: PodSpec,
  isDeviceResource: (name: string) => boolean,
): Requests {
  const of = (resources: ResourceRequirements | undefined): Requests =>
    containerRequests(resources, isDeviceResource);
  let sidecars: Requests = new Map();
  let most: Requests = new Map();
  for (const { resources, restartPolicy } of spec.initContainers ?? []) {
    const together = sum(sidecars, of(resources));
    most = larger(most, together);
    if (restartPolicy === "Always") sidecars = together;
  }
  const running = spec.containers.reduce(
    (total, { resources }) => sum(total, of(resources)),
    sidecars,
  );
  return larger(most, running);
}

function sum(a: Requests, b: Requests): Requests {
  const total = new Map(a);
  for (const [name, count] of b)
    total.set(name, (total.get(name) ?? 0) + count);
  return total;
}

function larger(a: Requests, b: Requests): Requests {
  const most = new Map(a);
  for (const [name, count] of b)
    most.set(name, Math.max(most.get(name) ?? 0, count));
  return most;
}
