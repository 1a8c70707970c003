// Validation of a pod as a whole: its annotations, its spec, and what pods are asked for and templates are not.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import type { Pod } from "../../../../api/types/core-v1.ts";
import { validateImagePadding } from "../container/container-validation.ts";
import { validatePodAnnotations } from "./pod-annotations.ts";

import { ofEach, joined } from "../../field-checks.ts";
import { validatePodResourceClaims } from "./pod-resource-claims.ts";
import { validatePodSpec } from "./pod-spec-validation.ts";

/** Metadata is validated by the registry. */
export function validatePod(pod: Pod): FieldError[] {
  const { metadata, spec } = pod;
  const containers = [
    ["containers", spec.containers],
    ["initContainers", spec.initContainers],
  ] as const;
  const tokens = spec.serviceAccountName
    ? []
    : ofEach(spec.volumes, ({ projected }, volume) =>
        ofEach(projected?.sources, ({ serviceAccountToken }, source) =>
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
  return joined(
    validatePodAnnotations("metadata.annotations", metadata.annotations, spec),
    validatePodSpec("spec", spec, { podName: metadata.name ?? "" }),
    validatePodResourceClaims(pod),
    tokens,
    ofEach(containers, ([part, list]) =>
      ofEach(list, (container, index) =>
        validateImagePadding(`spec.${part}[${index}]`, container),
      ),
    ),
  );
}

/** What a pod may have later, but not from its beginning. */
export function validatePodCreate({ spec }: Pod): FieldError[] {
  return [
    ...(spec.ephemeralContainers?.length
      ? [
          fieldErrors.forbidden(
            "spec.ephemeralContainers",
            "cannot be set on create",
          ),
        ]
      : []),
    ...(spec.schedulingGates?.length && spec.nodeName
      ? [
          fieldErrors.forbidden(
            "spec.nodeName",
            "cannot be set until all schedulingGates have been cleared",
          ),
        ]
      : []),
  ];
}
