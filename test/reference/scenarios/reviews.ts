// Reviews as they are returned: who owns their fields, which of them keep the metadata that was sent, and each rule once.
import { plain } from "../cases.ts";
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";
import { managedFields } from "./patching.ts";

const allOf = (rules: Json[] | undefined): unknown =>
  rules?.filter(({ verbs }) => verbs.includes("*"));

export const reviews: Scenario = {
  name: "reviews",
  async run({ namespace, call }) {
    const send = async (
      group: string,
      resource: string,
      body: object,
      kept: (body: Json) => unknown = () => "none",
    ): Promise<void> => {
      await call(
        resource,
        "POST",
        `/apis/${group}.k8s.io/v1/${resource.startsWith("local") ? `namespaces/${namespace}/` : ""}${resource}?fieldManager=m`,
        {
          ...plain,
          body,
          headers: { "content-type": "application/json" },
          keep: (answer) => [
            Object.entries((answer.metadata ?? {}) as object)
              .flatMap(([name, value]) => (value === null ? [] : [name]))
              .sort(),
            managedFields(answer) ?? "nobody",
            kept(answer),
          ],
        },
      );
    };
    const resourceAttributes = { namespace, verb: "get", resource: "pods" };
    await send("authorization", "subjectaccessreviews", {
      spec: {
        user: "alice",
        groups: ["g", "h"],
        extra: { a: ["b"] },
        resourceAttributes,
      },
    });
    await send("authorization", "selfsubjectaccessreviews", {
      metadata: { managedFields: [{ manager: "another" }] },
      spec: {
        resourceAttributes: {
          ...resourceAttributes,
          labelSelector: {
            requirements: [{ key: "a", operator: "In", values: ["b"] }],
          },
        },
      },
    });
    await send("authorization", "localsubjectaccessreviews", {
      metadata: { namespace },
      spec: { user: "alice", resourceAttributes },
    });
    await send(
      "authorization",
      "selfsubjectrulesreviews",
      { spec: { namespace } },
      ({ status }) => [
        allOf(status?.resourceRules),
        allOf(status?.nonResourceRules),
        status?.incomplete,
      ],
    );
    await send("authentication", "tokenreviews", {
      spec: { token: "alice", audiences: ["a"] },
    });
    await send("authentication", "selfsubjectreviews", {
      metadata: { name: "x", labels: { a: "b" } },
    });
  },
};
