// eviction of a pod: deletion that asks the disruption budgets first, takes from them, and marks the pod as disrupted.
import { putCondition } from "../../../../api/objects/conditions.ts";
import {
  disruptionTarget,
  isPodTerminal,
} from "../../../../api/objects/pod-state.ts";
import { ApiError, errors } from "../../../../api/errors.ts";
import { formatTime } from "../../../../api/clock.ts";
import type { AnyObject } from "../../../../api/object.ts";
import { selectorFromObject } from "../../../../api/selectors.ts";
import type { Pod } from "../../../../api/types/core-v1.ts";
import type { DeleteOptions } from "../../../../api/types/meta-v1.ts";
import type { PodDisruptionBudget } from "../../../../api/types/policy-v1.ts";
import type { SubresourceHandler } from "../../strategy.ts";
import { typed, untyped } from "../../typed.ts";

/** What a create through a subresource answers. */
export function createdStatus(): AnyObject {
  return untyped({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    code: 201,
  });
}

const budgetText =
  "Cannot evict pod as it would violate the pod's disruption budget.";

type Context = Parameters<SubresourceHandler["handle"]>[1];

/**
 * Takes one disruption from the pod's budget, so that evictions side by side can't overdraw it before its controller
 * counts again. Throws the error to answer with when the budget does not allow the eviction.
 */
async function spendBudget(
  pod: Pod,
  budgets: readonly PodDisruptionBudget[],
  context: Context,
  dryRun: boolean,
): Promise<void> {
  const [budget, ...more] = budgets.filter(({ spec }) =>
    selectorFromObject(spec?.selector).matches(pod.metadata.labels),
  );
  if (!budget) return;
  if (more.length > 0) {
    throw errors.internal(
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    );
  }
  if (countsForNothing(pod, budget)) return;
  if (dryRun) {
    const refusal = refusalOf(budget);
    if (refusal) throw refusal;
    return;
  }
  const { name } = budget.metadata;
  const { namespace = "" } = pod.metadata;
  await context.mutateStatusOf(
    { group: "policy", version: "v1", resource: "poddisruptionbudgets" },
    namespace,
    name,
    (object) => {
      const live = typed<PodDisruptionBudget>(object);
      const refusal = refusalOf(live);
      if (refusal) throw refusal;
      const status = live.status!;
      live.status = {
        ...status,
        disruptionsAllowed: status.disruptionsAllowed - 1,
        disruptedPods: {
          ...status.disruptedPods,
          [pod.metadata.name]: formatTime(context.clock.now()),
        },
      };
    },
  );
}

/** A pod that is not ready may go where its budget says so, or where enough others are healthy. */
function countsForNothing(
  pod: Pod,
  { spec, status }: PodDisruptionBudget,
): boolean {
  const ready = pod.status?.conditions?.some(
    ({ type, status: state }) => type === "Ready" && state === "True",
  );
  if (ready) return false;
  const healthy = status?.currentHealthy ?? 0;
  const desired = status?.desiredHealthy ?? 0;
  return (
    spec?.unhealthyPodEvictionPolicy === "AlwaysAllow" ||
    (healthy >= desired && desired > 0)
  );
}

function refusalOf({
  metadata,
  status,
}: PodDisruptionBudget): ApiError | undefined {
  const observed =
    (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0);
  if (observed && (status?.disruptionsAllowed ?? 0) > 0) return undefined;
  const message = observed
    ? `The disruption budget ${metadata.name} needs ${status?.desiredHealthy ?? 0} healthy pods and has ${status?.currentHealthy ?? 0} currently`
    : `The disruption budget ${metadata.name} is still being processed by the server.`;
  return new ApiError(
    {
      code: 429,
      reason: "TooManyRequests",
      message: budgetText,
      details: {
        causes: [{ reason: "DisruptionBudget", message }],
        ...(observed ? {} : { retryAfterSeconds: 10 }),
      },
    },
    observed ? {} : { "Retry-After": "10" },
  );
}

/** Records why the pod goes. */
function noteDisruption(pod: Pod, { clock }: Context): void {
  const target = disruptionTarget(
    "EvictionByEvictionAPI",
    "Eviction API: evicting",
    clock.now(),
  );
  pod.status = {
    ...pod.status,
    conditions: putCondition(pod.status?.conditions, target),
  };
}

export const eviction: SubresourceHandler = {
  prepareCreated({ metadata }, { name }) {
    if ((metadata as { name?: string } | undefined)?.name !== name)
      throw errors.badRequest(
        "name in URL does not match name in Eviction object",
      );
  },
  async handle(request, context) {
    const body = typed<{ deleteOptions?: DeleteOptions }>(request.body);
    const pod = typed<Pod>(await context.parent());
    const options: DeleteOptions = body?.deleteOptions ?? {};
    const dryRun = context.dryRun || (options.dryRun?.length ?? 0) > 0;
    const unguarded =
      isPodTerminal(pod) ||
      pod.status?.phase === "Pending" ||
      Boolean(pod.metadata.deletionTimestamp);
    if (!unguarded) {
      const budgets = context.list(
        "policy",
        "poddisruptionbudgets",
        request.namespace,
      );
      await spendBudget(
        pod,
        typed<readonly PodDisruptionBudget[]>(budgets),
        context,
        dryRun,
      );
    }
    if (!dryRun && !isPodTerminal(pod))
      await context.mutate((object) => noteDisruption(typed(object), context));
    await context.remove(dryRun ? { ...options, dryRun: ["All"] } : options);
    return createdStatus();
  },
};
