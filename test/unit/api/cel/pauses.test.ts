// Evaluations in steps: whatever they cost they give others their turn, and end with the value and the cost that they
// would have had at once.
import { Environment } from "../../../../api/cel/environment.ts";
import { AuthorizerValue } from "../../../../api/cel/functions/authorizer.ts";
import { authorizerVariables } from "../../../../api/cel/functions/authorizer.ts";
import { compile, type Program } from "../../../../api/cel/program.ts";
import { dynDeclared } from "../../../../api/cel/schemas/declared-type.ts";
import { show } from "./show.ts";

const environment = new Environment({
  variables: { l: dynDeclared, m: dynDeclared, ...authorizerVariables },
  expressions: "stored",
});
const l = Array.from({ length: 80 }, (_, index) => index);
const m = Object.fromEntries(l.map((index) => [`k${index}`, index]));

function programOf(expression: string): Program {
  const compiled = compile(expression, environment);
  if (!compiled.ok) throw new Error(String(compiled.issues));
  return compiled.program;
}

test.each([
  "l.all(x, l.all(y, x + y >= 0))",
  "l.all(x, l.exists(y, x == y)) && l.all(x, l.exists(y, x == y))",
  "l.map(x, l.map(y, x * y).sum()).sum()",
  "l.filter(x, l.exists_one(y, x == y && y % 7 == 0)).size()",
  "m.all(k, m.exists(j, m[j] == m[k])) ? m.map(k, l.filter(y, y > m[k])).size() : 1",
  "l.map(x, x + 1).all(y, l.map(z, z - 1).all(w, w < y + 200))",
  "optional.of(l).optMap(v, v.all(x, v.exists(y, y == x))).value()",
  "l.transformMap(i, v, l.map(x, x + v).max()).size()",
  "m.transformList(k, v, l.filter(x, x == v).size()).sum()",
  "l.all(x, l.all(y, 1 / (x + y) > 0 || true))",
  "l.exists(x, l.map(y, 10 / (y - x)).size() > 0)",
  "l.all(x, l.all(y, l.all(z, x + y + z >= 0)))",
])("%s is the same in steps", (expression) => {
  const program = programOf(expression);
  const atOnce = program.evaluate({ l, m });
  const steps = program.evaluateInSteps({ l, m });
  let pauses = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) pauses++;
  expect(step.value.kind).toBe(atOnce.kind);
  expect(step.value.cost).toBe(atOnce.cost);
  if (atOnce.kind === "value" && step.value.kind === "value")
    expect(show(step.value.value)).toBe(show(atOnce.value));
  if (atOnce.kind === "error")
    expect(step.value).toMatchObject({ message: atOnce.message });
  expect(pauses).toBeGreaterThanOrEqual(Math.floor(atOnce.cost / 40_000));
  expect(pauses).toBeGreaterThan(0);
});

test("other work is done between the steps", async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const outcome = await programOf(
    "l.all(x, l.all(y, l.all(z, x + y + z >= 0)))",
  ).evaluateAsync({ l, m });
  clearInterval(timer);
  expect(outcome.kind).toBe("exceeded");
  expect(turns).toBeGreaterThan(5);
});

test("a decision that takes time is waited for, once for each question", async () => {
  const asked: string[] = [];
  const authorizer = new AuthorizerValue(
    { name: "jane", groups: [], extra: {} },
    {
      async authorize({ verb, user }) {
        await Promise.resolve();
        asked.push(`${user.name} ${verb}`);
        if (verb === "fail") throw new Error("no answer");
        return {
          decision: verb === "get" ? "allow" : "deny",
          reason: `about ${verb}`,
        };
      },
    },
  );
  const program = programOf(
    "authorizer.path('/x').check('get').allowed() && !authorizer.path('/x').check('put').allowed()" +
      " ? authorizer.path('/x').check('get').reason() : 'no'",
  );
  const limit = 2_000_000;
  const variables = { authorizer };
  expect(await program.evaluateAsync(variables, limit)).toMatchObject({
    value: "about get",
  });
  expect(asked).toEqual(["jane get", "jane put"]);
  const failing = programOf(
    "authorizer.path('/x').check('fail').errored() ? authorizer.path('/x').check('fail').error() : ''",
  );
  expect(await failing.evaluateAsync(variables)).toMatchObject({
    value: "no answer",
  });
  // At once there is no decision, and nothing is allowed.
  expect(program.evaluate(variables).kind).toBe("error");
});

test("an evaluation may ask the authorizer twice, not more often", async () => {
  const authorizer = new AuthorizerValue(
    { name: "jane", groups: [], extra: {} },
    { authorize: () => ({ decision: "allow", reason: "" }) },
  );
  const check = (verb: string): string =>
    `authorizer.path('/x').check('${verb}').allowed()`;
  const twice = programOf(`${check("a")} && ${check("b")}`);
  expect(twice.evaluate({ authorizer }).kind).toBe("value");
  const thrice = programOf(`${check("a")} && ${check("b")} && ${check("c")}`);
  expect(thrice.evaluate({ authorizer }).kind).toBe("exceeded");
});
