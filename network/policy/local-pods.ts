// What the node knows of its own pods before the API server does: the addresses that they were given. Invariant: an address
// is its last claimant's, so that one that is given out again does not bring the rules of the pod before it.
import type { Pod } from "../../api/types/core-v1.ts";
import {
  podAddresses,
  podFacts,
  type PodAddress,
  type PodFacts,
} from "./pod-facts.ts";

interface LocalPod {
  readonly pod: Pod;
  readonly addresses: readonly PodAddress[];
}

const mirrorAnnotation = "kubernetes.io/config.mirror";
const sourceAnnotation = "kubernetes.io/config.source";

/** Its manifest is the node's own: it goes on running when its object is deleted. */
function isStatic({ metadata }: Pod): boolean {
  const source = metadata.annotations?.[sourceAnnotation];
  return source !== undefined && source !== "api";
}

export function podKey({ metadata }: Pod): string {
  return `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
}

export class LocalPods {
  readonly #pods = new Map<string, LocalPod>();
  /** Address to the pod that has it. */
  readonly #claims = new Map<string, string>();

  constructor(private readonly nodeName: string) {}

  /** Whether the pod was the last to claim these addresses. */
  has(pod: Pod, ips: readonly string[]): boolean {
    const own = this.#pods.get(podKey(pod));
    return (
      own?.pod.metadata.uid === pod.metadata.uid &&
      podAddresses(ips).every(
        ({ text }) => this.#claims.get(text) === podKey(pod),
      )
    );
  }

  /** The pod has these addresses from now on. Returns the pods that had one of them, by key. */
  claim(pod: Pod, ips: readonly string[]): string[] {
    const key = podKey(pod);
    const addresses = podAddresses(ips);
    this.#release(key);
    const before: string[] = [];
    for (const { text } of addresses) {
      const other = this.#claims.get(text);
      this.#claims.set(text, key);
      if (other === undefined || other === key) continue;
      before.push(other);
      const has = this.#pods.get(other)?.addresses ?? [];
      if (has.every((each) => this.#claims.get(each.text) !== other))
        this.#pods.delete(other);
    }
    this.#pods.set(key, { pod, addresses });
    return before;
  }

  /** The pod's object is gone. */
  forget(pod: Pod): void {
    const key = podKey(pod);
    const own = this.#pods.get(key)?.pod;
    if (own?.metadata.uid === pod.metadata.uid) this.retain([key], () => false);
  }

  keys(): string[] {
    return [...this.#pods.keys()];
  }

  /** Of these pods forgets those that do not exist, unless they are the node's own. */
  retain(keys: readonly string[], exists: (key: string) => unknown): void {
    for (const key of keys) {
      const own = this.#pods.get(key);
      if (!own || isStatic(own.pod) || exists(key)) continue;
      this.#release(key);
      this.#pods.delete(key);
    }
  }

  /** @param pod the API server's, where it has one */
  facts(key: string, pod: Pod | undefined): PodFacts | undefined {
    const own = this.#pods.get(key);
    const source =
      own && pod?.metadata.annotations?.[mirrorAnnotation] === undefined
        ? pod?.metadata.uid === own.pod.metadata.uid
          ? pod
          : own.pod
        : pod;
    if (!source) return undefined;
    const addresses =
      own?.addresses ??
      podAddresses((source.status?.podIPs ?? []).map(({ ip }) => ip));
    const facts = podFacts(
      source,
      this.nodeName,
      addresses.filter(({ text }) => (this.#claims.get(text) ?? key) === key),
    );
    return own ? { ...facts, local: true } : facts;
  }

  #release(key: string): void {
    for (const { text } of this.#pods.get(key)?.addresses ?? [])
      if (this.#claims.get(text) === key) this.#claims.delete(text);
  }
}
