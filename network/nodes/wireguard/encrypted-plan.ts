// Which peers and routes WireGuard gets, out of the Nodes. Pure. What a Node announces is believed only where it takes nothing
// from another: the older Node has a range, and a key. What is refused is left out; the other nodes go on.
//
// Every accepted range has a refusing route, beside the one to the device where its node can be reached: packets for it never
// leave by another link.
//
// Worked example: this node has 192.168.7.1 and pods 10.42.0.0/24. A node at 192.168.7.2 with pods 10.42.1.0/24 and the key K
// gets the peer K with the endpoint 192.168.7.2:51820, and its range the routes `unreachable 10.42.1.0/24 metric …` and
// `10.42.1.0/24 dev DEVICE`. Without the key it gets the first route alone.
import { addressKind } from "../../../api/address-kind.ts";
import {
  addressNumber,
  addressText,
  canonicalAddress,
  cidrRange,
  overlap,
  type AddressRange,
} from "../../../api/addresses/address-range.ts";
import type { Node } from "../../../api/types/core-v1.ts";
import { announcedRanges, familyOf, peerOf, type Peer } from "../peers.ts";
import { smallestMtu, wireguardOverhead, type Link } from "../route-plan.ts";
import type { RouteEntry } from "../route-table.ts";
import { isWireguardKey } from "./key-pair.ts";

/** Of a Node: the public key of its WireGuard. */
export const publicKeyAnnotation = "orbit.io/wireguard-public-key";

/** Where no link has the node's address yet. */
const unknownMtu = 1500;

/** What a Node says of itself, as it is written. */
export interface Announcement {
  readonly name: string;
  readonly ranges: readonly string[];
  readonly addresses: Peer["addresses"];
  readonly publicKey: string | undefined;
  /** When its Node was made: the older one has what two announce. */
  readonly since: string;
}

export interface WireguardPeer {
  readonly publicKey: string;
  /** ADDRESS:PORT, as `wg` writes it. */
  readonly endpoint: string;
  readonly ranges: readonly string[];
}

export interface EncryptedPlan {
  readonly mtu: number;
  /** This node's ends within the network. */
  readonly addresses: readonly string[];
  readonly peers: readonly WireguardPeer[];
  /** To the device, and refusing ones. */
  readonly routes: readonly RouteEntry[];
  /** Of all other nodes, reached or not. */
  readonly ranges: readonly string[];
  /** Names of nodes whose pods are not reached, and why. */
  readonly unreachable: ReadonlyMap<string, string>;
  /** Names of nodes that announce what is not believed, and what. */
  readonly refused: ReadonlyMap<string, string>;
}

interface PlanInput {
  readonly own: {
    readonly name: string;
    readonly ranges: readonly string[];
    readonly addresses: Peer["addresses"];
    readonly publicKey: string;
  };
  readonly others: readonly Announcement[];
  /** Of the cluster's pods and Services, as far as they are known. */
  readonly clusterRanges: readonly string[];
  readonly serviceRanges: readonly string[];
  /** Without those of pods, and without our own. */
  readonly links: readonly Link[];
  readonly device: string;
  /** UDP port of every node. */
  readonly port: number;
}

export function announcementOf(node: Node): Announcement {
  return {
    name: node.metadata.name,
    ranges: announcedRanges(node),
    addresses: peerOf(node).addresses,
    publicKey: node.metadata.annotations?.[publicKeyAnnotation],
    since: node.metadata.creationTimestamp ?? "",
  };
}

const parsed = (texts: readonly string[]): AddressRange[] =>
  texts.map(cidrRange).filter((range) => range !== undefined);

const holds = (range: AddressRange, address: string): boolean => {
  const found = cidrRange(`${address}/${familyOf(address) === 4 ? 32 : 128}`);
  return found !== undefined && overlap(range, found);
};

/** What belongs to whom so far; the first to ask has it. */
class Claims {
  readonly #ranges: { range: AddressRange; owner: string }[] = [];
  /** Of this machine's links: ranges of pods may lie in them where the cluster's are known. */
  readonly #links: { range: AddressRange; owner: string }[];
  readonly #addresses: { address: string; owner: string }[] = [];
  readonly #keys = new Map<string, string>();
  readonly #cluster: readonly AddressRange[];

  constructor({ own, clusterRanges, serviceRanges, links }: PlanInput) {
    this.#cluster = parsed(clusterRanges);
    const owned = (texts: readonly string[], owner: string) =>
      parsed(texts).map((range) => ({ range, owner }));
    this.#ranges.push(
      ...owned(own.ranges, "this node's pods"),
      ...owned(serviceRanges, "Services"),
    );
    this.#links = links.flatMap(({ name, addresses }) =>
      owned(
        addresses.map(({ address, bits }) => `${address}/${bits}`),
        `the link ${name}`,
      ),
    );
    for (const address of Object.values(own.addresses))
      this.#addresses.push({ address, owner: "this node" });
    this.#keys.set(own.publicKey, "this node");
  }

  /** The one form of the range, or why it is refused. */
  range(text: string, name: string): { range: string } | { reason: string } {
    const refuse = (why: string) => ({ reason: `its range ${text} ${why}` });
    const found = cidrRange(text);
    const [base = "", bits] = text.split("/");
    if (!found) return refuse("is no range of addresses");
    if (Number(bits) < 8) return refuse("is too wide");
    if (found.first !== addressNumber(base))
      return refuse("is not written with its first address");
    const { family } = found;
    const cluster = this.#cluster.filter((each) => each.family === family);
    if (
      cluster.length > 0 &&
      !cluster.some(
        ({ first, last }) => first <= found.first && found.last <= last,
      )
    )
      return refuse("lies outside of the cluster's ranges of pods");
    const taken =
      [...this.#ranges, ...(cluster.length > 0 ? [] : this.#links)].find(
        ({ range }) => overlap(range, found),
      ) ?? this.#addresses.find(({ address }) => holds(found, address));
    if (taken) return refuse(`overlaps what belongs to ${taken.owner}`);
    this.#ranges.push({ range: found, owner: `the node ${name}` });
    return { range: `${addressText(found.first, family)}/${Number(bits)}` };
  }

  /** Why the node can't be reached there; undefined: it can. */
  address(address: string, name: string): string | undefined {
    if (addressKind(address) !== "outside")
      return `its address ${address} leads to no other machine`;
    if (this.#addresses.some((each) => each.address === address))
      return `its address ${address} is another node's`;
    const inPods = this.#ranges.find(({ range }) => holds(range, address));
    if (inPods) return `its address ${address} belongs to ${inPods.owner}`;
    this.#addresses.push({ address, owner: `the node ${name}` });
    return undefined;
  }

  /** Why it is refused; undefined: it is the node's. */
  key(publicKey: string, name: string): string | undefined {
    if (!isWireguardKey(publicKey))
      return `its annotation ${publicKeyAnnotation} is no key`;
    const owner = this.#keys.get(publicKey);
    if (owner !== undefined) return `its key is that of ${owner}`;
    this.#keys.set(publicKey, `the node ${name}`);
    return undefined;
  }
}

const byAge = (a: Announcement, b: Announcement): number =>
  a.since === b.since ? (a.name < b.name ? -1 : 1) : a.since < b.since ? -1 : 1;

/** The first family that both have. */
function endpointAddress(
  own: Peer["addresses"],
  other: Peer["addresses"],
): string | undefined {
  for (const family of [4, 6] as const) {
    const address = own[family] === undefined ? undefined : other[family];
    if (address !== undefined) return canonicalAddress(address);
  }
  return undefined;
}

export function planEncrypted(input: PlanInput): EncryptedPlan {
  const { own, device, port, links } = input;
  const claims = new Claims(input);
  const peers: WireguardPeer[] = [];
  const ranges: string[] = [];
  const reached: string[] = [];
  const unreachable = new Map<string, string>();
  const refused = new Map<string, string>();
  let widest = 0;
  for (const node of input.others.toSorted(byAge)) {
    const { name, publicKey } = node;
    const reasons: string[] = [];
    const accepted: string[] = [];
    for (const text of node.ranges) {
      const answer = claims.range(text, name);
      if ("range" in answer) accepted.push(answer.range);
      else reasons.push(answer.reason);
    }
    ranges.push(...accepted);
    const address = endpointAddress(own.addresses, node.addresses);
    const badAddress = address && claims.address(address, name);
    const badKey = publicKey && claims.key(publicKey, name);
    if (badAddress) reasons.push(badAddress);
    if (badKey) reasons.push(badKey);
    if (reasons.length > 0) refused.set(name, reasons.join("; "));
    if (accepted.length === 0) continue;
    if (!address || badAddress)
      unreachable.set(
        name,
        badAddress || "it has no address of a family that this node has",
      );
    else if (!publicKey || badKey)
      unreachable.set(name, badKey || "it has published no WireGuard key");
    else {
      const six = familyOf(address) === 6;
      widest = Math.max(widest, wireguardOverhead[six ? 6 : 4]);
      peers.push({
        publicKey,
        endpoint: `${six ? `[${address}]` : address}:${port}`,
        ranges: accepted,
      });
      reached.push(...accepted);
    }
  }
  const refusing = new Set([
    ...parsed(input.clusterRanges).map(rangeText),
    ...ranges,
  ]);
  return {
    mtu: mtuOf(own.addresses, links, widest),
    addresses: own.ranges.map((range) => range.split("/")[0]!),
    peers,
    ranges,
    routes: [
      ...[...refusing].map((range) => ({ range })),
      ...reached.map((range) => ({ range, device })),
    ],
    unreachable,
    refused,
  };
}

function rangeText({ family, first, last }: AddressRange): string {
  const width = family === "IPv4" ? 32 : 128;
  const hostBits = (last - first).toString(2).replace(/^0$/, "").length;
  return `${addressText(first, family)}/${width - hostBits}`;
}

/** @param overhead 0: there is no peer yet */
function mtuOf(
  own: Peer["addresses"],
  links: readonly Link[],
  overhead: number,
): number {
  const carriers = links.filter(({ addresses }) =>
    addresses.some(({ address }) => Object.values(own).includes(address)),
  );
  const size = Math.min(...carriers.map(({ mtu }) => mtu), Infinity);
  return Math.max(
    (Number.isFinite(size) ? size : unknownMtu) -
      (overhead || wireguardOverhead[own[4] === undefined ? 6 : 4]),
    smallestMtu,
  );
}
