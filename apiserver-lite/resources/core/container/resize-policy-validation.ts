// Validation of resizePolicy: what becomes of a container whose cpu or memory changes, once a resource.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import { asBareName, asGo } from "../../../../api/go-syntax.ts";
import type {
  Container,
  ContainerResizePolicy,
} from "../../../../api/types/core-v1.ts";
import { joined, ofEach } from "../../field-checks.ts";

type Problems = FieldError[];

const resources = ["cpu", "memory"];
const restarts = ["NotRequired", "RestartContainer"];

/** The reference names the list, not its item. */
export function validateResizePolicy(
  field: string,
  policies: readonly ContainerResizePolicy[] | undefined,
  podRestarts: string | undefined,
): Problems {
  const seen = new Set<string>();
  return ofEach(policies, ({ resourceName, restartPolicy }, index) => {
    const taken = seen.has(resourceName);
    seen.add(resourceName);
    return joined(
      taken
        ? [
            fieldErrors.duplicate(
              `${field}[${index}]`,
              asBareName(resourceName),
            ),
          ]
        : [],
      required(field, resourceName, resources, asBareName),
      required(field, restartPolicy, restarts),
      podRestarts === "Never" && restartPolicy !== "NotRequired"
        ? [
            fieldErrors.invalid(
              field,
              restartPolicy ?? "",
              "must be 'NotRequired' when `restartPolicy` is 'Never'",
            ),
          ]
        : [],
    );
  });
}

function required(
  field: string,
  value: string | undefined,
  known: readonly string[],
  shown: (value: string) => unknown = (text) => text,
): Problems {
  if (!value) return [fieldErrors.required(field)];
  return known.includes(value)
    ? []
    : [fieldErrors.notSupported(field, shown(value), known)];
}

/** Of init containers, those that stay too. */
export const refuseResizePolicy = (
  field: string,
  { resizePolicy = [] }: Container,
): Problems =>
  resizePolicy.length === 0
    ? []
    : [
        fieldErrors.invalid(
          `${field}.resizePolicy`,
          asGo("[]core.ContainerResizePolicy", resizePolicy),
          "must not be set for init containers",
        ),
      ];
