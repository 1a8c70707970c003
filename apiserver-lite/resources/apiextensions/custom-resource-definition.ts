// CustomResourceDefinitions: one version is stored, names and scope are settled once their objects are served. Validation is
// read when the first definition is written, as it needs the engines of patterns and rules.
import { prepareSchemas } from "../../../api/structural/prepare.ts";
import type { CustomResourceDefinition } from "../../../api/types/apiextensions-v1.ts";
import { strategyOf } from "../typed.ts";
import { markForCleanup } from "./cleanup.ts";
import type * as Validation from "./definition-validation.ts";
import { keptBesideStatus } from "../status-metadata.ts";

let validation: typeof Validation | undefined;

async function prepareValidation(): Promise<void> {
  await prepareSchemas();
  validation ??= await import("./definition-validation.ts");
}

export const customResourceDefinitionStrategy =
  strategyOf<CustomResourceDefinition>({
    allowUnconditionalUpdate: false,
    anyFinalizer: true,
    async prepareForCreate(definition) {
      await prepareValidation();
      const stored = definition.spec.versions?.find(
        ({ storage }) => storage,
      )?.name;
      definition.status = {
        acceptedNames: { kind: "", plural: "" },
        storedVersions: stored ? [stored] : [],
      };
    },
    async prepareForUpdate(definition, was) {
      await prepareValidation();
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
    validateInSteps: (definition, was) =>
      was
        ? validation!.validateChangedDefinition(definition, was)
        : validation!.validateNewDefinition(definition),
    status: {
      resetPaths: keptBesideStatus,
      prepareForUpdate: prepareValidation,
      validateUpdate: (definition) => validation!.statusProblems(definition),
    },
  });
