// Validation of a pod as a whole: its annotations, its spec, and what pods are asked for and templates are not.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import type { Pod } from "../../../../api/types/core-v1.ts";
import { validateImagePadding } from "../container/container-validation.ts";
import { validatePodAnnotations } from "./pod-annotations.ts";
import { validatePodSpec } from "./pod-spec-validation.ts";

/** Metadata is validated by the registry. */
export function validatePod({ metadata, spec }: Pod): FieldError[] {
  const containers = [
    ["containers", spec.containers],
    ["initContainers", spec.initContainers],
  ] as const;
  const tokens = spec.serviceAccountName
    ? []
    : (spec.volumes ?? []).flatMap(({ projected }, volume) =>
        (projected?.sources ?? []).flatMap(({ serviceAccountToken }, source) =>
          serviceAccountToken
            ? [
                fieldErrors.forbidden(
                  `spec.volumes[${volume}].projected.sources[${source}].serviceAccountToken`,
                  "must not be specified when serviceAccountName is not set",
                ),
              ]
            : [],
        ),
      );
  return [
    ...validatePodAnnotations(
      "metadata.annotations",
      metadata.annotations,
      spec,
    ),
    ...validatePodSpec("spec", spec, { podName: metadata.name ?? "" }),
    ...tokens,
    ...containers.flatMap(([part, list]) =>
      (list ?? []).flatMap((container, index) =>
        validateImagePadding(`spec.${part}[${index}]`, container),
      ),
    ),
  ];
}
