// RuntimeClasses: a handler that is a DNS label and never changes.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import type { Toleration } from "../../../api/types/core-v1.ts";
import { deprecatedNodeLabels } from "../core/node-label-warnings.ts";
import { validateTolerations } from "../core/pod/scheduling-validation.ts";
import { dnsLabelProblems } from "../../../api/names.ts";
import type { RuntimeClass } from "../../../api/types/node-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { strategyOf } from "../typed.ts";
import { validateResources } from "../core/container/resource-validation.ts";
import { immutable, labels } from "../field-checks.ts";
import { sameValue } from "../../../api/objects/json-equality.ts";

function tolerationProblems(tolerations: readonly Toleration[]): FieldError[] {
  const field = "scheduling.tolerations";
  return tolerations.flatMap((toleration, index) => [
    ...validateTolerations(`${field}.tolerations`, [toleration]),
    ...(tolerations.slice(0, index).some((one) => sameValue(one, toleration))
      ? [
          fieldErrors.duplicate(
            `${field}[${index}]`,
            asGo("core.Toleration", toleration),
          ),
        ]
      : []),
  ]);
}

export const runtimeClassStrategy = strategyOf<RuntimeClass>({
  countsGeneration: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  anyFinalizer: true,
  validate(object) {
    const { handler, overhead, scheduling } = object;
    return [
      ...invalidEach("handler", handler, dnsLabelProblems(handler ?? "")),
      ...validateResources("overhead", { limits: overhead?.podFixed ?? {} }),
      ...labels("scheduling.nodeSelector", scheduling?.nodeSelector),
      ...tolerationProblems(scheduling?.tolerations ?? []),
    ];
  },
  validateUpdate: (object, old) =>
    immutable("handler", object.handler, old.handler),
  *warnings({ scheduling }) {
    for (const label of Object.keys(scheduling?.nodeSelector ?? {}).sort())
      if (deprecatedNodeLabels[label])
        yield `scheduling.nodeSelector: ${deprecatedNodeLabels[label]}`;
  },
  printRow: (object, now) => {
    const { metadata, handler } = object;
    return [metadata.name, handler, formatAge(metadata.creationTimestamp, now)];
  },
});
