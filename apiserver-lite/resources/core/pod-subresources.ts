// Subresources of pods with their own code: binding (the scheduler's one write), eviction (deletion that asks the
// disruption budgets first) and ephemeralcontainers (the only way to add them).
// For a PATCH of a subresource the registry reads with "get", patches, and calls again with "update" and the result.
import { applyDefaults } from "../../../api/defaults.ts";
import { ApiError, errors } from "../../../api/errors.ts";
import { formatTime } from "../../../api/clock.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { selectorFromObject } from "../../../api/selectors.ts";
import type { Binding, Pod } from "../../../api/types/core-v1.ts";
import type { DeleteOptions } from "../../../api/types/meta-v1.ts";
import type { PodDisruptionBudget } from "../../../api/types/policy-v1.ts";
import type { SubresourceHandler } from "../../registry/strategy.ts";
import { sameValue } from "../field-checks.ts";
import { validatePodSpec } from "./pod-spec-validation.ts";

function created(): AnyObject {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    code: 201,
  } as unknown as AnyObject;
}

function validateBinding(binding: Binding, name: string): void {
  const problems = [];
  const { target } = binding;
  if (target?.kind && target.kind !== "Node") {
    problems.push(
      fieldErrors.notSupported("target.kind", target.kind, ["Node", "<empty>"]),
    );
  }
  if (!target?.name) problems.push(fieldErrors.required("target.name"));
  if (problems.length > 0)
    throw errors.invalid({ group: "", kind: "Binding" }, name, problems);
}

function bind(pod: Pod, binding: Binding, now: string): void {
  const refuse = (why: string): never => {
    throw errors.conflict(
      { group: "", resource: "pods/binding" },
      pod.metadata.name,
      why,
    );
  };
  const { name } = pod.metadata;
  if (binding.metadata.uid && binding.metadata.uid !== pod.metadata.uid) {
    refuse(
      `Precondition failed: UID in precondition: ${binding.metadata.uid}, UID in object meta: ${pod.metadata.uid ?? ""}`,
    );
  }
  if (pod.metadata.deletionTimestamp)
    refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  if (pod.spec.nodeName)
    refuse(`pod ${name} is already assigned to node "${pod.spec.nodeName}"`);
  if (pod.spec.schedulingGates?.length)
    refuse(`pod ${name} has non-empty .spec.schedulingGates`);
  pod.spec = { ...pod.spec, nodeName: binding.target.name! };
  if (binding.metadata.annotations) {
    pod.metadata.annotations = {
      ...pod.metadata.annotations,
      ...binding.metadata.annotations,
    };
  }
  const others = (pod.status?.conditions ?? []).filter(
    ({ type }) => type !== "PodScheduled",
  );
  pod.status = {
    ...pod.status,
    conditions: [
      ...others,
      { type: "PodScheduled", status: "True", lastTransitionTime: now },
    ],
  };
}

const binding: SubresourceHandler = {
  async handle(request, context) {
    const body = request.body as unknown as Binding;
    if (body?.metadata?.name !== request.name)
      throw errors.badRequest(
        "name in URL does not match name in Binding object",
      );
    validateBinding(body, request.name);
    const now = formatTime(context.clock.now());
    await context.mutate((object) => bind(object as unknown as Pod, body, now));
    return created();
  },
};

const budgetText =
  "Cannot evict pod as it would violate the pod's disruption budget.";

/** The budget that stands in the way, as the error to answer with. */
function budgetRefusal(
  pod: Pod,
  budgets: readonly PodDisruptionBudget[],
): ApiError | undefined {
  const mine = budgets.filter(({ spec }) =>
    selectorFromObject(spec?.selector).matches(pod.metadata.labels),
  );
  if (mine.length > 1) {
    return errors.internal(
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    );
  }
  const budget = mine[0];
  if (!budget) return undefined;
  const status = budget.status;
  const ready = pod.status?.conditions?.some(
    ({ type, status: state }) => type === "Ready" && state === "True",
  );
  const healthy = status?.currentHealthy ?? 0;
  const desired = status?.desiredHealthy ?? 0;
  if (
    !ready &&
    (budget.spec?.unhealthyPodEvictionPolicy === "AlwaysAllow" ||
      (healthy >= desired && desired > 0))
  ) {
    return undefined;
  }
  const message =
    (budget.metadata.generation ?? 0) > (status?.observedGeneration ?? 0)
      ? `The disruption budget ${budget.metadata.name} is still being processed by the server.`
      : `The disruption budget ${budget.metadata.name} needs ${desired} healthy pods and has ${healthy} currently`;
  const observed =
    (budget.metadata.generation ?? 0) <= (status?.observedGeneration ?? 0);
  if (observed && (status?.disruptionsAllowed ?? 0) > 0) return undefined;
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

const eviction: SubresourceHandler = {
  async handle(request, context) {
    const body = request.body as unknown as {
      metadata?: { name?: string };
      deleteOptions?: DeleteOptions;
    };
    if (body?.metadata?.name !== request.name) {
      throw errors.badRequest(
        "name in URL does not match name in Eviction object",
      );
    }
    const pod = (await context.parent()) as unknown as Pod;
    const phase = pod.status?.phase;
    const unguarded =
      phase === "Succeeded" ||
      phase === "Failed" ||
      phase === "Pending" ||
      Boolean(pod.metadata.deletionTimestamp);
    if (!unguarded) {
      const budgets = context.list(
        "policy",
        "poddisruptionbudgets",
        request.namespace,
      );
      const refusal = budgetRefusal(
        pod,
        budgets as unknown as readonly PodDisruptionBudget[],
      );
      if (refusal) throw refusal;
    }
    const options: DeleteOptions = body?.deleteOptions ?? {};
    await context.remove(
      context.dryRun ? { ...options, dryRun: ["All"] } : options,
    );
    return created();
  },
};

const ephemeralContainers: SubresourceHandler = {
  async handle(request, context) {
    if (request.verb === "get") return (await context.parent()) as AnyObject;
    const wanted =
      (request.body as unknown as Pod | undefined)?.spec?.ephemeralContainers ??
      [];
    return context.mutate((object) => {
      const pod = object as unknown as Pod;
      const existing = pod.spec.ephemeralContainers ?? [];
      for (const container of existing) {
        const now = wanted.find(({ name }) => name === container.name);
        if (now && sameValue(now, container)) continue;
        throw errors.invalid({ group: "", kind: "Pod" }, pod.metadata.name, [
          fieldErrors.forbidden(
            "spec.ephemeralContainers",
            now
              ? `existing ephemeral containers "${container.name}" may not be changed\n`
              : `existing ephemeral containers "${container.name}" may not be removed\n`,
          ),
        ]);
      }
      pod.spec = {
        ...pod.spec,
        ephemeralContainers: wanted.map((container) => ({ ...container })),
      };
      applyDefaults(pod, { group: "", version: "v1", kind: "Pod" });
      const problems = validatePodSpec("spec", pod.spec);
      if (problems.length > 0)
        throw errors.invalid(
          { group: "", kind: "Pod" },
          pod.metadata.name,
          problems,
        );
    });
  },
};

export const podSubresources: Readonly<Record<string, SubresourceHandler>> = {
  binding,
  eviction,
  ephemeralcontainers: ephemeralContainers,
};
