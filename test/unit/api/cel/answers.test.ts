// Hundreds of expressions and what a stock API server of 1.32 says of each: its answer, its error, or its refusal with
// places and marks. The table was recorded by a ValidatingAdmissionPolicy on the creation of the ConfigMap below, by a
// user who may do everything; a line is an expression and `value: …`, `error: …` or `compile: …`.
import { readFileSync } from "node:fs";
import path from "node:path";
import { Environment } from "../../../../api/cel/environment.ts";
import {
  AuthorizerValue,
  authorizerVariables,
  ResourceCheck,
} from "../../../../api/cel/functions/authorizer.ts";
import { compile } from "../../../../api/cel/program.ts";
import { dynDeclared } from "../../../../api/cel/schemas/declared-type.ts";

const answers = JSON.parse(
  readFileSync(path.join(__dirname, "fixtures/answers.json"), "utf8"),
) as [expression: string, answer: string][];

const object = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "probe", namespace: "default", labels: { a: "x" } },
  data: { a: "1", b: "two" },
};
const admin = new AuthorizerValue(
  { name: "kubernetes-admin", groups: ["system:masters"], extra: {} },
  {
    authorize: ({ user }) => ({
      decision: user.groups.includes("system:masters") ? "allow" : "no-opinion",
      reason: "",
    }),
  },
);
const variables = {
  object,
  oldObject: null,
  authorizer: admin,
  "authorizer.requestResource": new ResourceCheck(admin, {
    group: "",
    resource: "configmaps",
    subresource: "",
    namespace: "default",
    name: "probe",
  }),
};
const environment = new Environment({
  variables: {
    object: dynDeclared,
    oldObject: dynDeclared,
    ...authorizerVariables,
  },
});

function answer(expression: string): string {
  const compiled = compile(expression, environment);
  if (!compiled.ok) return `compile: ${compiled.issues}`;
  const outcome = compiled.program.evaluate(variables);
  return outcome.kind === "value"
    ? `value: ${String(outcome.value)}`
    : `error: ${outcome.message}`;
}

test("the table is whole", () => {
  expect(answers.length).toBeGreaterThan(450);
});

test.each(answers)("%s", (expression, expected) => {
  expect(answer(expression)).toBe(expected);
});
