// How long is the event loop held in one turn by what is computed in steps? Texts, objects and schemas as large as a client
// may send them; of each the longest step and all of them, in milliseconds of CPU.
// `node tools/bench.mjs turns [--only RE]` runs them in this process.
import { parseArgs } from "node:util";
import { Environment } from "../../../api/cel/environment.ts";
import { compile } from "../../../api/cel/program.ts";
import { parsingForeignJson } from "../../../client/webhook/foreign-json.ts";
import { stringDeclared } from "../../../api/cel/schemas/declared-type.ts";
import { typeOfSchema } from "../../../api/cel/schemas/from-json-schema.ts";
import { settingDefaults } from "../../../api/structural/defaulting.ts";
import { duplicateProblems } from "../../../api/structural/list-types.ts";
import { Structural } from "../../../api/structural/structural.ts";
import { CustomSchema } from "../../../api/structural/custom-schema.ts";
import { prepareSchemas } from "../../../api/structural/prepare.ts";
import type { Steps } from "../../../api/queueing/steps.ts";
import type { JSONSchemaProps } from "../../../api/types/apiextensions-v1.ts";
import { printRows, type Row } from "../support/statistics.ts";

const { values: options } = parseArgs({
  options: { only: { type: "string", default: "." } },
});
const mebibyte = 1024 * 1024;
const text: JSONSchemaProps = { type: "string" };
const long = "a".repeat(mebibyte);

const environment = new Environment({ variables: { self: stringDeclared() } });

function expression(
  source: string,
  self: unknown,
  variables = environment,
): () => Steps<unknown> {
  const compiled = compile(source, variables);
  if (!compiled.ok) throw new Error(compiled.issues.toString());
  return () => compiled.program.evaluateInSteps({ self });
}

/** Of a list of texts that is a set. */
const setEnvironment = new Environment({
  variables: {
    self: typeOfSchema(
      {
        type: "array",
        items: { type: "string" },
        "x-kubernetes-list-type": "set",
      },
      "selfType",
    )!,
  },
});
const names = Array.from({ length: 100_000 }, (_, index) => `n${index}`);

const customSchema = (spec: JSONSchemaProps): CustomSchema =>
  new CustomSchema(() => ({ type: "object", properties: { spec } }), {
    group: "example.com",
    version: "v1",
    kind: "Example",
    checkMetadata: () => [],
  });

function validation(
  spec: JSONSchemaProps,
  value: unknown,
): () => Steps<unknown> {
  const schema = customSchema(spec);
  return () => schema.validate({ spec: value } as never);
}

/** Objects in objects. */
function nested(fields: number, depth: number): JSONSchemaProps {
  const properties: Record<string, JSONSchemaProps> = {};
  for (let index = 0; index < fields; index++)
    properties[`field${index}`] = depth > 1 ? nested(fields, depth - 1) : text;
  return { type: "object", properties };
}

const large = {
  ...nested(10, 4),
  "x-kubernetes-validations": [{ rule: "has(self.field0)" }],
};
const filled = { field0: { field0: { field0: { field0: "a" } } } };

const cases: Record<string, () => Steps<unknown>> = {
  "find in one match of 1 MiB": expression("self.find('[a-z]+') != ''", long),
  "find without a match": expression("self.find('[a-z]+[0-9]') == ''", long),
  "findAll of 200,000 words": expression(
    "self.findAll('[a-z]+').size() > 0",
    "word ".repeat(200_000),
  ),
  "replace in 1 MiB": expression("self.replace('a', 'bb') != ''", long),
  "split of 200,000 words": expression(
    "self.split(' ').size() > 0",
    "word ".repeat(200_000),
  ),
  "sets of 100,000 are joined and compared": expression(
    "self + self == self",
    names,
    setEnvironment,
  ),
  "format of 100,000 texts": expression(
    "'%s'.format([self]) != ''",
    names,
    setEnvironment,
  ),
  "50,000 defaults": function* () {
    const schema = new Structural({
      type: "array",
      items: {
        type: "object",
        properties: { a: { ...text, default: "b" } },
      },
    });
    const value = Array.from({ length: 50_000 }, () => ({}));
    yield;
    yield* settingDefaults(value, schema);
  },
  "duplicates in a set of 100,000": function* () {
    const schema = new Structural({
      type: "array",
      items: text,
      "x-kubernetes-list-type": "set",
    });
    yield* duplicateProblems(names, schema);
  },
  "pattern on 1 MiB": validation({ ...text, pattern: "^[a-z]+$" }, long),
  "pattern in anyOf on 1 MiB": validation(
    { ...text, anyOf: [{ pattern: "^[b]+$" }, { pattern: "^(a|b)*$" }] },
    long,
  ),
  "pattern on 30,000 texts of 100 B": validation(
    { type: "array", items: { ...text, pattern: "^[a-z]([-a-z]*[a-z])?$" } },
    Array.from({ length: 30_000 }, () => "a".repeat(100)),
  ),
  "50,000 objects in a list": validation(
    { type: "array", items: { type: "object", properties: { name: text } } },
    Array.from({ length: 50_000 }, (_, index) => ({ name: `n${index}` })),
  ),
  "87,000 keys from a webhook": () =>
    parsingForeignJson(
      Buffer.from(
        `{${Array.from({ length: 87_000 }, (_, index) => `"key${index}":1`).join(",")}}`,
      ),
    ),
  "first use of a schema of 11,000 nodes": function* () {
    const schema = customSchema(large);
    yield* schema.prepare();
    yield;
    void schema.objectSchema.fields;
    yield;
    return yield* schema.validate({ spec: filled });
  },
};

/** A busy machine and the collector make single steps longer: each counts as in the best of some runs. */
const runs = 5;

function timesOf(steps: Steps<unknown>): number[] {
  const times: number[] = [];
  for (let done: boolean | undefined = false; !done;) {
    const before = process.cpuUsage();
    const beganMs = performance.now();
    done = steps.next().done;
    const { user, system } = process.cpuUsage(before);
    times.push(
      Math.min(performance.now() - beganMs, (user + system) / 1000 || Infinity),
    );
  }
  return times;
}

await prepareSchemas();
const rows: Row[] = [];
for (const [name, make] of Object.entries(cases)) {
  if (!new RegExp(options.only).test(name)) continue;
  timesOf(make());
  const best = timesOf(make());
  for (let run = 1; run < runs; run++)
    for (const [index, ms] of timesOf(make()).entries())
      best[index] = Math.min(best[index] ?? ms, ms);
  rows.push({
    name,
    "longest ms": Math.max(...best),
    "all ms": best.reduce((sum, ms) => sum + ms, 0),
    steps: best.length,
  });
}
printRows(rows);
