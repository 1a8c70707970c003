// What ten rules of a definition (`x-kubernetes-validations`) add to a write: the same objects in a kind with them and in
// one without, on the same server.
import type { Connection } from "../support/connection.ts";
import type { BenchOptions } from "../support/options.ts";
import type { Row } from "../support/statistics.ts";
import { definitions, make, served } from "./definition.ts";
import { Costs, operations } from "./pairs.ts";

const group = "rules.bench.example.com";
const workers = 16;

/** Comparisons, loops, a regular expression and a transition, as real definitions have them. */
const rules: readonly string[] = [
  "self.min <= self.max",
  "self.replicas >= self.min && self.replicas <= self.max",
  "self.mode != 'Closed' || self.replicas == 0",
  "self.items.all(i, i.weight >= 0)",
  "self.items.exists(i, i.name == 'main')",
  "size(self.items) <= 10",
  "self.host.matches('^[a-z0-9.-]+$')",
  "!has(self.labels) || self.labels.all(k, k.size() < 60)",
  "self.mode == oldSelf.mode",
  "self.items.map(i, i.weight).sum() <= 100",
];

const integer = { type: "integer", format: "int32" };
const text = (maxLength: number): object => ({ type: "string", maxLength });

const specOf = (withRules: boolean): object => ({
  type: "object",
  required: ["min", "max", "replicas", "mode", "host", "items"],
  properties: {
    ...{ min: integer, max: integer, replicas: integer },
    mode: { type: "string", enum: ["Open", "Closed"] },
    host: text(253),
    labels: {
      type: "object",
      maxProperties: 16,
      additionalProperties: text(63),
    },
    items: {
      type: "array",
      maxItems: 16,
      items: {
        type: "object",
        required: ["name", "weight"],
        properties: { name: text(63), weight: integer },
      },
    },
  },
  ...(withRules
    ? { "x-kubernetes-validations": rules.map((rule) => ({ rule })) }
    : {}),
});

const definitionOf = (
  plural: string,
  kind: string,
  withRules: boolean,
): string =>
  JSON.stringify({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: { spec: specOf(withRules) },
            },
          },
        },
      ],
    },
  });

const objectOf =
  (kind: string) =>
  (name: string): string =>
    JSON.stringify({
      apiVersion: `${group}/v1`,
      kind,
      metadata: { name },
      spec: {
        ...{ min: 1, max: 10, replicas: 3, mode: "Open" },
        host: "www.example.com",
        labels: { app: "web", tier: "front", team: "blue" },
        items: ["main", "two", "three", "four"].map((each, index) => ({
          name: each,
          weight: index * 10,
        })),
      },
    });

export async function ruleRows(
  setup: Connection,
  options: BenchOptions,
  namespace: string,
): Promise<Row[]> {
  const costs = new Costs(options);
  const kinds = [
    { plural: "freegates", kind: "FreeGate", withRules: false },
    { plural: "ruledgates", kind: "RuledGate", withRules: true },
  ];
  const measured: Record<string, number>[] = [];
  for (const { plural, kind, withRules } of kinds) {
    const base = `/apis/${group}/v1/namespaces/${namespace}/${plural}`;
    await make(setup, definitions, definitionOf(plural, kind, withRules));
    await served(setup, base);
    const object = objectOf(kind);
    for (let worker = 0; worker < workers; worker++)
      await make(setup, base, object(`o-${worker}`));
    const all = operations(base, object);
    measured.push({
      create: await costs.of(all["create"]!),
      put: await costs.of(all["put"]!),
    });
  }
  const [free, ruled] = measured as [
    Record<string, number>,
    Record<string, number>,
  ];
  return Object.keys(free).map((name) => ({
    name: `ten rules, ${name}`,
    "without cpu-s": free[name]!,
    "with cpu-s": ruled[name]!,
    // Both are for a thousand writes.
    "ms a write": ruled[name]! - free[name]!,
  }));
}
