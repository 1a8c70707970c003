// One case of the mutating policies' scenario: policies for one object, and the objects they are asked with.
import type { Json } from "../../normalise.ts";

interface PolicyOfCase {
  /** As the API has it; beside it the patches: `apply` and `patch` in their order, or `mutations`. */
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly binding?: object;
}

export interface Case {
  /** By a part of their names, which is the order they are in. */
  readonly policies: Readonly<Record<string, PolicyOfCase>>;
  /** Default: an empty ConfigMap. */
  readonly object?: Json;
}

const rules = [
  ["", "v1", ["configmaps", "pods"]],
  ["apps", "v1", ["deployments"]],
  ["mutating.example.com", "v1", ["gadgets"]],
] as const;

/** The spec of a policy of what a case says of it, for objects with the case's label. */
export function parts(
  { apply, patch, mutations, ...spec }: Readonly<Record<string, unknown>>,
  label: string,
): object {
  return {
    matchConstraints: {
      objectSelector: { matchLabels: { case: label } },
      resourceRules: rules.map(([group, version, resources]) => ({
        apiGroups: [group],
        apiVersions: [version],
        operations: ["CREATE", "UPDATE"],
        resources,
      })),
    },
    reinvocationPolicy: "Never",
    mutations: mutations ?? [
      ...(apply === undefined ? [] : [applied(apply as string)]),
      ...(patch === undefined ? [] : [patched(patch as string)]),
    ],
    ...spec,
  };
}

export const applied = (expression: string): object => ({
  patchType: "ApplyConfiguration",
  applyConfiguration: { expression },
});
export const patched = (expression: string): object => ({
  patchType: "JSONPatch",
  jsonPatch: { expression },
});

/** One policy with an expression each, all for objects like `object`. */
export function each(
  of: "apply" | "patch",
  expressions: Readonly<Record<string, string>>,
  object?: Json,
  title = of,
): Record<string, Case> {
  return Object.fromEntries(
    Object.entries(expressions).map(([label, expression]) => [
      `${title}: ${label}`,
      { policies: { p: { spec: { [of]: expression } } }, object },
    ]),
  );
}

export const pod = (spec: object = {}): Json => ({
  apiVersion: "v1",
  kind: "Pod",
  spec: {
    containers: [
      { name: "a", image: "a:1", env: [{ name: "A", value: "1" }] },
      { name: "b", image: "b:1", args: ["x"] },
    ],
    ...spec,
  },
});

export const deployment: Json = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  spec: {
    selector: { matchLabels: { app: "d" } },
    template: {
      metadata: { labels: { app: "d" } },
      spec: { containers: [{ name: "a", image: "a:1" }] },
    },
  },
};

export const gadget = (spec: object = {}): Json => ({
  apiVersion: "mutating.example.com/v1",
  kind: "Gadget",
  spec,
});

const text = { type: "string" };

export const definition = {
  metadata: { name: "gadgets.mutating.example.com" },
  spec: {
    group: "mutating.example.com",
    scope: "Namespaced",
    names: { plural: "gadgets", kind: "Gadget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  size: { type: "integer" },
                  ratio: { type: "number" },
                  on: { type: "boolean" },
                  mode: { ...text, default: "slow" },
                  level: { ...text, enum: ["low", "high"] },
                  port: { "x-kubernetes-int-or-string": true },
                  any: {
                    type: "object",
                    "x-kubernetes-preserve-unknown-fields": true,
                  },
                  names: { type: "array", items: text },
                  set: {
                    type: "array",
                    items: text,
                    "x-kubernetes-list-type": "set",
                  },
                  items: {
                    type: "array",
                    items: {
                      type: "object",
                      required: ["key"],
                      properties: { key: text, value: text, "a-b": text },
                    },
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["key"],
                  },
                  whole: {
                    type: "object",
                    properties: { a: text, b: text },
                    "x-kubernetes-map-type": "atomic",
                  },
                  map: { type: "object", additionalProperties: text },
                },
              },
            },
          },
        },
      },
    ],
  },
};
