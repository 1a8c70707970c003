// Fills ClusterRoles that have an aggregationRule with the rules of all that match it.
import { selectorFromObject } from "../../api/selectors.ts";
import type { PolicyRule } from "../../api/types/rbac-v1.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import { clusterRoles } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";

export function createClusterRoleAggregationController(
  context: ControllerContext,
): Controller {
  const { client } = context;
  const informer = client.informer(clusterRoles);
  const reconciler = new Reconciler({
    name: "clusterrole-aggregation-controller",
    context,
    concurrency: 5,
    reconcile,
  });

  async function reconcile(name: string): Promise<void> {
    const role = informer.lister.get(name);
    const selectors = role?.aggregationRule?.clusterRoleSelectors;
    if (!role || !selectors) return;
    const rules: PolicyRule[] = [];
    const sources = [...informer.lister.list()].sort((a, b) =>
      a.metadata.name < b.metadata.name ? -1 : 1,
    );
    for (const selector of selectors.map(selectorFromObject))
      for (const source of sources)
        if (
          source.metadata.name !== name &&
          selector.matches(source.metadata.labels)
        )
          for (const rule of source.rules ?? [])
            if (!rules.some((other) => sameJson(other, rule))) rules.push(rule);
    if (sameJson(rules, role.rules ?? [])) return;
    await client.resource(clusterRoles).update({ ...role, rules });
  }

  return reconciler.watchAll(informer, () => {
    for (const role of informer.lister.list())
      if (role.aggregationRule) reconciler.queue.add(role.metadata.name);
  });
}
