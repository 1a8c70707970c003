// The status of admission policies: each generation is checked once, against built-in and custom kinds.
import type { ValidatingAdmissionPolicySpec } from "../../../api/types/admissionregistration-v1.ts";
import {
  customResourceDefinitions,
  validatingAdmissionPolicies,
} from "../../../client/resources.ts";
import {
  passes,
  startControlPlane,
  type ControlPlane,
} from "../../support/control-plane.ts";

let plane: ControlPlane;
beforeEach(async () => {
  plane = await startControlPlane({
    controllers: {
      controllers: ["validatingadmissionpolicy-status-controller"],
    },
  });
});
afterEach(() => plane.stop());

const policies = () => plane.client.resource(validatingAdmissionPolicies);
const specOf = (
  group: string,
  resource: string,
  expression: string,
): ValidatingAdmissionPolicySpec => ({
  matchConstraints: {
    resourceRules: [
      {
        apiGroups: [group],
        apiVersions: ["v1"],
        operations: ["*"],
        resources: [resource],
      },
    ],
  },
  validations: [{ expression }],
});

test("a generation is checked, and the next one again", async () => {
  await policies().create({
    metadata: { name: "p" },
    spec: specOf("apps", "deployments", "object.spec.replicas == 'a'"),
  });
  await passes(async () =>
    expect((await policies().get("p")).status).toEqual({
      observedGeneration: 1,
      typeChecking: {
        expressionWarnings: [
          {
            fieldRef: "spec.validations[0].expression",
            warning: expect.stringMatching(
              /^apps\/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload/,
            ) as string,
          },
        ],
      },
    }),
  );
  const policy = await policies().get("p");
  await policies().update({
    ...policy,
    spec: specOf("apps", "deployments", "object.spec.replicas == 1"),
  });
  await passes(async () =>
    expect((await policies().get("p")).status).toEqual({
      observedGeneration: 2,
      typeChecking: {},
    }),
  );
});

test("kinds of definitions are known", async () => {
  await plane.client.resource(customResourceDefinitions).create({
    metadata: { name: "foos.x.io" },
    spec: {
      group: "x.io",
      scope: "Namespaced",
      names: {
        plural: "foos",
        singular: "foo",
        kind: "Foo",
        listKind: "FooList",
      },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: { size: { type: "integer" } },
            },
          },
        },
      ],
    },
  });
  await policies().create({
    metadata: { name: "p" },
    spec: specOf("x.io", "foos", "object.size == 1 && object.sise == 1"),
  });
  await passes(async () =>
    expect(
      (await policies().get("p")).status?.typeChecking?.expressionWarnings?.[0]
        ?.warning,
    ).toMatch(
      /^x\.io\/v1, Kind=Foo: ERROR: <input>:1:27: undefined field 'sise'/,
    ),
  );
});
