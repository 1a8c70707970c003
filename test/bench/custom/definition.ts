// Definitions of custom resources made of sample objects, and the requests of the benches that write them.
import type { Connection } from "../support/connection.ts";

export const json = { Accept: "application/json" };
export const definitions =
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

type Value = string | number | boolean | object | null;

/** A structural schema of all that a value has. */
function schemaOf(value: Value): object {
  if (Array.isArray(value))
    return { type: "array", items: schemaOf((value[0] ?? "") as Value) };
  if (typeof value === "object" && value !== null)
    return {
      type: "object",
      properties: Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [
          key,
          schemaOf(inner as Value),
        ]),
      ),
    };
  if (typeof value === "number") return { type: "integer" };
  return { type: typeof value };
}

/** @param sample its fields are those of the schema */
export function definitionOf(
  group: string,
  plural: string,
  kind: string,
  sample: object,
): string {
  const {
    metadata: _,
    kind: __,
    apiVersion: ___,
    ...fields
  } = sample as Record<string, unknown>;
  return JSON.stringify({
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
          subresources: { status: {} },
          schema: { openAPIV3Schema: schemaOf(fields) },
        },
      ],
    },
  });
}

/** Creates an object that may be there already. */
export async function make(
  c: Connection,
  path: string,
  body: string,
): Promise<void> {
  const answer = await c.request("POST", path, body, json, { keepBody: true });
  if (answer.status >= 300 && answer.status !== 409)
    throw new Error(`POST ${path}: ${answer.status} ${answer.body}`);
}

/** Resolves when the path is served. */
export async function served(c: Connection, path: string): Promise<void> {
  for (;;) {
    const { status } = await c.request("GET", path, undefined, json);
    if (status === 200) return;
  }
}
