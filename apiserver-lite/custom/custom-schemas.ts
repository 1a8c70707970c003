// The schemas of a definition's versions. None is parsed before it is asked for.
import { CustomSchema } from "../../api/structural/custom-schema.ts";
import type { RuleTimes } from "../../api/structural/rule-times.ts";
import type { CustomResourceDefinition } from "../../api/types/apiextensions-v1.ts";
import { embeddedMetadataProblems } from "../resources/object-meta.ts";

/** By name of the version. */
export type Schemas = ReadonlyMap<string, CustomSchema>;

export function schemasOf(
  { spec }: Readonly<CustomResourceDefinition>,
  ruleTimes: RuleTimes,
): Schemas {
  const { group, names, versions, preserveUnknownFields = false } = spec;
  return new Map(
    versions.map(({ name, schema }) => [
      name,
      new CustomSchema(() => schema?.openAPIV3Schema, {
        ...{ group, version: name, kind: names.kind },
        ...{ preserveUnknownFields, ruleTimes },
        checkMetadata: embeddedMetadataProblems,
      }),
    ]),
  );
}
