// pods/resize (gate InPlacePodVerticalScaling): what a pod's containers ask for and may use of cpu and memory, and what
// becomes of them when that changes. All else of a request is ignored, metadata and owners of fields too; a change of
// resources makes the resize Proposed, which the node's agent answers. The class of the pod stays as it is, and what is
// named stays named: requests and limits change, they don't come or go.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import { sameValue } from "../../../../api/objects/json-equality.ts";
import { qosClass } from "../../../../api/objects/pod-qos.ts";
import type {
  Container,
  Pod,
  PodSpec,
  ResourceRequirements,
} from "../../../../api/types/core-v1.ts";
import type { PartStrategy } from "../../strategy.ts";
import { untyped } from "../../typed.ts";
import { mirrorAnnotation } from "./pod-annotations.ts";
import {
  dropDisabledFields,
  dropDisabledStatus,
  type PodFeatures,
} from "./pod-disabled-fields.ts";
import { goDifference } from "./pod-update-validation.ts";
import { validatePod } from "./pod-validation.ts";

type Amounts = Readonly<Record<string, unknown>>;

const resizable = ["cpu", "memory"];
const parts = ["requests", "limits"] as const;

const amountsOf = (
  container: Readonly<Container> | undefined,
  part: (typeof parts)[number],
): Amounts => (container?.resources?.[part] ?? {}) as Amounts;

export function resizePart(features: PodFeatures): PartStrategy<Pod> {
  return {
    resetPaths: [],
    prepareForUpdate(pod, old) {
      keepOnlyResources(pod, old);
      if (isResized(pod.spec, old.spec))
        pod.status = { ...pod.status, resize: "Proposed" };
      dropDisabledFields(pod.spec, features, old.spec);
      dropDisabledStatus(pod.status!, features, old.spec);
    },
    validateUpdate: (pod, old) => validateResize(pod, old),
  };
}

/** Containers are found by their names, so that others' order or absence changes nothing. */
function keepOnlyResources(pod: Pod, old: Readonly<Pod>): void {
  const { name, namespace, resourceVersion, uid } = pod.metadata;
  const asked = new Map(
    (pod.spec?.containers ?? []).map((container) => [
      container.name,
      container,
    ]),
  );
  pod.metadata = { ...old.metadata, name, namespace, resourceVersion, uid };
  pod.status = { ...old.status };
  pod.spec = {
    ...old.spec,
    containers: old.spec.containers.map((container) => {
      const wanted = asked.get(container.name);
      if (!wanted) return { ...container };
      const { resources: _, resizePolicy: __, ...kept } = container;
      const { resources, resizePolicy } = wanted;
      return {
        ...kept,
        ...(resources ? { resources } : {}),
        ...(resizePolicy ? { resizePolicy } : {}),
      };
    }),
  };
  for (const key of Object.keys(untyped(pod)))
    if (!(key in old)) delete untyped(pod)[key];
}

const isResized = (now: PodSpec, was: Readonly<PodSpec>): boolean =>
  now.containers.some(
    ({ resources }, index) =>
      resources?.requests !== undefined &&
      !sameValue(resources, was.containers[index]?.resources),
  );

const notOnPath = (detail: string): FieldError[] => [
  // The reference's path of one empty name.
  fieldErrors.forbidden("[]", detail),
];

function validateResize(pod: Pod, old: Readonly<Pod>): FieldError[] {
  const own = validatePod(pod);
  if ([pod, old].some(({ spec }) => hasPodLevelResources(spec)))
    return notOnPath("pods with pod-level resources cannot be resized");
  if (old.metadata.annotations?.[mirrorAnnotation] !== undefined)
    return notOnPath("static pods cannot be resized");
  if (old.spec.os?.name === "windows")
    return notOnPath("windows pods cannot be resized");
  const [cls, was] = [qosClass(pod), old.status?.qosClass ?? qosClass(old)];
  return [
    ...own,
    ...(cls === was
      ? []
      : [
          fieldErrors.invalid(
            "spec",
            pod.status?.qosClass ?? "",
            "Pod QOS Class may not change as a result of resizing",
          ),
        ]),
    ...(isSupportedByNode(old)
      ? []
      : [
          fieldErrors.forbidden(
            "spec",
            "Pod running on node without support for resize",
          ),
        ]),
    ...validateNothingRemoved(pod.spec, old.spec),
    ...validateOthersKept(pod.spec, old.spec),
  ];
}

const hasPodLevelResources = ({ resources }: PodSpec): boolean =>
  parts.some((part) => Object.keys(resources?.[part] ?? {}).length > 0);

/** An agent that can resize reports the resources of running containers. Of a pod without running containers it is not known. */
function isSupportedByNode({ status }: Readonly<Pod>): boolean {
  const running = status?.containerStatuses?.find(
    ({ state }) => state?.running,
  );
  return running === undefined || running.resources !== undefined;
}

function validateNothingRemoved(
  spec: PodSpec,
  was: Readonly<PodSpec>,
): FieldError[] {
  return was.containers.flatMap((container, index) =>
    parts.flatMap((part) => {
      const now = amountsOf(spec.containers[index], part);
      return Object.keys(amountsOf(container, part)).every(
        (name) => name in now,
      )
        ? []
        : [
            fieldErrors.forbidden(
              `spec.containers[${index}].resources.${part}`,
              `resource ${part} cannot be removed`,
            ),
          ];
    }),
  );
}

/** Of the resources of a container only cpu and memory may change. */
function validateOthersKept(
  spec: PodSpec,
  was: Readonly<PodSpec>,
): FieldError[] {
  const masked: PodSpec = {
    ...spec,
    containers: spec.containers.map((container, index) =>
      withResizableOf(container, was.containers[index]!),
    ),
  };
  return sameValue(masked, was)
    ? []
    : [
        fieldErrors.forbidden(
          "spec",
          `only cpu and memory resources are mutable\n${goDifference("core.PodSpec", masked, was)}`,
        ),
      ];
}

function withResizableOf(
  container: Container,
  was: Readonly<Container>,
): Container {
  const { resources: _, resizePolicy: __, ...kept } = container;
  const resources: ResourceRequirements = {};
  for (const part of parts) {
    if (was.resources?.[part] === undefined) continue;
    const amounts: Record<string, unknown> = { ...amountsOf(container, part) };
    for (const name of resizable) {
      const before = amountsOf(was, part)[name];
      if (before === undefined) delete amounts[name];
      else amounts[name] = before;
    }
    resources[part] = amounts as ResourceRequirements["requests"];
  }
  return {
    ...kept,
    ...(was.resources ? { resources } : {}),
    ...(was.resizePolicy ? { resizePolicy: was.resizePolicy } : {}),
  };
}
