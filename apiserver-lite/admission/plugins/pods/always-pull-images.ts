// AlwaysPullImages: every image is pulled before its container starts, so that a private image on a node can be used only
// by those who may pull it.
import { ApiError, errors } from "../../../../api/errors.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import type { Pod } from "../../../../api/types/core-v1.ts";
import { containersOf } from "../../../resources/core/pod/pod-security-validation.ts";
import { typed } from "../../../resources/typed.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../plugin.ts";
import { nameOf, writtenPod } from "../requests.ts";

const always = "Always";

export const alwaysPullImages: AdmissionPlugin = {
  name: "AlwaysPullImages",
  writesWhole: true,

  admit(attributes) {
    const pod = podWithNewImages(attributes);
    if (!pod) return;
    for (const [, container] of containersOf("spec", pod.spec))
      container.imagePullPolicy = always;
    for (const { image } of pod.spec.volumes ?? [])
      if (image) image.pullPolicy = always;
  },

  validate(attributes) {
    const pod = podWithNewImages(attributes);
    if (!pod) return;
    const refused: string[] = [];
    const check = (field: string, policy: string | undefined): void => {
      if (policy === always) return;
      const { detail } = fieldErrors.notSupported(field, policy ?? "", [
        always,
      ]);
      refused.push(
        errors.forbidden(
          attributes.resource,
          nameOf(attributes),
          `${field}: ${detail}`,
        ).message,
      );
    };
    for (const [path, { imagePullPolicy }] of containersOf("spec", pod.spec))
      check(`${path}.imagePullPolicy`, imagePullPolicy);
    for (const [index, { image }] of (pod.spec.volumes ?? []).entries())
      if (image)
        check(`spec.volumes[${index}].image.pullPolicy`, image.pullPolicy);
    if (refused.length === 0) return;
    // Several refusals in one are a failure of no kind in the reference.
    throw new ApiError({
      code: 500,
      message: refused.length === 1 ? refused[0]! : `[${refused.join(", ")}]`,
    });
  },
};

function podWithNewImages(attributes: AdmissionAttributes): Pod | undefined {
  const pod = writtenPod(attributes);
  if (!pod || attributes.operation !== "UPDATE" || !attributes.oldObject)
    return pod;
  const known = new Set(
    containersOf("spec", typed<Pod>(attributes.oldObject).spec).map(
      ([, { image }]) => image,
    ),
  );
  return containersOf("spec", pod.spec).some(
    ([, { image }]) => !known.has(image),
  )
    ? pod
    : undefined;
}
