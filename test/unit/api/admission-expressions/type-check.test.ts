// Warnings of the check of policies against the types that their rules name.
import { builtinType } from "../../../../api/admission-expressions/builtin-types.ts";
import {
  checkTypes,
  type KnownTypes,
} from "../../../../api/admission-expressions/type-check.ts";
import { typeOfSchema } from "../../../../api/cel/schemas/from-json-schema.ts";
import { apiVersionOf } from "../../../../api/object.ts";

const known: KnownTypes = {
  kindsOf(_, __, resource) {
    const kind = {
      deployments: "Deployment",
      replicasets: "ReplicaSet",
      foos: "Foo",
    }[resource];
    return kind ? [kind] : [];
  },
  typeOf: (kind) =>
    kind.kind === "Foo"
      ? typeOfSchema(
          {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: { size: { type: "integer" } },
              },
            },
          },
          "Foo",
          true,
        )
      : builtinType(apiVersionOf(kind), kind.kind),
};

async function warningsOf(
  expression: string,
  resources = ["deployments"],
  more: object = {},
): Promise<string[]> {
  const group = resources.includes("foos") ? "x.io" : "apps";
  const warnings = await checkTypes(
    {
      matchConstraints: {
        resourceRules: [{ apiGroups: [group], apiVersions: ["v1"], resources }],
      },
      validations: [{ expression }],
      ...more,
    },
    known,
    () => Promise.resolve(),
  );
  return warnings.map(({ fieldRef, warning }) => `${fieldRef}: ${warning}`);
}

it.each([
  "object.spec.replicas > 1",
  "object.metadata.name.startsWith('a') && oldObject == null",
  "object.spec.template.spec.containers.all(c, c.image != '')",
  "object.spec.strategy.rollingUpdate.maxSurge == 1",
  "object.metadata.creationTimestamp < timestamp('2030-01-01T00:00:00Z')",
  "object.spec.template.spec.containers[0].resources.limits['cpu'] == '1'",
  "request.name == 'a' && authorizer.path('/').check('get').allowed()",
])("finds nothing wrong with %s", async (expression) => {
  expect(await warningsOf(expression)).toEqual([]);
});

it("names the kind, the place and the problem", async () => {
  expect(await warningsOf("object.spec.replicas > '1'")).toEqual([
    "spec.validations[0].expression: apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '(int, string)'\n | object.spec.replicas > '1'\n | .....................^\n",
  ]);
  expect(
    (
      await warningsOf("object.spec.nothing", ["replicasets", "deployments"])
    )[0],
  ).toMatch(
    /^spec\.validations\[0\]\.expression: apps\/v1, Kind=Deployment: ERROR: .*undefined field 'nothing'[^]*\n\napps\/v1, Kind=ReplicaSet: ERROR: /,
  );
});

it("knows custom kinds, variables and parameters", async () => {
  expect(await warningsOf("object.spec.size == 1", ["foos"])).toEqual([]);
  expect(await warningsOf("object.spec.sise == 1", ["foos"])).toHaveLength(1);
  const variables = [{ name: "n", expression: "object.spec.replicas" }];
  expect(
    await warningsOf("variables.n == 1", undefined, { variables }),
  ).toEqual([]);
  expect(
    await warningsOf("variables.n == 'a'", undefined, { variables }),
  ).toHaveLength(1);
  const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
  expect(
    await warningsOf("params.data.a == 'b'", undefined, { paramKind }),
  ).toEqual([]);
  expect(
    await warningsOf("params.data.a == 1", undefined, { paramKind }),
  ).toHaveLength(1);
});

it("checks messages too, and nothing for wildcards and unknown kinds", async () => {
  const validations = [
    { expression: "true", messageExpression: "object.spec.replicas + 'a'" },
  ];
  expect((await warningsOf("", undefined, { validations }))[0]).toMatch(
    /^spec\.validations\[0\]\.messageExpression: /,
  );
  for (const resources of [["*"], ["deployments/status"], ["others"]])
    expect(await warningsOf("object.nothing", resources)).toEqual([]);
});
