// CustomResourceDefinitions, as far as every server needs them: the name is plural.group, one version is stored, and
// names and scope are settled. The schema's own rules belong to the custom resource room.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { dns1035Problems, dnsSubdomainProblems } from "../../../api/names.ts";
import type { CustomResourceDefinition } from "../../../api/types/apiextensions-v1.ts";
import { strategyOf } from "../typed.ts";
import { markForCleanup } from "./cleanup.ts";
import { immutable, oneOf } from "../field-checks.ts";

export const customResourceDefinitionStrategy =
  strategyOf<CustomResourceDefinition>({
    allowUnconditionalUpdate: false,
    anyFinalizer: true,
    prepareForCreate(definition) {
      const stored = definition.spec.versions?.find(
        ({ storage }) => storage,
      )?.name;
      definition.status = {
        acceptedNames: { kind: "", plural: "" },
        storedVersions: stored ? [stored] : [],
      };
    },
    prepareForUpdate(definition, was) {
      const stored = definition.spec.versions?.find(
        ({ storage }) => storage,
      )?.name;
      const versions = was.status?.storedVersions ?? [];
      definition.status = {
        ...was.status!,
        storedVersions:
          stored && !versions.includes(stored)
            ? [...versions, stored]
            : versions,
      };
    },
    // A deleted definition stays until its objects are gone.
    isHeld: ({ metadata }) => metadata.deletionTimestamp === undefined,
    prepareForDeletion: markForCleanup,
    validate(object) {
      const { metadata, spec } = object;
      const problems: FieldError[] = [];
      const required = `${spec.names?.plural}.${spec.group}`;
      if (metadata.name !== required) {
        problems.push(
          fieldErrors.invalid(
            "metadata.name",
            metadata.name,
            `must be spec.names.plural+"."+spec.group`,
          ),
        );
      }
      if (!spec.group) problems.push(fieldErrors.required("spec.group"));
      else {
        problems.push(
          ...invalidEach(
            "spec.group",
            spec.group,
            dnsSubdomainProblems(spec.group),
          ),
        );
        if (!spec.group.includes(".")) {
          problems.push(
            fieldErrors.invalid(
              "spec.group",
              spec.group,
              "should be a domain with at least one dot",
            ),
          );
        }
      }
      problems.push(
        ...oneOf("spec.scope", spec.scope, ["Cluster", "Namespaced"], true),
      );
      for (const name of ["plural", "singular", "kind", "listKind"] as const) {
        const value = spec.names?.[name];
        if (!value) {
          if (name === "plural" || name === "kind")
            problems.push(fieldErrors.required(`spec.names.${name}`));
        } else {
          problems.push(
            ...invalidEach(
              `spec.names.${name}`,
              value,
              dns1035Problems(value.toLowerCase()),
            ),
          );
        }
      }
      const versions = spec.versions ?? [];
      const seen = new Set<string>();
      for (const [index, version] of versions.entries()) {
        const path = `spec.versions[${index}]`;
        problems.push(
          ...invalidEach(
            `${path}.name`,
            version.name,
            dns1035Problems(version.name),
          ),
        );
        if (seen.has(version.name))
          problems.push(fieldErrors.duplicate(`${path}.name`, version.name));
        seen.add(version.name);
        if (!version.schema?.openAPIV3Schema) {
          problems.push(
            fieldErrors.required(
              `${path}.schema.openAPIV3Schema`,
              "schemas are required",
            ),
          );
        }
      }
      if (versions.filter(({ storage }) => storage).length !== 1) {
        problems.push(
          fieldErrors.invalid(
            "spec.versions",
            versions.map(({ name }) => name),
            "must have exactly one version marked as storage version",
          ),
        );
      }
      return problems;
    },
    validateUpdate(object, old) {
      const [now, was] = [object.spec, old.spec];
      return [
        ...immutable("spec.group", now.group, was.group),
        ...immutable("spec.scope", now.scope, was.scope),
        ...immutable("spec.names.kind", now.names.kind, was.names.kind),
        ...immutable("spec.names.plural", now.names.plural, was.names.plural),
      ];
    },
    status: {
      prepareForUpdate(object, old) {
        object.spec = old.spec;
      },
    },
  });
