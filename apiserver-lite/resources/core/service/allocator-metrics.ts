// How many addresses and node ports of services are given out and free, and how giving them out went, with the reference's
// names. The numbers are those that this server knows of; where others write to the store too, it follows them.
import { Family } from "../../../../api/metrics/family.ts";
import type { NumberCounts } from "./number-pool.ts";
import type { ServiceAllocators } from "./service-ip-allocator.ts";

interface Counted {
  readonly counts: NumberCounts;
  readonly used: number;
  readonly size: number;
}

const scopes = ["static", "dynamic"] as const;

function families(
  prefix: string,
  things: string,
  pools: readonly (readonly [Readonly<Record<string, string>>, Counted])[],
): Family[] {
  const gauge = (
    name: string,
    help: string,
    value: (pool: Counted) => number,
  ): Family => {
    const family = new Family(`${prefix}_${name}`, "gauge", help);
    for (const [labels, pool] of pools) family.add(labels, value(pool));
    return family;
  };
  const counter = (
    name: string,
    help: string,
    kind: "taken" | "refused",
  ): Family => {
    const family = new Family(`${prefix}_${name}`, "counter", help);
    for (const [labels, { counts }] of pools)
      for (const scope of scopes)
        if (counts[scope][kind] > 0)
          family.add({ ...labels, scope }, counts[scope][kind]);
    return family;
  };
  return [
    gauge(
      `allocated_${things}`,
      `[ALPHA] How many ${things} services have.`,
      ({ used }) => used,
    ),
    gauge(
      `available_${things}`,
      `[ALPHA] How many ${things} are free.`,
      ({ used, size }) => size - used,
    ),
    counter(
      "allocation_total",
      `[ALPHA] How many ${things} were given out: asked for by their number (static) or not (dynamic).`,
      "taken",
    ),
    counter(
      "allocation_errors_total",
      `[ALPHA] How many ${things} could not be given out, as they were taken or none was free.`,
      "refused",
    ),
  ];
}

export function allocatorFamilies({ ips, ports }: ServiceAllocators): Family[] {
  return [
    ...families(
      "kube_apiserver_clusterip_allocator",
      "ips",
      ips.map(({ cidr, pool }) => [{ cidr }, pool]),
    ),
    ...families("kube_apiserver_nodeport_allocator", "ports", [
      [{}, ports.pool],
    ]),
  ];
}
