import {
  schemaFor,
  typeNamed,
  type FieldSchema,
  type ObjectSchema,
  type TypeSchema,
} from "../../../api/schema.ts";
import { builtinCatalogue } from "../../../api/catalogue.ts";
import { messageNames } from "../../../api/type-table.ts";

/**
 * The schema at a path of field names; list and map levels are passed through, so "spec.template.spec.containers.env"
 * and "metadata.labels" name what one expects.
 */
function schemaAt(
  schema: TypeSchema,
  path: readonly string[],
): FieldSchema | undefined {
  let node: TypeSchema = schema;
  let field: FieldSchema | undefined;
  for (const step of path) {
    while (node.type === "list" || node.type === "map")
      node = node.type === "list" ? node.items : node.values;
    field = node.type === "object" ? node.fields.get(step) : undefined;
    if (!field) return undefined;
    node = field.schema;
  }
  return field;
}
const pod = schemaFor("", "v1", "Pod")!;

test("every served kind, its list and its subresources' kinds have a schema", () => {
  const catalogue = builtinCatalogue(() => true);
  const missing: string[] = [];
  for (const { group, version } of catalogue.groupVersions())
    for (const { kind, verbs, subresources } of catalogue.resources(
      group,
      version,
    )) {
      const kinds = [
        [group, version, kind],
        ...(verbs.includes("list") ? [[group, version, `${kind}List`]] : []),
      ];
      for (const sub of subresources) {
        const [subGroup, subVersion] = sub.apiVersion?.includes("/")
          ? sub.apiVersion.split("/")
          : [group, version];
        kinds.push([subGroup!, subVersion!, sub.kind]);
      }
      for (const [g, v, k] of kinds)
        if (!schemaFor(g!, v!, k!)?.isKind) missing.push(`${g}/${v} ${k}`);
    }
  expect(missing).toEqual([]);
});

test.each([
  ["", "v1", "Status"],
  ["", "v1", "DeleteOptions"],
  ["apps", "v1", "DeleteOptions"],
  ["meta.k8s.io", "v1", "PartialObjectMetadata"],
  ["meta.k8s.io", "v1beta1", "PartialObjectMetadataList"],
  ["apps", "v1beta1", "Deployment"],
])("%s/%s %s is known", (group, version, kind) => {
  expect(schemaFor(group, version, kind)).toMatchObject({
    type: "object",
    isKind: true,
  });
});

test.each([
  ["", "v1", "PodSpec"],
  ["apps", "v1", "Pod"],
  ["apps", "v1", "constructor"],
  ["example.com", "v1", "Thing"],
])("%s/%s %s is not a kind", (group, version, kind) => {
  expect(schemaFor(group, version, kind)).toBeUndefined();
});

test.each<[string, Partial<FieldSchema>]>([
  [
    "spec.containers",
    {
      listType: "map",
      listMapKeys: ["name"],
      patchStrategy: ["merge"],
      patchMergeKey: "name",
      required: true,
    },
  ],
  [
    "spec.volumes",
    { patchStrategy: ["merge", "retainKeys"], patchMergeKey: "name" },
  ],
  [
    "spec.containers.ports",
    {
      listMapKeys: ["containerPort", "protocol"],
      patchMergeKey: "containerPort",
    },
  ],
  ["spec.tolerations", { listType: "atomic" }],
  ["metadata.finalizers", { listType: "set", patchStrategy: ["merge"] }],
  ["spec.nodeSelector", { mapType: "atomic" }],
  ["spec.containers.ports.protocol", { default: "TCP" }],
  ["spec.ephemeralContainers.env", { listMapKeys: ["name"] }],
  [
    "spec.terminationGracePeriodSeconds",
    { nullable: true, schema: { type: "int64" } },
  ],
])("field %s", (path, expected) => {
  expect(schemaAt(pod, path.split("."))).toMatchObject(expected);
});

test.each([
  ["spec.containers.resources.limits.x", undefined],
  ["spec.overhead", "map"],
  ["spec.containers.livenessProbe.httpGet.port", "int-or-string"],
  ["metadata.creationTimestamp", "time"],
  ["metadata.managedFields.fieldsV1", "fields-v1"],
  ["spec.volumes.emptyDir.sizeLimit", "quantity"],
])("type of %s", (path, type) => {
  expect(schemaAt(pod, path.split("."))?.schema.type).toBe(type);
});

test("inlined and recursive types", () => {
  expect([
    ...(typeNamed("io.k8s.api.core.v1.Volume") as ObjectSchema).fields.keys(),
  ]).toContain("hostPath");
  const crd = schemaFor(
    "apiextensions.k8s.io",
    "v1",
    "CustomResourceDefinition",
  )!;
  const props = schemaAt(crd, [
    "spec",
    "versions",
    "schema",
    "openAPIV3Schema",
  ])!.schema as ObjectSchema;
  const properties = props.fields.get("properties")!.schema;
  expect(properties.type === "map" && properties.values).toBe(props);
  expect(props.fields.get("additionalProperties")!.schema.type).toBe(
    "object-or-boolean",
  );
  expect(
    props.fields.get("x-kubernetes-preserve-unknown-fields")!.nullable,
  ).toBe(true);
});

test("every type of the table resolves, to its last field", () => {
  const seen = new Set<TypeSchema>();
  const visit = (schema: TypeSchema): void => {
    if (seen.has(schema)) return;
    seen.add(schema);
    if (schema.type === "object")
      for (const field of schema.fields.values()) visit(field.schema);
    else if (schema.type === "list") visit(schema.items);
    else if (schema.type === "map") visit(schema.values);
    else if ("object" in schema) visit(schema.object);
    expect(schema.type).toBeDefined();
  };
  for (const name of messageNames()) visit(typeNamed(name)!);
  expect(seen.size).toBeGreaterThan(1000);
});
