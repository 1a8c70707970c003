// StorageClasses: a provisioner and parameters, settled at creation.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { labelKeyProblems, qualifiedNameProblems } from "../../../api/names.ts";
import type { StorageClass } from "../../../api/types/storage-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { deprecatedNodeLabels } from "../core/node-label-warnings.ts";
import { strategyOf } from "../typed.ts";
import { exactlyOneOf, oneOf } from "../field-checks.ts";
import { sameValue } from "../../../api/objects/json-equality.ts";

const defaultMarks = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];

const maxParameterBytes = 256 * 1024;

type Topologies = NonNullable<StorageClass["allowedTopologies"]>;

/** No term twice, and none that is empty. */
function topologyProblems(terms: Topologies): FieldError[] {
  const seen = new Set([""]);
  return terms.flatMap(({ matchLabelExpressions = [] }, index) => {
    const field = `allowedTopologies[${index}].matchLabelExpressions`;
    const problems: FieldError[] = [];
    const keys = new Map<string, string>();
    for (const [at, { key, values }] of matchLabelExpressions.entries()) {
      const path = `${field}[${at}]`;
      const given = values ?? [];
      if (given.length === 0)
        problems.push(fieldErrors.required(`${path}.values`));
      for (const [place, value] of given.entries())
        if (given.indexOf(value) < place)
          problems.push(
            fieldErrors.duplicate(`${path}.values[${place}]`, value),
          );
      if (keys.has(key))
        problems.push(fieldErrors.duplicate(`${path}.key`, key));
      keys.set(key, [...given].sort().join());
      problems.push(...invalidEach(`${path}.key`, key, labelKeyProblems(key)));
    }
    const term = [...keys].sort().join(";");
    if (seen.has(term)) problems.push(fieldErrors.duplicate(field, ""));
    seen.add(term);
    return problems;
  });
}

export const storageClassStrategy = strategyOf<StorageClass>({
  returnsDeleted: true,
  countsGeneration: false,
  *warnings({ allowedTopologies = [] }) {
    for (const [
      at,
      { matchLabelExpressions = [] },
    ] of allowedTopologies.entries())
      for (const [index, { key }] of matchLabelExpressions.entries())
        if (deprecatedNodeLabels[key])
          yield `allowedTopologies[${at}].matchLabelExpressions[${index}].key: ${deprecatedNodeLabels[key]}`;
  },
  validate(object) {
    const { provisioner, reclaimPolicy, volumeBindingMode, parameters } =
      object;
    const problems: FieldError[] = provisioner
      ? invalidEach(
          "provisioner",
          provisioner,
          qualifiedNameProblems(provisioner.toLowerCase()),
        )
      : [fieldErrors.required("provisioner")];
    if (Object.keys(parameters ?? {}).some((key) => key === "")) {
      problems.push(
        fieldErrors.invalid("parameters", "", "field can not be empty."),
      );
    }
    const bytes = Object.entries(parameters ?? {}).reduce(
      (sum, [key, value]) =>
        sum + Buffer.byteLength(key) + Buffer.byteLength(value),
      0,
    );
    if (bytes > maxParameterBytes)
      problems.push(fieldErrors.tooLong("parameters", maxParameterBytes));
    problems.push(
      ...oneOf("reclaimPolicy", reclaimPolicy, ["Delete", "Retain"]),
    );
    return [
      ...problems,
      ...exactlyOneOf("volumeBindingMode", volumeBindingMode, [
        "Immediate",
        "WaitForFirstConsumer",
      ]),
      ...topologyProblems(object.allowedTopologies ?? []),
    ];
  },
  validateUpdate(now, was) {
    const problems: FieldError[] = [];
    const settled = ["parameters", "provisioner", "reclaimPolicy"] as const;
    for (const name of settled) {
      if (!sameValue(now[name], was[name])) {
        problems.push(
          fieldErrors.forbidden(name, `updates to ${name} are forbidden.`),
        );
      }
    }
    if (!sameValue(now.volumeBindingMode, was.volumeBindingMode)) {
      problems.push(
        fieldErrors.invalid(
          "volumeBindingMode",
          now.volumeBindingMode,
          "field is immutable",
        ),
      );
    }
    return problems;
  },
  printRow: (object, now) => {
    const {
      metadata,
      provisioner,
      reclaimPolicy,
      volumeBindingMode,
      allowVolumeExpansion,
    } = object;
    const isDefault = defaultMarks.some(
      (mark) => metadata.annotations?.[mark] === "true",
    );
    return [
      isDefault ? `${metadata.name} (default)` : metadata.name,
      provisioner,
      reclaimPolicy ?? "Delete",
      volumeBindingMode ?? "Immediate",
      allowVolumeExpansion ?? false,
      formatAge(metadata.creationTimestamp, now),
    ];
  },
});
