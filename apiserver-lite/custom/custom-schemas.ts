// The schemas of a definition's versions. None is parsed before it is asked for.
import { pathSegmentProblems } from "../../api/names.ts";
import type { FieldError } from "../../api/errors.ts";
import { CustomSchema } from "../../api/structural/custom-schema.ts";
import type { CustomResourceDefinition } from "../../api/types/apiextensions-v1.ts";
import type { ObjectMeta } from "../../api/types/meta-v1.ts";
import { validateObjectMeta } from "../resources/object-meta.ts";

/** By name of the version. */
export type Schemas = ReadonlyMap<string, CustomSchema>;

export function schemasOf({
  spec,
}: Readonly<CustomResourceDefinition>): Schemas {
  const { group, names, versions, preserveUnknownFields = false } = spec;
  return new Map(
    versions.map(({ name, schema }) => [
      name,
      new CustomSchema(() => schema?.openAPIV3Schema, {
        ...{ group, version: name, kind: names.kind },
        preserveUnknownFields,
        checkMetadata: embeddedMetaProblems,
      }),
    ]),
  );
}

/** The problems of an embedded resource's metadata, which need not name it. */
function embeddedMetaProblems(metadata: Readonly<ObjectMeta>): FieldError[] {
  const name = metadata.name || "fakename";
  return validateObjectMeta(
    { metadata: { ...metadata, name } },
    {
      namespaced: Boolean(metadata.namespace),
      anyFinalizer: true,
      validateName: pathSegmentProblems,
    },
  );
}
