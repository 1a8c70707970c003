// APIServices: which server answers for a group version. The name is version.group.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { pathSegmentProblems } from "../../../api/names.ts";
import type { APIService } from "../../../api/types/apiregistration-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { strategyOf } from "../typed.ts";

export const apiServiceStrategy = strategyOf<APIService>({
  allowUnconditionalUpdate: false,
  validateName: pathSegmentProblems,
  validate(object) {
    const { metadata, spec } = object;
    const problems: FieldError[] = [];
    const required = `${spec?.version ?? ""}.${spec?.group ?? ""}`;
    if (metadata.name !== required) {
      problems.push(
        fieldErrors.invalid(
          "metadata.name",
          metadata.name,
          `must be \`spec.version+"."+spec.group\`: "${required}"`,
        ),
      );
    }
    if (
      (spec?.groupPriorityMinimum ?? 0) <= 0 ||
      (spec?.groupPriorityMinimum ?? 0) > 20000
    ) {
      problems.push(
        fieldErrors.invalid(
          "spec.groupPriorityMinimum",
          spec?.groupPriorityMinimum ?? 0,
          "must be positive and less than 20000",
        ),
      );
    }
    if (
      (spec?.versionPriority ?? 0) <= 0 ||
      (spec?.versionPriority ?? 0) > 1000
    ) {
      problems.push(
        fieldErrors.invalid(
          "spec.versionPriority",
          spec?.versionPriority ?? 0,
          "must be positive and less than 1000",
        ),
      );
    }
    return problems;
  },
  status: {
    prepareForUpdate(object, old) {
      object.spec = old.spec;
    },
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = object;
    const service = spec?.service
      ? `${spec.service.namespace}/${spec.service.name}`
      : "Local";
    const available = status?.conditions?.find(
      ({ type }) => type === "Available",
    );
    const text = !available
      ? "Unknown"
      : available.status === "True"
        ? "True"
        : `${available.status} (${available.reason ?? ""})`;
    return [
      metadata.name,
      service,
      text,
      formatAge(metadata.creationTimestamp, now),
    ];
  },
});
