// A NetworkPolicy as it is evaluated: selectors parsed, ports as ranges, defaults applied. What can't be read allows
// nothing, and a pod selector that can't be read selects every pod of the namespace: a mistake never opens anything.
import { selectorFromObject, type Selector } from "../../api/selectors.ts";
import type { LabelSelector } from "../../api/types/meta-v1.ts";
import type {
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  NetworkPolicySpec,
} from "../../api/types/networking-v1.ts";
import { addressBlocks, type AddressBlocks } from "./address-blocks.ts";

export const protocols = ["tcp", "udp", "sctp"] as const;
type Protocol = (typeof protocols)[number];

export interface PortRange {
  readonly protocol: Protocol;
  readonly first: number;
  readonly last: number;
}

/** A port that each pod names itself. */
export interface NamedPort {
  readonly protocol: Protocol;
  readonly name: string;
}

/** Pods by their labels and those of their namespaces. */
export interface PodSelection {
  /** The same for selections of the same pods. */
  readonly key: string;
  /** The only namespace; undefined: those that `namespaces` selects. */
  readonly namespace?: string;
  readonly namespaces?: Selector;
  readonly pods: Selector;
}

export interface PolicyRule {
  /** Undefined: everybody. */
  readonly peers?: {
    readonly pods: readonly PodSelection[];
    readonly blocks: AddressBlocks;
  };
  /** Undefined: every port of every protocol. */
  readonly ports?: {
    readonly numbers: readonly PortRange[];
    readonly names: readonly NamedPort[];
  };
}

export interface CompiledPolicy {
  /** Of its own in this process. */
  readonly serial: number;
  readonly selects: Selector;
  /** Undefined: the policy says nothing about this direction. */
  readonly ingress?: readonly PolicyRule[];
  readonly egress?: readonly PolicyRule[];
}

const nothing = selectorFromObject(undefined);
const everything = selectorFromObject({});

function selectorOr(
  selector: Readonly<LabelSelector> | undefined,
  otherwise: Selector,
): Selector {
  try {
    return selectorFromObject(selector);
  } catch {
    return otherwise;
  }
}

function podSelection(
  { podSelector, namespaceSelector }: NetworkPolicyPeer,
  namespace: string,
): PodSelection | undefined {
  if (!podSelector && !namespaceSelector) return undefined;
  const pods = podSelector ? selectorOr(podSelector, nothing) : everything;
  const namespaces =
    namespaceSelector && selectorOr(namespaceSelector, nothing);
  if (pods === nothing || namespaces === nothing) return undefined;
  const key = JSON.stringify([
    namespaces ? null : namespace,
    namespaces?.toString() ?? null,
    pods.toString(),
  ]);
  return { key, ...(namespaces ? { namespaces } : { namespace }), pods };
}

function compilePorts(
  ports: readonly NetworkPolicyPort[],
): NonNullable<PolicyRule["ports"]> {
  const numbers: PortRange[] = [];
  const names: NamedPort[] = [];
  for (const { protocol: text = "TCP", port, endPort } of ports) {
    const protocol = protocols.find((each) => each.toUpperCase() === text);
    if (!protocol) continue;
    if (port === undefined || port === null)
      numbers.push({ protocol, first: 0, last: 65535 });
    else if (typeof port === "string") names.push({ protocol, name: port });
    else numbers.push({ protocol, first: port, last: endPort ?? port });
  }
  return { numbers, names };
}

function compileRule(
  peers: readonly NetworkPolicyPeer[] = [],
  ports: readonly NetworkPolicyPort[] = [],
  namespace: string,
): PolicyRule {
  return {
    ...(peers.length === 0
      ? {}
      : {
          peers: {
            pods: peers.flatMap((peer) => podSelection(peer, namespace) ?? []),
            blocks: addressBlocks(
              peers.flatMap(({ ipBlock }) => ipBlock ?? []),
            ),
          },
        }),
    ...(ports.length === 0 ? {} : { ports: compilePorts(ports) }),
  };
}

let serials = 0;

export function compilePolicy({
  metadata: { namespace = "" },
  spec,
}: NetworkPolicy): CompiledPolicy {
  const {
    podSelector,
    policyTypes = [],
    ingress = [],
    egress = [],
  }: Partial<NetworkPolicySpec> = spec ?? {};
  // Without types a policy is about ingress, and about egress where it has such rules.
  const isAbout = (type: string): boolean =>
    policyTypes.length > 0
      ? policyTypes.includes(type)
      : type === "Ingress" || egress.length > 0;
  return {
    serial: serials++,
    selects: selectorOr(podSelector ?? {}, everything),
    ...(isAbout("Ingress")
      ? {
          ingress: ingress.map(({ from, ports }) =>
            compileRule(from, ports, namespace),
          ),
        }
      : {}),
    ...(isAbout("Egress")
      ? {
          egress: egress.map(({ to, ports }) =>
            compileRule(to, ports, namespace),
          ),
        }
      : {}),
  };
}
