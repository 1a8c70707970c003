// What the OpenAPI documents say of custom resources: by type name, made when a document is asked for.
import type { CustomSchema } from "../../api/structural/custom-schema.ts";
import { definitionName } from "../../api/structural/object-schema.ts";
import {
  publishedListSchema,
  publishedSchema,
} from "../../api/structural/openapi.ts";
import { oneStep, type Steps } from "../../api/queueing/steps.ts";
import type { CustomResourceDefinition } from "../../api/types/apiextensions-v1.ts";
import type { Schemas } from "./custom-schemas.ts";

type Published = () => Steps<Readonly<Record<string, unknown>>>;

export class PublishedSchemas {
  readonly #made = new Map<string, Readonly<Record<2 | 3, Published>>>();

  /** The same function until the schema changes. Undefined: no such type. */
  of(typeName: string, form: 2 | 3): Published | undefined {
    return this.#made.get(typeName)?.[form];
  }

  set(definition: Readonly<CustomResourceDefinition>, schemas: Schemas): void {
    this.remove(definition);
    const { group, names, versions, preserveUnknownFields } = definition.spec;
    for (const { name, selectableFields = [] } of versions) {
      const kind = {
        ...{ group, version: name, kind: names.kind, plural: names.plural },
        listKind: names.listKind ?? `${names.kind}List`,
        selectableFields: selectableFields.map(({ jsonPath }) =>
          jsonPath.replace(/^\./, ""),
        ),
        preserveUnknownFields: preserveUnknownFields ?? false,
      };
      this.#made.set(definitionName(kind), {
        2: () => published(schemas.get(name), kind, 2),
        3: () => published(schemas.get(name), kind, 3),
      });
      this.#made.set(definitionName({ ...kind, kind: kind.listKind }), {
        2: () => oneStep(() => publishedListSchema(kind, 2)),
        3: () => oneStep(() => publishedListSchema(kind, 3)),
      });
    }
  }

  remove({ spec }: Readonly<CustomResourceDefinition>): void {
    const { group, names, versions } = spec;
    for (const { name: version } of versions)
      for (const kind of [names.kind, names.listKind ?? `${names.kind}List`])
        this.#made.delete(definitionName({ group, version, kind }));
  }
}

function* published(
  schema: CustomSchema | undefined,
  kind: Parameters<typeof publishedSchema>[1],
  form: 2 | 3,
): ReturnType<Published> {
  const structural = schema && (yield* schema.prepare());
  return yield* publishedSchema(structural, kind, form);
}
