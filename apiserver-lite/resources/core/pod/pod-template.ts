// PodTemplates: a template on its own.
import type { PodTemplate } from "../../../../api/types/core-v1.ts";
import { formatLabels } from "../../../printing/age.ts";
import type { ResourceStrategy } from "../../strategy.ts";
import { containerColumns } from "../../apps/workload-validation.ts";
import { validatePodTemplate } from "./pod-spec-validation.ts";

export const podTemplateStrategy: ResourceStrategy = {
  returnsDeleted: true,
  validate(object) {
    const { template } = object as unknown as PodTemplate;
    return validatePodTemplate("template", template ?? {});
  },
  printRow: (object) => {
    const { metadata, template } = object as unknown as PodTemplate;
    return [
      metadata.name,
      ...containerColumns(template),
      formatLabels(template?.metadata?.labels),
    ];
  },
};
