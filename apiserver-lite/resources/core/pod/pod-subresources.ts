// Subresources of pods with their own code: binding (the scheduler's one write), eviction (eviction.ts) and
// ephemeralcontainers (the only way to add them).
// For a PATCH of a subresource the registry reads with "get", patches, and calls again with "update" and the result.
import { applyDefaults } from "../../../../api/defaults.ts";
import { errors, otherUidText } from "../../../../api/errors.ts";
import { formatTime } from "../../../../api/clock.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import type { AnyObject } from "../../../../api/object.ts";
import type { Binding, Pod } from "../../../../api/types/core-v1.ts";
import type { SubresourceHandler } from "../../strategy.ts";
import { sameValue } from "../../../../api/objects/json-equality.ts";
import { createdStatus, eviction } from "./eviction.ts";
import { goDifference } from "./pod-update-validation.ts";
import { validatePod } from "./pod-validation.ts";
import { typed } from "../../typed.ts";

function validateBinding(binding: Binding): void {
  const problems = [];
  const { target } = binding;
  if (target?.kind && target.kind !== "Node") {
    problems.push(
      fieldErrors.notSupported("target.kind", target.kind, ["Node", "<empty>"]),
    );
  }
  if (!target?.name) problems.push(fieldErrors.required("target.name"));
  const texts = problems.map(({ field, detail }) => `${field}: ${detail}`);
  if (texts.length > 0)
    throw errors.badRequest(
      texts.length > 1 ? `[${texts.join(", ")}]` : texts[0]!,
    );
}

function bind(pod: Pod, binding: Binding, now: string): void {
  const refuse = (why: string, resource = "pods/binding"): never => {
    throw errors.conflict({ group: "", resource }, pod.metadata.name, why);
  };
  const { name } = pod.metadata;
  if (binding.metadata.uid && binding.metadata.uid !== pod.metadata.uid) {
    const { uid } = binding.metadata;
    const key = `/registry/pods/${pod.metadata.namespace ?? ""}/${name}`;
    refuse(otherUidText(key, uid, pod.metadata.uid), "pods");
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
  prepareCreated(object, { name }) {
    const body = typed<Binding>(object);
    if ((body?.metadata?.name ?? "") !== name)
      throw errors.badRequest(
        "name in URL does not match name in Binding object",
      );
    validateBinding(body);
  },
  async handle(request, context) {
    const body = typed<Binding>(request.body!);
    const now = formatTime(context.clock.now());
    await context.mutate((object) => bind(typed(object), body, now));
    return createdStatus();
  },
};

const ephemeralContainers: SubresourceHandler = {
  async handle(request, context) {
    if (request.verb === "get") return (await context.parent()) as AnyObject;
    const wanted = typed<Pod>(request.body)?.spec?.ephemeralContainers ?? [];
    return context.mutate((object) => {
      const pod = typed<Pod>(object);
      const existing = pod.spec.ephemeralContainers ?? [];
      for (const container of existing) {
        const now = wanted.find(({ name }) => name === container.name);
        if (now && sameValue(now, container)) continue;
        throw errors.invalid({ group: "", kind: "Pod" }, pod.metadata.name, [
          fieldErrors.forbidden(
            "spec.ephemeralContainers",
            now
              ? `existing ephemeral containers "${container.name}" may not be changed\n${goDifference("core.EphemeralContainer", now, container)}`
              : `existing ephemeral containers "${container.name}" may not be removed\n`,
          ),
        ]);
      }
      pod.spec = {
        ...pod.spec,
        ephemeralContainers: wanted.map((container) => ({ ...container })),
      };
      applyDefaults(pod, { group: "", version: "v1", kind: "Pod" });
      const problems = validatePod(pod);
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
