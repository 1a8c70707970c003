// Every type and field of the documents has a description of its own or a general one, and no text describes what is
// not there.
import { definitionOf } from "../../../api/openapi/definitions.ts";
import { createOpenApiService } from "../../../api/openapi/service.ts";
import { texts } from "../../../api/openapi/texts/index.ts";
import { builtinCatalogue } from "../../../api/catalogue.ts";

interface Schema {
  description?: string;
  properties?: Record<string, Schema>;
  $ref?: string;
  allOf?: Schema[];
}

const service = createOpenApiService(builtinCatalogue());

async function documentOf(answer: Promise<unknown>): Promise<{
  definitions?: Record<string, Schema>;
  components?: { schemas: Record<string, Schema> };
}> {
  const { body } = (await answer) as { body: Uint8Array[] };
  return JSON.parse(Buffer.concat(body).toString()) as object;
}

test("all types and fields of version 2 have descriptions", async () => {
  const { definitions } = await documentOf(service.v2(false));
  const bare: string[] = [];
  for (const [name, { description, properties }] of Object.entries(
    definitions!,
  )) {
    if (!description) bare.push(name);
    for (const [field, property] of Object.entries(properties ?? {}))
      if (!property.description) bare.push(`${name}.${field}`);
  }
  expect(Object.keys(definitions!).length).toBeGreaterThan(500);
  expect(bare).toEqual([]);
});

test("in version 3 nothing stands beside a reference", async () => {
  const { components } = await documentOf(service.v3("apis/apps/v1")!);
  const { properties } =
    components!.schemas["io.k8s.api.apps.v1.DeploymentSpec"]!;
  expect(properties!["strategy"]).toMatchObject({
    allOf: [
      { $ref: "#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy" },
    ],
    description: expect.any(String) as string,
  });
  for (const schema of Object.values(components!.schemas))
    for (const property of Object.values(schema.properties ?? {}))
      if (property.$ref) expect(Object.keys(property)).toEqual(["$ref"]);
});

const versions = ["v1", "v2", "v1beta1", "v1alpha1", "v1alpha2", "v1alpha3"];

/** The fields of a type in all its versions; undefined when there is no such type. */
function fieldsOf(packageName: string, type: string): Set<string> | undefined {
  const found = [
    packageName,
    ...versions.map((version) => `${packageName}.${version}`),
  ]
    .map((name) => definitionOf(`io.k8s.${name}.${type}`, 2))
    .filter((definition) => definition !== undefined);
  return found.length > 0
    ? new Set(found.flatMap(({ properties }) => Object.keys(properties ?? {})))
    : undefined;
}

test("each text is a sentence about something that is there", () => {
  const wrong: string[] = [];
  for (const packages of texts)
    for (const [packageName, types] of Object.entries(packages))
      for (const [type, entry] of Object.entries(types)) {
        const fields = fieldsOf(packageName, type);
        for (const [field, text] of Object.entries(entry)) {
          const at = `${packageName}.${type}.${field}`;
          const known = ["", "="].includes(field) ? fields : fields?.has(field);
          if (!known) wrong.push(`${at} does not exist`);
          else if (field === "=") {
            if (!types[text]) wrong.push(`${at} does not exist`);
          } else if (!/^[^ ].*[^ ]\.$/.test(text))
            wrong.push(`${at} is no sentence`);
          else if (/ {2}|`|\n/.test(text)) wrong.push(`${at} is not plain`);
        }
      }
  expect(wrong).toEqual([]);
});
