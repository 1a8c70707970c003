// PodTemplates: a template on its own.
import type { PodTemplate } from "../../../../api/types/core-v1.ts";
import { formatLabels } from "../../../printing/age.ts";
import { containerColumns } from "../../apps/workload-validation.ts";
import { isNewGeneration, templateWarnings } from "../template-warnings.ts";
import { validatePodTemplate } from "./pod-spec-validation.ts";
import { strategyOf } from "../../typed.ts";

export const podTemplateStrategy = strategyOf<PodTemplate>({
  returnsDeleted: true,
  validate(object) {
    const { template } = object;
    return validatePodTemplate("template", template ?? {});
  },
  warnings: (object, old) =>
    isNewGeneration(object, old)
      ? templateWarnings("template", object.template)
      : [],
  printRow: (object) => {
    const { metadata, template } = object;
    return [
      metadata.name,
      ...containerColumns(template),
      formatLabels(template?.metadata?.labels),
    ];
  },
});
