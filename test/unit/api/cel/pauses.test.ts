// Evaluations in steps: whatever they cost they give others their turn, and end with the value and the cost that they
// would have had at once.
import { Environment } from "../../../../api/cel/environment.ts";
import { AuthorizerValue } from "../../../../api/cel/functions/authorizer.ts";
import { authorizerVariables } from "../../../../api/cel/functions/authorizer.ts";
import { Computing } from "../../../../api/cel/evaluation/journal.ts";
import { compile, type Program } from "../../../../api/cel/program.ts";
import { EntryMap, type Result } from "../../../../api/cel/values/value.ts";
import { finish, type Steps } from "../../../../api/queueing/steps.ts";
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

/** Its field `v` is there after some steps. */
class Late extends EntryMap {
  waited = 0;
  #computing: Computing | undefined;
  #steps = 0;

  override field(name: string): Result | undefined {
    if (name === "v" && this.#steps === 0) {
      this.#computing = new Computing(this.#compute());
      throw this.#computing;
    }
    this.#computing?.arrived();
    this.#computing = undefined;
    return name === "v" ? 100n : undefined;
  }

  *#compute(): Steps<void> {
    this.waited++;
    while (this.#steps++ < 3) yield;
  }
}

test.each([
  "m.v > 99",
  "l.all(x, x < m.v) && l.all(x, l.all(y, x + y >= 0 && m.v > x))",
  "l.all(x, l.all(y, x + y >= 0)) && l.all(x, l.exists(y, y == x) && m.v > x && l.all(z, z < m.v))",
  "l.map(x, l.map(y, x + y)).all(x, x.all(y, y < 2 * m.v))",
  "l.filter(x, l.exists(y, y == x) && x * 3 > m.v).map(x, l.all(y, x + y > m.v)).size()",
  "[1].map(x, l.all(y, l.all(z, z + y < 2 * m.v)) ? m.v : x)",
  "optional.of(m.v).optMap(v, l.all(x, l.all(y, x < v + y))).value()",
  "l.all(x, l.all(y, l.all(z, x + y + z < 4 * m.v)))",
])("%s costs as much when a value is waited for", (expression) => {
  const program = programOf(expression);
  const atOnce = program.evaluate({ l, m: { v: 100 } });
  const late = new Late();
  const outcome = finish(program.evaluateInSteps({ l, m: late }));
  expect(late.waited).toBe(1);
  expect(outcome.kind).toBe(atOnce.kind);
  expect(outcome.cost).toBe(atOnce.cost);
  if (atOnce.kind === "value" && outcome.kind === "value")
    expect(show(outcome.value)).toBe(show(atOnce.value));
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

test.each([
  "t.matches('^[a-z]+$')",
  "t.matches('^[a-z]+$') && matches(t + 'x', 'b$') == false",
  "[t, dyn(t + 'b'), t].all(x, x.matches('^a+b?$') && l.all(y, l.all(z, y + z >= 0)))",
  "l.all(x, t.matches('a$'))",
  "t.matches(l.size() > 1 ? '(' : 'a') || t.matches('a$')",
])("%s on a long text is the same in steps", (expression) => {
  const t = "a".repeat(200_000);
  const program = compile(
    expression,
    new Environment({
      variables: { l: dynDeclared, t: dynDeclared },
      expressions: "stored",
    }),
  );
  if (!program.ok) throw new Error(String(program.issues));
  const atOnce = program.program.evaluate({ l, t }, 10_000_000);
  const steps = program.program.evaluateInSteps({ l, t }, 10_000_000);
  let pauses = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) pauses++;
  expect(step.value).toEqual(atOnce);
  expect(pauses).toBeGreaterThan(10);
});

test("a pattern of a value that is absurdly long fails", () => {
  const program = programOf("'a'.matches(m.p)");
  expect(program.evaluate({ m: { p: "a?".repeat(5_001) } })).toMatchObject({
    kind: "error",
    message: "error parsing regexp: expression too large",
  });
});

test.each([
  ["s.find('[a-z]+[0-9]')", `${"a".repeat(100_000)}7`],
  ["s.findAll('[a-z]+').size() == 50000", "a ".repeat(50_000)],
  ["s.findAll('a+b', 3).size() == 0", "a".repeat(100_000)],
])("%s in a long text is the same in steps", (expression, s) => {
  const texts = new Environment({ variables: { s: dynDeclared } });
  const compiled = compile(expression, texts);
  if (!compiled.ok) throw new Error(String(compiled.issues));
  const steps = compiled.program.evaluateInSteps({ s });
  let pauses = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) pauses++;
  expect(step.value).toEqual(compiled.program.evaluate({ s }));
  expect(step.value.kind).toBe("value");
  expect(pauses).toBeGreaterThan(4);
});
