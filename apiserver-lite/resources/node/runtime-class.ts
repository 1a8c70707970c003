// RuntimeClasses: a handler that is a DNS label and never changes.
import type { AnyObject } from "../../../api/object.ts";
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import type { Toleration } from "../../../api/types/core-v1.ts";
import { validateTolerations } from "../core/pod/scheduling-validation.ts";
import { dnsLabelProblems } from "../../../api/names.ts";
import type { RuntimeClass } from "../../../api/types/node-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../strategy.ts";
import { immutable, labels, nonNegativeQuantity } from "../field-checks.ts";
import { sameValue } from "../../../api/objects/json-equality.ts";

const asClass = (object: Readonly<AnyObject>): RuntimeClass =>
  object as unknown as RuntimeClass;

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

export const runtimeClassStrategy: ResourceStrategy = {
  countsGeneration: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate(object) {
    const { handler, overhead, scheduling } = asClass(object);
    return [
      ...invalidEach("handler", handler, dnsLabelProblems(handler ?? "")),
      ...Object.entries(overhead?.podFixed ?? {}).flatMap(([name, value]) =>
        nonNegativeQuantity(`overhead.podFixed[${name}]`, value),
      ),
      ...labels("scheduling.nodeSelector", scheduling?.nodeSelector),
      ...tolerationProblems(scheduling?.tolerations ?? []),
    ];
  },
  validateUpdate: (object, old) =>
    immutable("handler", asClass(object).handler, asClass(old).handler),
  printRow: (object, now) => {
    const { metadata, handler } = asClass(object);
    return [metadata.name, handler, formatAge(metadata.creationTimestamp, now)];
  },
};
