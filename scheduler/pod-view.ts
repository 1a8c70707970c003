// A pod with all that filters and scores need, worked out once.
import type { Selector } from "../api/selectors.ts";
import { selectorFromObject } from "../api/selectors.ts";
import { objectKey } from "../api/object.ts";
import type { Pod, PodAffinityTerm } from "../api/types/core-v1.ts";
import { podRequests } from "../api/objects/pod-resources.ts";
import type { Resources } from "../api/objects/pod-resources.ts";
import { ownValue } from "../api/objects/own-value.ts";

/** A term of pod affinity or anti-affinity, ready to be matched. */
export interface AffinityTerm {
  topologyKey: string;
  weight: number;
  matches(other: Pod, namespaces: NamespaceLabels): boolean;
}

/** Labels of a namespace, for namespace selectors. */
export type NamespaceLabels = (
  namespace: string,
) => Readonly<Record<string, string>> | undefined;

export interface PodView {
  readonly pod: Pod;
  readonly key: string;
  readonly requests: Resources;
  /** With a default for what is not asked for. */
  readonly scoredRequests: Resources;
  readonly hostPorts: readonly string[];
  readonly requiredAffinity: readonly AffinityTerm[];
  readonly requiredAntiAffinity: readonly AffinityTerm[];
  readonly preferredAffinity: readonly AffinityTerm[];
  readonly preferredAntiAffinity: readonly AffinityTerm[];
}

/** Views of pod objects, each worked out once: pod objects never change. */
export class PodViews {
  readonly #views = new WeakMap<Pod, PodView>();

  of(pod: Pod): PodView {
    let view = this.#views.get(pod);
    if (!view) this.#views.set(pod, (view = createView(pod)));
    return view;
  }
}

function createView(pod: Pod): PodView {
  const { spec, status } = pod;
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const required = (terms: readonly PodAffinityTerm[] | undefined) =>
    (terms ?? []).map((term) => affinityTerm(pod, term, 1));
  const preferred = (
    terms:
      | readonly { weight: number; podAffinityTerm: PodAffinityTerm }[]
      | undefined,
  ) =>
    (terms ?? []).map(({ weight, podAffinityTerm }) =>
      affinityTerm(pod, podAffinityTerm, weight),
    );
  return {
    pod,
    key: objectKey(pod),
    requests: podRequests(spec, { status }),
    scoredRequests: podRequests(spec, { nonZero: true, status }),
    hostPorts: hostPortsOf(pod),
    requiredAffinity: required(
      podAffinity?.requiredDuringSchedulingIgnoredDuringExecution,
    ),
    requiredAntiAffinity: required(
      podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution,
    ),
    preferredAffinity: preferred(
      podAffinity?.preferredDuringSchedulingIgnoredDuringExecution,
    ),
    preferredAntiAffinity: preferred(
      podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution,
    ),
  };
}

/** `protocol/ip/port`; the ip of any address is "0.0.0.0". */
function hostPortsOf({ spec }: Pod): string[] {
  const sidecars = (spec.initContainers ?? []).filter(
    (container) => container.restartPolicy === "Always",
  );
  return [...spec.containers, ...sidecars].flatMap((container) =>
    (container.ports ?? [])
      .filter((port) => port.hostPort)
      .map(
        (port) =>
          `${port.protocol ?? "TCP"}/${port.hostIP || "0.0.0.0"}/${port.hostPort}`,
      ),
  );
}

function affinityTerm(
  owner: Pod,
  term: PodAffinityTerm,
  weight: number,
): AffinityTerm {
  const selector = mergedSelector(owner, term);
  const own = owner.metadata.namespace ?? "";
  const named = new Set(
    term.namespaces?.length || term.namespaceSelector ? term.namespaces : [own],
  );
  const byLabels = term.namespaceSelector
    ? selectorFromObject(term.namespaceSelector)
    : undefined;
  return {
    topologyKey: term.topologyKey,
    weight,
    matches(other, namespaces) {
      const namespace = other.metadata.namespace ?? "";
      const inScope =
        named.has(namespace) ||
        byLabels?.matches(namespaces(namespace)) === true;
      return inScope && selector.matches(other.metadata.labels);
    },
  };
}

/** matchLabelKeys and mismatchLabelKeys take the owner's own values into the selector. */
export function mergedSelector(
  owner: Pod,
  term: Pick<
    PodAffinityTerm,
    "labelSelector" | "matchLabelKeys" | "mismatchLabelKeys"
  >,
): Selector {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  if (!labelSelector) return selectorFromObject(undefined);
  const values = (keys: readonly string[], operator: string) =>
    keys.flatMap((key) => {
      const value = ownValue(owner.metadata.labels, key);
      return value === undefined ? [] : [{ key, operator, values: [value] }];
    });
  return selectorFromObject({
    ...labelSelector,
    matchExpressions: [
      ...(labelSelector.matchExpressions ?? []),
      ...values(matchLabelKeys, "In"),
      ...values(mismatchLabelKeys, "NotIn"),
    ],
  });
}
