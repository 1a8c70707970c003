// The machine's links, as the kernel describes them.
import { queryJson, type RunProgram } from "../links/ip-command.ts";
import type { Link } from "./route-plan.ts";

export interface LinkAnswer {
  readonly ifname?: string;
  readonly flags?: readonly string[];
  readonly mtu?: number;
  readonly address?: string;
  readonly addr_info?: readonly {
    readonly local?: string;
    readonly prefixlen?: number;
    readonly scope?: string;
  }[];
  readonly linkinfo?: {
    readonly info_kind?: string;
    readonly info_data?: {
      readonly id?: number;
      readonly local?: string;
      readonly local6?: string;
    };
  };
}

export function allLinks(run: RunProgram): Promise<LinkAnswer[]> {
  return queryJson<LinkAnswer>(run, ["ip", "-d", "-j", "address", "show"]);
}

/** The node's links to others; those of pods, of loopback and our own are left out. */
export async function nodeLinks(run: RunProgram): Promise<Link[]> {
  return (await allLinks(run))
    .filter(
      ({ ifname = "", flags = [] }) =>
        !flags.includes("LOOPBACK") && !/^(veth|cni|orbit-)/.test(ifname),
    )
    .map(({ ifname = "", flags = [], mtu = 1500, addr_info = [] }) => ({
      name: ifname,
      mtu,
      up: flags.includes("UP") && flags.includes("LOWER_UP"),
      addresses: addr_info.flatMap(({ local, prefixlen, scope }) =>
        local !== undefined && prefixlen !== undefined && scope !== "link"
          ? [{ address: local, bits: prefixlen }]
          : [],
      ),
    }));
}
