// What policies need to know of a pod. Pods on the node's own network, and those that ended, have no address of their own.
import {
  addressNumber,
  addressText,
  familyOf,
  type AddressFamily,
} from "../../api/addresses/address-range.ts";
import { isPodTerminal } from "../../api/objects/pod-state.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { NamedPort } from "./compiled-policy.ts";

export interface PodAddress {
  readonly family: AddressFamily;
  /** In the shortest form. */
  readonly text: string;
}

export interface PodFacts {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly addresses: readonly PodAddress[];
  /** It runs on this node. */
  readonly local: boolean;
  /** By portKey. */
  readonly ports: ReadonlyMap<string, number>;
}

export function portKey({ protocol, name }: NamedPort): string {
  return `${protocol}/${name}`;
}

/** Without what is no address. */
export function podAddresses(texts: readonly string[]): PodAddress[] {
  return texts.flatMap((each) => {
    const family = familyOf(each);
    return family
      ? [{ family, text: addressText(addressNumber(each), family) }]
      : [];
  });
}

function namedPorts({ spec }: Pod): Map<string, number> {
  const ports = new Map<string, number>();
  const containers = [
    ...(spec.containers ?? []),
    ...(spec.initContainers ?? []).filter(
      ({ restartPolicy }) => restartPolicy === "Always",
    ),
  ];
  for (const { ports: each = [] } of containers)
    for (const { name, protocol = "TCP", containerPort } of each) {
      if (!name) continue;
      const key = `${protocol.toLowerCase()}/${name}`;
      // The first container that names a port has it.
      if (!ports.has(key)) ports.set(key, containerPort);
    }
  return ports;
}

/** @param addresses those of its status, unless the node knows better */
export function podFacts(
  pod: Pod,
  nodeName: string,
  addresses: readonly PodAddress[],
): PodFacts {
  const { metadata, spec } = pod;
  return {
    namespace: metadata.namespace ?? "",
    labels: metadata.labels ?? {},
    addresses: spec.hostNetwork || isPodTerminal(pod) ? [] : addresses,
    local: spec.nodeName === nodeName,
    ports: namedPorts(pod),
  };
}

function sameRecord(
  a: Readonly<Record<string, string>>,
  b: Readonly<Record<string, string>>,
): boolean {
  if (a === b) return true;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => a[key] === b[key])
  );
}

/** Most changes of a pod are none for policies. */
export function sameFacts(a: PodFacts, b: PodFacts): boolean {
  return (
    a.local === b.local &&
    a.addresses.length === b.addresses.length &&
    a.addresses.every(({ text }, n) => text === b.addresses[n]?.text) &&
    a.ports.size === b.ports.size &&
    [...a.ports].every(([key, port]) => b.ports.get(key) === port) &&
    sameRecord(a.labels, b.labels)
  );
}
