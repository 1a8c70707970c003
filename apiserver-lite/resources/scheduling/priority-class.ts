// PriorityClasses: values up to a billion for users, the two above for the system; neither value nor policy changes.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { PriorityClass } from "../../../api/types/scheduling-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { strategyOf } from "../typed.ts";
import { immutable, oneOf } from "../field-checks.ts";

const maxUserPriority = 1_000_000_000;
const systemClasses: Readonly<Record<string, number>> = {
  "system-cluster-critical": 2_000_000_000,
  "system-node-critical": 2_000_001_000,
};

const systemProblem = (name: string): string =>
  name in systemClasses
    ? `value of ${name} PriorityClass must be ${systemClasses[name]}`
    : `${name} is not a known system priority class`;

export const priorityClassStrategy = strategyOf<PriorityClass>({
  countsGeneration: "created",
  refuseDeletion: ({ metadata }) =>
    metadata.name in systemClasses
      ? "this is a system priority class and cannot be deleted"
      : undefined,
  validateCreate(object) {
    const { metadata, value, preemptionPolicy } = object;
    const problems: FieldError[] = [];
    if (metadata.name.startsWith("system-")) {
      if (systemClasses[metadata.name] !== value) {
        problems.push(
          fieldErrors.forbidden(
            "metadata.name",
            `priority class names with 'system-' prefix are reserved for system use only. error: ${systemProblem(metadata.name)}`,
          ),
        );
      }
    } else if (value > maxUserPriority) {
      problems.push(
        fieldErrors.forbidden(
          "value",
          `maximum allowed value of a user defined priority is ${maxUserPriority}`,
        ),
      );
    }
    problems.push(
      ...oneOf(
        "preemptionPolicy",
        preemptionPolicy,
        ["PreemptLowerPriority", "Never"],
        true,
      ),
    );
    return problems;
  },
  validateUpdate(now, was) {
    const problems: FieldError[] = [];
    if ((now.value ?? 0) !== (was.value ?? 0)) {
      problems.push(
        fieldErrors.forbidden("value", "may not be changed in an update."),
      );
    }
    return [
      ...problems,
      ...immutable(
        "preemptionPolicy",
        now.preemptionPolicy,
        was.preemptionPolicy,
      ),
    ];
  },
  printRow: (object, now) => {
    const { metadata, value, globalDefault, preemptionPolicy } = object;
    return [
      metadata.name,
      value ?? 0,
      globalDefault ?? false,
      formatAge(metadata.creationTimestamp, now),
      preemptionPolicy ?? "",
    ];
  },
});
