// Constraints for pods that have none of their own: the reference's (a little over nodes, less over zones) or a list of the
// profile. The pods that are spread together are those of the Services and the controller that a pod belongs to.
import { controllerOf } from "../../api/objects/owner-references.ts";
import { selectorFromMap, selectorFromObject } from "../../api/selectors.ts";
import type { Selector } from "../../api/selectors.ts";
import type { Pod, TopologySpreadConstraint } from "../../api/types/core-v1.ts";
import type { LabelSelector } from "../../api/types/meta-v1.ts";
import type { Client } from "../../client/client.ts";
import {
  replicaSets,
  replicationControllers,
  services,
  statefulSets,
} from "../../client/resources.ts";
import type { PodTopologySpreadArgs } from "../configuration/configuration-types.ts";
import type { SpreadDefaults } from "./topology-spread.ts";

const systemConstraints: readonly TopologySpreadConstraint[] = [
  {
    topologyKey: "kubernetes.io/hostname",
    whenUnsatisfiable: "ScheduleAnyway",
    maxSkew: 3,
  },
  {
    topologyKey: "topology.kubernetes.io/zone",
    whenUnsatisfiable: "ScheduleAnyway",
    maxSkew: 5,
  },
];

/** Finds the selector of what a pod belongs to. Its informers are begun when it is made. */
export class PodOwners {
  constructor(private readonly client: Client) {
    client.informer(services);
    client.informer(replicationControllers);
    client.informer(replicaSets);
    client.informer(statefulSets);
  }

  async synced(): Promise<void> {
    const { client } = this;
    await Promise.all([
      client.informer(services).synced(),
      client.informer(replicationControllers).synced(),
      client.informer(replicaSets).synced(),
      client.informer(statefulSets).synced(),
    ]);
  }

  /** undefined: the pod belongs to nothing. */
  selectorOf(pod: Pod): Selector | undefined {
    const matchLabels: Record<string, string> = {};
    const { namespace, labels } = pod.metadata;
    for (const { spec } of this.client
      .informer(services)
      .lister.list(namespace)) {
      const selector = spec?.selector;
      if (!selector || Object.keys(selector).length === 0) continue;
      if (selectorFromMap(selector).matches(labels))
        Object.assign(matchLabels, selector);
    }
    const owner = this.#selectorOfOwner(pod);
    const selector = selectorFromObject({
      matchLabels,
      matchExpressions: [
        ...Object.entries(owner?.matchLabels ?? {}).map(([key, value]) => ({
          key,
          operator: "In",
          values: [value],
        })),
        ...(owner?.matchExpressions ?? []),
      ],
    });
    return selector.empty ? undefined : selector;
  }

  #selectorOfOwner(pod: Pod): LabelSelector | undefined {
    const owner = controllerOf(pod);
    const { namespace } = pod.metadata;
    switch (owner && `${owner.apiVersion} ${owner.kind}`) {
      case "v1 ReplicationController": {
        const { lister } = this.client.informer(replicationControllers);
        const selector = lister.get(owner!.name, namespace)?.spec?.selector;
        return selector && { matchLabels: selector };
      }
      case "apps/v1 ReplicaSet":
        return this.client
          .informer(replicaSets)
          .lister.get(owner!.name, namespace)?.spec?.selector;
      case "apps/v1 StatefulSet":
        return this.client
          .informer(statefulSets)
          .lister.get(owner!.name, namespace)?.spec?.selector;
      default:
        return undefined;
    }
  }
}

/** The constraints that a profile gives to pods without; empty where none. */
const defaultConstraintsOf = ({
  defaultingType,
  defaultConstraints = [],
}: PodTopologySpreadArgs): readonly TopologySpreadConstraint[] =>
  defaultingType === "System" ? systemConstraints : defaultConstraints;

export function createSpreadDefaults(
  args: PodTopologySpreadArgs,
  owners: () => PodOwners,
): SpreadDefaults {
  const constraints = defaultConstraintsOf(args);
  const known = constraints.length > 0 ? owners() : undefined;
  return {
    system: args.defaultingType === "System",
    constraints,
    selectorOf: (pod) => known?.selectorOf(pod),
  };
}
