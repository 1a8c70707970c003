// What the OpenAPI documents say of custom resources: by type name, made when a document is first asked for. A schema is the
// same object until its definition changes.
import { definitionName } from "../../api/structural/object-schema.ts";
import {
  publishedListSchema,
  publishedSchema,
} from "../../api/structural/openapi.ts";
import type { CustomResourceDefinition } from "../../api/types/apiextensions-v1.ts";
import type { Schemas } from "./custom-schemas.ts";

type Published = Readonly<Record<string, unknown>>;

export class PublishedSchemas {
  readonly #makers = new Map<string, (form: 2 | 3) => Published>();
  readonly #made = new Map<string, Published>();

  /** Undefined: no such type. */
  of(typeName: string, form: 2 | 3): Published | undefined {
    const key = `${form} ${typeName}`;
    const known = this.#made.get(key);
    if (known) return known;
    const made = this.#makers.get(typeName)?.(form);
    if (made) this.#made.set(key, made);
    return made;
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
      this.#makers.set(definitionName(kind), (form) =>
        publishedSchema(schemas.get(name)?.structural, kind, form),
      );
      this.#makers.set(
        definitionName({ ...kind, kind: kind.listKind }),
        (form) => publishedListSchema(kind, form),
      );
    }
  }

  remove({ spec }: Readonly<CustomResourceDefinition>): void {
    const { group, names, versions } = spec;
    for (const { name: version } of versions)
      for (const kind of [names.kind, names.listKind ?? `${names.kind}List`]) {
        const name = definitionName({ group, version, kind });
        this.#makers.delete(name);
        for (const form of [2, 3]) this.#made.delete(`${form} ${name}`);
      }
  }
}
