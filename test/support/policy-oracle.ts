// What NetworkPolicies allow, straight from the objects and the reference's documentation: slow, without any of the product's
// code, so that both can be compared. Pairs are a source and a destination by address; pods are found by theirs.
import { BlockList, isIP } from "node:net";
import type { Namespace, Pod } from "../../api/types/core-v1.ts";
import type { LabelSelector } from "../../api/types/meta-v1.ts";
import type {
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
} from "../../api/types/networking-v1.ts";

export interface OracleWorld {
  readonly namespaces: readonly Namespace[];
  readonly pods: readonly Pod[];
  readonly policies: readonly NetworkPolicy[];
}

export interface Attempt {
  readonly from: string;
  readonly to: string;
  readonly protocol: "tcp" | "udp" | "sctp";
  readonly port: number;
}

function selects(
  selector: LabelSelector,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  for (const [key, value] of Object.entries(selector.matchLabels ?? {}))
    if (labels[key] !== value) return false;
  for (const { key, operator, values = [] } of selector.matchExpressions ??
    []) {
    const value = labels[key];
    if (operator === "In" && !(value !== undefined && values.includes(value)))
      return false;
    if (operator === "NotIn" && value !== undefined && values.includes(value))
      return false;
    if (operator === "Exists" && value === undefined) return false;
    if (operator === "DoesNotExist" && value !== undefined) return false;
  }
  return true;
}

function inRange(range: string, address: string): boolean {
  const [base = "", bits] = range.split("/");
  if (isIP(base) !== isIP(address)) return false;
  const list = new BlockList();
  const family = isIP(base) === 4 ? "ipv4" : "ipv6";
  list.addSubnet(base, Number(bits), family);
  return list.check(address, family);
}

class Oracle {
  constructor(private readonly world: OracleWorld) {}

  pod(address: string): Pod | undefined {
    return this.world.pods.find(
      ({ spec, status }) =>
        !spec.hostNetwork &&
        status?.phase !== "Succeeded" &&
        status?.phase !== "Failed" &&
        status?.podIPs?.some(({ ip }) => ip === address),
    );
  }

  isPeer(
    { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer,
    namespace: string | undefined,
    address: string,
  ): boolean {
    if (ipBlock)
      return (
        inRange(ipBlock.cidr, address) &&
        !(ipBlock.except ?? []).some((range) => inRange(range, address))
      );
    const pod = this.pod(address);
    if (!pod) return false;
    if (podSelector && !selects(podSelector, pod.metadata.labels)) return false;
    if (!namespaceSelector) return pod.metadata.namespace === namespace;
    const of = this.world.namespaces.find(
      ({ metadata }) => metadata.name === pod.metadata.namespace,
    );
    return of !== undefined && selects(namespaceSelector, of.metadata.labels);
  }

  isPort(rule: NetworkPolicyPort, { to, protocol, port }: Attempt): boolean {
    if ((rule.protocol ?? "TCP").toLowerCase() !== protocol) return false;
    if (rule.port === undefined) return true;
    if (typeof rule.port === "number")
      return port >= rule.port && port <= (rule.endPort ?? rule.port);
    const named = this.pod(to)
      ?.spec.containers.flatMap(({ ports = [] }) => ports)
      .find(
        (each) =>
          each.name === rule.port &&
          (each.protocol ?? "TCP").toLowerCase() === protocol,
      );
    return named?.containerPort === port;
  }

  side(direction: "Ingress" | "Egress", attempt: Attempt): boolean {
    const [own, other] =
      direction === "Ingress"
        ? [attempt.to, attempt.from]
        : [attempt.from, attempt.to];
    const pod = this.pod(own);
    if (!pod) return true;
    const about = this.world.policies.filter(
      ({ metadata, spec }) =>
        metadata.namespace === pod.metadata.namespace &&
        selects(spec.podSelector, pod.metadata.labels) &&
        (spec.policyTypes
          ? spec.policyTypes.includes(direction)
          : direction === "Ingress" || (spec.egress ?? []).length > 0),
    );
    if (about.length === 0) return true;
    return about.some(({ metadata, spec }) =>
      (direction === "Ingress"
        ? (spec.ingress ?? []).map(({ from = [], ports = [] }) => ({
            peers: from,
            ports,
          }))
        : (spec.egress ?? []).map(({ to = [], ports = [] }) => ({
            peers: to,
            ports,
          }))
      ).some(
        ({ peers, ports }) =>
          (peers.length === 0 ||
            peers.some((peer) =>
              this.isPeer(peer, metadata.namespace, other),
            )) &&
          (ports.length === 0 ||
            ports.some((rule) => this.isPort(rule, attempt))),
      ),
    );
  }
}

/** @param attempt between two machines that are not the node of either pod */
export function oracleAllows(world: OracleWorld, attempt: Attempt): boolean {
  const oracle = new Oracle(world);
  return (
    attempt.from === attempt.to ||
    (oracle.side("Ingress", attempt) && oracle.side("Egress", attempt))
  );
}
