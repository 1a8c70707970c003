// The rules of the objects of one version of a definition.
import { ApiError, errors } from "../../api/errors.ts";
import { parseApiVersion, type AnyObject } from "../../api/object.ts";
import { jsonPath, jsonPathText } from "../../api/objects/json-path.ts";
import { isConditionTrue } from "../../api/objects/conditions.ts";
import { qualifiedNameProblems } from "../../api/names.ts";
import { copyJson } from "../../api/patch/json-value.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion as Version,
} from "../../api/types/apiextensions-v1.ts";
import type { CustomSchema } from "../../api/structural/custom-schema.ts";
import type { Conversion } from "../registry/kinds/kind-definition.ts";
import type { Schemas } from "./custom-schemas.ts";
import { customScale, scaleProblems, stepsOf } from "./custom-scale.ts";
import type {
  ResourceStrategy,
  StrategyContext,
} from "../resources/strategy.ts";
import { typed } from "../resources/typed.ts";

export function customStrategy(
  { metadata, spec }: Readonly<CustomResourceDefinition>,
  version: Readonly<Version>,
  { schemas, conversion }: { schemas: Schemas; conversion: Conversion },
): ResourceStrategy {
  const resource = { group: spec.group, resource: spec.names.plural };
  const { scale } = version.subresources ?? {};
  const apiVersion = `${spec.group}/${version.name}`;
  /** The rules are this version's, unless objects have to be converted by others. */
  const viewOf = (object: Readonly<AnyObject>): Readonly<AnyObject> =>
    object.apiVersion === apiVersion || conversion.mode === "deferred"
      ? object
      : conversion.convert(object as AnyObject, apiVersion);
  const schemaOf = (object: Readonly<AnyObject>): CustomSchema =>
    schemas.get(parseApiVersion(object.apiVersion!).version)!;
  const ofScale = (object: Readonly<AnyObject>, statusOnly = false) =>
    scale ? scaleProblems(object, scale, statusOnly) : [];
  return {
    allowUnconditionalUpdate: false,
    anyFinalizer: true,
    countsStatus: true,
    // Before anything is done for it, and when it is stored: until then the definition may have been deleted.
    prepareForCreate(object, context) {
      refuseTerminating(context, metadata.name, resource);
      if (version.subresources?.status) delete object["status"];
    },
    validateInSteps(object, old, context) {
      const seen = viewOf(object);
      const was = old && viewOf(old);
      return schemaOf(seen).validate(seen, was, ofScale(seen), (text) =>
        context.warn(text),
      );
    },
    ...selectableFields(version),
    ...(scale
      ? {
          subresources: { scale: customScale(scale, resource) },
          replicasPath: stepsOf(scale.specReplicasPath),
        }
      : {}),
    refuseCreation: (context) =>
      refuseTerminating(context, metadata.name, resource),
    warnings: finalizerWarnings,
    ...(version.subresources?.status
      ? {
          status: {
            resetPaths: [["spec"]],
            prepareForUpdate: keepMetadata,
            validateInSteps(object, old, context) {
              const seen = viewOf(object);
              return schemaOf(seen).validateStatus(
                seen,
                viewOf(old),
                ofScale(seen, true),
                (text) => context.warn(text),
              );
            },
          },
        }
      : {}),
  };
}

/** Their values as text; one that is not there is "". */
function selectableFields({
  selectableFields: asked = [],
}: Readonly<Version>): Pick<ResourceStrategy, "selectableFields"> {
  if (asked.length === 0) return {};
  const fields = asked.map(
    ({ jsonPath: path }) =>
      [path.replace(/^\./, ""), jsonPath(path) ?? (() => [])] as const,
  );
  return {
    selectableFields: (object) =>
      Object.fromEntries(
        fields.map(([name, find]) => {
          const [value] = find(object);
          return [
            name,
            value === undefined || value === null ? "" : jsonPathText(value),
          ];
        }),
      ),
  };
}

/** Nothing is created while the definition is being deleted. Throws ApiError 405. */
function refuseTerminating(
  context: StrategyContext,
  name: string,
  resource: { group: string; resource: string },
): void {
  const definition = typed<CustomResourceDefinition>(
    context.read("apiextensions.k8s.io", "customresourcedefinitions", "", name),
  );
  if (
    definition &&
    !isConditionTrue(definition.status?.conditions, "Terminating")
  )
    return;
  throw new ApiError({
    ...errors.methodNotAllowed(resource, "create").status,
    message:
      "create not allowed while custom resource definition is terminating",
  });
}

/** A write of /status changes the status and who manages its fields, nothing else of metadata. */
function keepMetadata(object: AnyObject, old: Readonly<AnyObject>): void {
  const { managedFields, resourceVersion } = object.metadata;
  object.metadata = copyJson(old.metadata);
  if (managedFields) object.metadata.managedFields = managedFields;
  else delete object.metadata.managedFields;
  if (resourceVersion) object.metadata.resourceVersion = resourceVersion;
}

const standardFinalizers = new Set([
  "orphan",
  "foregroundDeletion",
  "kubernetes",
]);

/** Of finalizers that are new and whose names other writers may choose too. */
function* finalizerWarnings(
  object: Readonly<AnyObject>,
  old: Readonly<AnyObject> | undefined,
): Iterable<string> {
  const known = new Set(old?.metadata.finalizers);
  const added = new Set(object.metadata.finalizers);
  for (const finalizer of [...added].sort()) {
    if (known.has(finalizer)) continue;
    const text = (problem: string): string =>
      `metadata.finalizers: ${JSON.stringify(finalizer)}: ${problem}`;
    yield* qualifiedNameProblems(finalizer).map(text);
    if (finalizer.includes("/") || standardFinalizers.has(finalizer)) continue;
    yield text(
      `prefer a domain-qualified finalizer name ${finalizer.includes(".") ? "including a path (/) " : ""}to avoid accidental conflicts with other finalizer writers`,
    );
  }
}
