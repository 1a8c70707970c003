// Which way the pods of each other node are reached: by a route to the node itself where it is on one of this node's links,
// else through a VXLAN over whatever the machines have between them. Pure.
//
// Worked example: this node has 192.168.7.1/24 on eth0 and pods 10.42.0.0/24. A node at 192.168.7.2 with pods 10.42.1.0/24
// gets `10.42.1.0/24 via 192.168.7.2 dev eth0`; one at 172.16.0.9 with pods 10.42.2.0/24 gets `10.42.2.0/24 via 10.42.2.0 dev
// VXLAN onlink`, where 10.42.2.0 has that node's hardware address, and frames for it go to 172.16.0.9.
import { createHash } from "node:crypto";
import { BlockList } from "node:net";
import { familyOf, type Family, type Peer } from "./peers.ts";

export type RouteMode = "auto" | "host" | "vxlan" | "wireguard";

export interface Link {
  readonly name: string;
  readonly mtu: number;
  readonly up: boolean;
  readonly addresses: readonly {
    readonly address: string;
    readonly bits: number;
  }[];
}

interface Route {
  readonly range: string;
  readonly via: string;
  readonly device: string;
  /** The gateway is none of the link's addresses, but is there. */
  readonly onlink: boolean;
}

interface Tunnel {
  readonly device: string;
  /** Of this node: where others' frames come to. */
  readonly local: string;
  readonly mtu: number;
  readonly hardwareAddress: string;
  /** This node's ends within the VXLAN. */
  readonly addresses: readonly string[];
  readonly neighbours: readonly {
    readonly address: string;
    readonly hardwareAddress: string;
  }[];
  readonly destinations: readonly {
    readonly hardwareAddress: string;
    readonly address: string;
  }[];
}

export interface RoutePlan {
  readonly routes: readonly Route[];
  readonly tunnel?: Tunnel;
  /** Names of nodes that no route leads to, and why. */
  readonly unreachable: ReadonlyMap<string, string>;
}

/** Bytes of outer Ethernet, IP, UDP and VXLAN headers. */
export const tunnelOverhead: Readonly<Record<Family, number>> = {
  4: 50,
  6: 70,
};
/** Bytes of outer IP, UDP and WireGuard headers, with the padding. */
export const wireguardOverhead: Readonly<Record<Family, number>> = {
  4: 60,
  6: 80,
};
export const smallestMtu = 1280;

const hash = (text: string): Buffer =>
  createHash("sha256").update(text).digest();

/** The same on every node: locally administered, of the node's first range. */
export function hardwareAddress(range: string): string {
  return [
    "02",
    ...hash(range).subarray(0, 5).toString("hex").match(/../g)!,
  ].join(":");
}

const base = (range: string): string => range.split("/")[0]!;

function reaches(link: Link, address: string): boolean {
  const family = familyOf(address);
  const type = family === 4 ? "ipv4" : "ipv6";
  return (
    link.up &&
    link.addresses.some((own) => {
      if (familyOf(own.address) !== family) return false;
      const list = new BlockList();
      list.addSubnet(own.address, own.bits, type);
      return list.check(address, type);
    })
  );
}

interface PlanInput {
  /** WireGuard has a plan of its own. */
  readonly mode: Exclude<RouteMode, "wireguard">;
  readonly own: Peer;
  readonly peers: readonly Peer[];
  /** Without those of pods, and without our own. */
  readonly links: readonly Link[];
  /** Name of the VXLAN's device. */
  readonly device: string;
}

export function planRoutes({
  mode,
  own,
  peers,
  links,
  device,
}: PlanInput): RoutePlan {
  const routes: Route[] = [];
  const tunnelled: { peer: Peer; range: string }[] = [];
  const unreachable = new Map<string, string>();
  for (const peer of peers)
    for (const range of peer.ranges) {
      const via = peer.addresses[familyOf(range)];
      const link =
        mode === "vxlan" || via === undefined
          ? undefined
          : links.find((each) => reaches(each, via));
      if (link && via !== undefined)
        routes.push({ range, via, device: link.name, onlink: false });
      else if (mode === "host")
        unreachable.set(
          peer.name,
          "it is on none of this node's links, and --node-routes=host allows no tunnel",
        );
      else tunnelled.push({ peer, range });
    }
  const tunnel = planTunnel(own, tunnelled, links, device, unreachable);
  for (const { peer, range } of tunnelled)
    if (tunnel && !unreachable.has(peer.name))
      routes.push({ range, via: base(range), device, onlink: true });
  return { routes, unreachable, ...(tunnel ? { tunnel } : {}) };
}

function planTunnel(
  own: Peer,
  tunnelled: readonly { peer: Peer; range: string }[],
  links: readonly Link[],
  device: string,
  unreachable: Map<string, string>,
): Tunnel | undefined {
  const family = ([4, 6] as const).find((each) => own.addresses[each]);
  const first = own.ranges[0];
  const none = (reason: string): undefined => {
    for (const { peer } of tunnelled) unreachable.set(peer.name, reason);
    return undefined;
  };
  if (tunnelled.length === 0) return undefined;
  if (family === undefined || first === undefined)
    return none("this node has no address yet");
  const local = own.addresses[family]!;
  const carrier = links.find(({ addresses }) =>
    addresses.some(({ address }) => address === local),
  );
  if (!carrier) return none(`no link has this node's address ${local}`);
  const neighbours: { address: string; hardwareAddress: string }[] = [];
  const destinations = new Map<string, string>();
  for (const { peer, range } of tunnelled) {
    const address = peer.addresses[family];
    if (address === undefined) {
      unreachable.set(peer.name, `it has no IPv${family} address`);
      continue;
    }
    const mac = hardwareAddress(peer.ranges[0]!);
    neighbours.push({ address: base(range), hardwareAddress: mac });
    destinations.set(mac, address);
  }
  return {
    device,
    local,
    mtu: Math.max(carrier.mtu - tunnelOverhead[family], smallestMtu),
    hardwareAddress: hardwareAddress(first),
    addresses: own.ranges.map(base),
    neighbours,
    destinations: [...destinations].map(([mac, address]) => ({
      hardwareAddress: mac,
      address,
    })),
  };
}
