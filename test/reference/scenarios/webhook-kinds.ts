// Webhook configurations: defaults, what is refused, what may change.
import {
  createEach,
  plain,
  updateEach,
  type Changes,
  each,
  names,
} from "../cases.ts";
import type { Scenario } from "../scenario.ts";

export const webhookKinds: Scenario = {
  name: "webhook-kinds",
  async run(server) {
    const { call } = server;
    const hook = (changes: object): unknown => [
      {
        name: "a.b.c",
        clientConfig: { url: "https://a.b/c" },
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        ...changes,
      },
    ];
    for (const [kind, resource] of [
      ["ValidatingWebhookConfiguration", "validatingwebhookconfigurations"],
      ["MutatingWebhookConfiguration", "mutatingwebhookconfigurations"],
    ] as const) {
      const configuration = {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind,
        metadata: { name: "hooks-ref" },
        webhooks: hook({ rules: [] }),
      };
      const rules = (value: unknown): unknown =>
        hook({
          rules: [
            {
              operations: ["CREATE"],
              apiGroups: [""],
              apiVersions: ["v1"],
              resources: ["nothings"],
              ...(value as object),
            },
          ],
        });
      const cases: Changes[] = [
        ...names.slice(0, 2),
        { webhooks: undefined },
        { webhooks: [{}] },
        ...each("webhooks", [
          ...["a", "A.b.c", "", "a.b"].map((name) => hook({ name })),
          ...[
            undefined,
            {},
            { url: "http://a" },
            { url: "https://" },
            { url: "https://a?b" },
            { url: "https://a#b" },
            { url: "https://u:p@a" },
            { url: "::" },
            { url: "https://a", service: { name: "a", namespace: "b" } },
            { service: { name: "", namespace: "" } },
            { service: { name: "a", namespace: "b", path: "x", port: 0 } },
            { service: { name: "a", namespace: "b", path: "//" } },
            { service: { name: "a", namespace: "b", path: "/a/" } },
            { service: { name: "a", namespace: "b", port: 70000 } },
            { service: { name: "a", namespace: "b", path: "/A b" } },
          ].map((clientConfig) => hook({ clientConfig })),
          ...[undefined, "Some", "X", "NoneOnDryRun"].map((sideEffects) =>
            hook({ sideEffects }),
          ),
          ...[
            undefined,
            [],
            ["v2"],
            ["v1", "v1"],
            ["v1beta1"],
            ["", "v1"],
            ["V1"],
          ].map((admissionReviewVersions) => hook({ admissionReviewVersions })),
          ...[0, 31, -1, 5].map((timeoutSeconds) => hook({ timeoutSeconds })),
          ...["Ignore", "X", ""].map((failurePolicy) =>
            hook({ failurePolicy }),
          ),
          ...["Exact", "X"].map((matchPolicy) => hook({ matchPolicy })),
          hook({ reinvocationPolicy: "X" }),
          hook({ reinvocationPolicy: "IfNeeded" }),
          hook({
            namespaceSelector: { matchLabels: { "a b": "c" } },
            objectSelector: {
              matchExpressions: [{ key: "a", operator: "X" }],
            },
          }),
          hook({ matchConditions: [{ name: "a", expression: "true" }] }),
          hook({
            matchConditions: [
              { name: "", expression: "" },
              { name: "a b", expression: "true" },
            ],
          }),
          [...(hook({}) as unknown[]), ...(hook({}) as unknown[])],
          ...[
            {},
            { operations: [] },
            { operations: ["*"] },
            { operations: ["*", "CREATE"] },
            { operations: ["X"] },
            { apiGroups: [] },
            { apiGroups: ["*", "a"] },
            { apiVersions: [] },
            { apiVersions: ["", "*"] },
            { resources: [] },
            { resources: [""] },
            { resources: ["*", "a"] },
            { resources: ["*/*", "a"] },
            { resources: ["a/*", "a/b"] },
            { resources: ["*/a", "b/a"] },
            { scope: "X" },
            { scope: "Namespaced" },
          ].map(rules),
        ]),
      ];
      // Both kinds are checked alike: of the second only what it has besides.
      await createEach(
        server,
        resource,
        `/apis/admissionregistration.k8s.io/v1/${resource}`,
        configuration,
        kind === "ValidatingWebhookConfiguration"
          ? cases
          : cases.filter((changes) =>
              JSON.stringify(changes).includes("reinvocationPolicy"),
            ),
      );
      await updateEach(
        server,
        resource,
        `/apis/admissionregistration.k8s.io/v1/${resource}`,
        configuration,
        [
          {},
          { webhooks: [] },
          { webhooks: hook({ timeoutSeconds: 7 }) },
          { "metadata.labels": { a: "b" } },
        ],
      );
      await call(
        `${resource} deleted`,
        "DELETE",
        `/apis/admissionregistration.k8s.io/v1/${resource}/hooks-ref`,
        plain,
      );
    }
    for (const version of ["v1beta1", "v1alpha1"])
      await call(
        `admissionregistration ${version}`,
        "GET",
        `/apis/admissionregistration.k8s.io/${version}/validatingadmissionpolicies`,
        plain,
      );
  },
};
