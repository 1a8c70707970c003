// An authorization webhook as rules make it: which questions it gets, what its answers mean, and that nothing but a clear
// yes allows. The webhook is a function here; test/integration/cli has a real one.
import pino from "pino";
import { AuthorizationMetrics } from "../../../../apiserver-lite/authorization/authorization-metrics.ts";
import {
  loadReviewConditionCompiler,
  type ReviewCondition,
  type ReviewConditionCompiler,
} from "../../../../apiserver-lite/authorization/review-conditions.ts";
import {
  createAuthorizationWebhook,
  type AuthorizationWebhookRules,
} from "../../../../apiserver-lite/authorization/webhook-authorizer.ts";
import type {
  AccessAttributes,
  AccessDecision,
} from "../../../../api/contracts.ts";
import { metricsText } from "../../../../api/metrics/family.ts";
import { WebhookTimeoutError } from "../../../../client/webhook/call-failure.ts";
import { UnionAuthorizer } from "../../../../apiserver-lite/authorization/union-authorizer.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const question: AccessAttributes = {
  user: {
    name: "jane",
    uid: "7",
    groups: ["dev"],
    extra: { "a.io/b": ["c"] },
  },
  verb: "list",
  path: "/api/v1/namespaces/ns/pods",
  resourceRequest: true,
  ...{ group: "", version: "v1", resource: "pods", subresource: "" },
  ...{ namespace: "ns", name: "" },
};
const yes = JSON.stringify({ status: { allowed: true, reason: "because" } });

let compiler: ReviewConditionCompiler;
beforeAll(async () => {
  compiler = await loadReviewConditionCompiler();
});
const condition = (text: string): ReviewCondition => {
  const compiled = compiler.compile(text);
  if ("problem" in compiled) throw new Error(compiled.problem);
  return compiled;
};

interface Asked {
  apiVersion: string;
  kind: string;
  spec: Record<string, unknown>;
}

function webhook(
  rules: Partial<AuthorizationWebhookRules> = {},
  answer: (asked: Asked) => string = () => yes,
) {
  const asked: Asked[] = [];
  const metrics = new AuthorizationMetrics("vm");
  const authorizer = createAuthorizationWebhook(
    {
      name: "w",
      version: "v1",
      authorizedTtlMs: 60_000,
      unauthorizedTtlMs: 60_000,
      onFailure: "deny",
      conditions: [],
      ...rules,
    },
    {
      post: async (body) => {
        const review = JSON.parse(body) as Asked;
        asked.push(review);
        return answer(review);
      },
      metrics,
      clock: new FakeClock(0),
      logger: pino({ level: "silent" }),
    },
  );
  return {
    asked,
    ask: (change: Partial<AccessAttributes> = {}) =>
      authorizer.authorize({
        ...question,
        ...change,
      }) as Promise<AccessDecision>,
    metric: (name: string) =>
      metricsText(metrics.families())
        .split("\n")
        .filter((line) => line.startsWith(`apiserver_authorization_${name}`)),
  };
}

test("the whole question is put, in v1", async () => {
  const { ask, asked, metric } = webhook();
  const answer = await ask({
    fieldSelector: "spec.nodeName=a\\,b,status.phase!=Running",
    labelSelector: "app in (x,y),tier!=db,live,!old,size>3",
  });
  expect(answer).toEqual({ decision: "allow", reason: "because" });
  expect(asked).toEqual([
    {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      metadata: { creationTimestamp: null },
      spec: {
        user: "jane",
        uid: "7",
        groups: ["dev"],
        extra: { "a.io/b": ["c"] },
        resourceAttributes: {
          ...{ verb: "list", group: "", version: "v1", resource: "pods" },
          ...{ subresource: "", namespace: "ns", name: "" },
          fieldSelector: {
            requirements: [
              { key: "spec.nodeName", operator: "In", values: ["a,b"] },
              { key: "status.phase", operator: "NotIn", values: ["Running"] },
            ],
          },
          labelSelector: {
            requirements: expect.arrayContaining([
              { key: "app", operator: "In", values: ["x", "y"] },
              { key: "tier", operator: "NotIn", values: ["db"] },
              { key: "live", operator: "Exists" },
              { key: "old", operator: "DoesNotExist" },
            ]),
          },
        },
      },
    },
  ]);
  expect(metric("webhook_evaluations_total")).toEqual([
    'apiserver_authorization_webhook_evaluations_total{name="w",result="success"} 1',
  ]);
});

test("selectors that can't be read narrow nothing", async () => {
  const { ask, asked } = webhook();
  await ask({ fieldSelector: "((", labelSelector: "a in" });
  const resource = asked[0]!.spec["resourceAttributes"] as object;
  expect(Object.keys(resource)).not.toContain("fieldSelector");
  expect(Object.keys(resource)).not.toContain("labelSelector");
});

test("v1beta1 has `group`, and paths have attributes of their own", async () => {
  const { ask, asked } = webhook({ version: "v1beta1" });
  await ask({ resourceRequest: false, verb: "get", path: "/metrics" });
  expect(asked[0]).toMatchObject({
    apiVersion: "authorization.k8s.io/v1beta1",
    spec: {
      group: ["dev"],
      nonResourceAttributes: { path: "/metrics", verb: "get" },
    },
  });
  expect(asked[0]!.spec).not.toHaveProperty("groups");
});

test.each<[string, unknown, AccessDecision["decision"]]>([
  ["allowed", { status: { allowed: true } }, "allow"],
  ["denied", { status: { allowed: false, denied: true } }, "deny"],
  ["both", { status: { allowed: true, denied: true } }, "deny"],
  ["neither", { status: { allowed: false } }, "no-opinion"],
  ["no status", {}, "no-opinion"],
  ["an empty status", { status: null }, "no-opinion"],
  ["a text for allowed", { status: { allowed: "true" } }, "deny"],
  ["a number for allowed", { status: { allowed: 1 } }, "deny"],
  ["a text for denied", { status: { allowed: true, denied: "no" } }, "deny"],
  ["a list for the status", { status: [{ allowed: true }] }, "deny"],
  ["another kind", { kind: "Status", status: { allowed: true } }, "deny"],
  [
    "another version",
    {
      apiVersion: "authorization.k8s.io/v1beta1",
      status: { allowed: true },
    },
    "deny",
  ],
  ["null", null, "deny"],
  ["a list", [], "deny"],
])("an answer with %s", async (_, answer, decision) => {
  const { ask } = webhook({}, () => JSON.stringify(answer));
  expect((await ask()).decision).toBe(decision);
});

test.each([
  ["deny", "deny"],
  ["no-opinion", "no-opinion"],
] as const)("no answer, with the policy %s", async (onFailure, decision) => {
  let failure: Error = new Error("connection refused");
  const { ask, asked, metric } = webhook({ onFailure }, () => {
    throw failure;
  });
  expect(await ask()).toEqual({
    ...{ decision, reason: "", error: "connection refused" },
  });
  failure = new WebhookTimeoutError("late");
  expect(await ask()).toEqual({ decision, reason: "", error: "late" });
  // It is not remembered.
  expect(asked).toHaveLength(2);
  expect(metric("webhook_evaluations_total")).toEqual([
    'apiserver_authorization_webhook_evaluations_total{name="w",result="error"} 1',
    'apiserver_authorization_webhook_evaluations_total{name="w",result="timeout"} 1',
  ]);
  expect(metric("webhook_evaluations_fail_open_total")).toHaveLength(
    onFailure === "deny" ? 0 : 2,
  );
});

test("answers are kept, but not to questions that would fill the memory", async () => {
  const { ask, asked } = webhook();
  await ask();
  await ask();
  expect(asked).toHaveLength(1);
  const name = "n".repeat(10_000);
  await ask({ name });
  await ask({ name });
  expect(asked).toHaveLength(3);
});

describe("match conditions", () => {
  const inNamespace = "request.resourceAttributes.namespace == 'ns'";
  test.each<[string, string[], AccessDecision["decision"], number]>([
    ["all hold", [inNamespace, "'dev' in request.groups"], "allow", 1],
    ["one is false", [inNamespace, "request.user == 'joe'"], "no-opinion", 0],
    [
      "one fails",
      ["request.nonResourceAttributes.path == '/'", inNamespace],
      "deny",
      0,
    ],
    [
      "one fails and a later one is false",
      ["request.nonResourceAttributes.path == '/'", "request.uid == ''"],
      "no-opinion",
      0,
    ],
    [
      "every field is there",
      [
        "request.uid == '7' && request.extra['a.io/b'] == ['c'] && request.resourceAttributes.name == '' && request.resourceAttributes.subresource == '' && !has(request.nonResourceAttributes)",
      ],
      "allow",
      1,
    ],
    [
      "selectors",
      [
        "request.resourceAttributes.fieldSelector.requirements.exists(r, r.key == 'spec.nodeName' && r.operator == 'In' && r.values == ['n'])",
      ],
      "allow",
      1,
    ],
    [
      "a condition that costs too much",
      [
        `[${"1,".repeat(90)}1].all(a, [${"1,".repeat(90)}1].all(b, [${"1,".repeat(90)}1].all(c, a + b + c > 0)))`,
      ],
      "deny",
      0,
    ],
  ])("%s", async (_, texts, decision, calls) => {
    const { ask, asked } = webhook({ conditions: texts.map(condition) });
    const answer = await ask({ fieldSelector: "spec.nodeName=n" });
    expect([answer.decision, asked.length]).toEqual([decision, calls]);
  });

  test("a failing condition is no opinion where the policy says so", async () => {
    const { ask, asked, metric } = webhook({
      onFailure: "no-opinion",
      conditions: [condition("request.nonResourceAttributes.path == '/'")],
    });
    expect((await ask()).decision).toBe("no-opinion");
    expect(asked).toEqual([]);
    expect(metric("match_condition_evaluation_errors_total")).toEqual([
      'apiserver_authorization_match_condition_evaluation_errors_total{name="w",type="Webhook"} 1',
    ]);
    expect(metric("match_condition_evaluation_seconds_count")).toHaveLength(1);
    expect(metric("match_condition_exclusions_total")).toEqual([]);
  });

  test("who is left out is counted", async () => {
    const { ask, metric } = webhook({ conditions: [condition("false")] });
    await ask();
    await ask({ resourceRequest: false });
    expect(metric("match_condition_exclusions_total")).toEqual([
      'apiserver_authorization_match_condition_exclusions_total{name="w",type="Webhook"} 2',
    ]);
  });
});

test("decisions are counted, and what has no opinion is not", async () => {
  const metrics = new AuthorizationMetrics("vm");
  const given: AccessDecision["decision"][] = [
    "allow",
    "deny",
    "no-opinion",
    "allow",
  ];
  let at = 0;
  const sync = metrics.counting("RBAC", "rbac", {
    authorize: () => ({ decision: given[at++]!, reason: "" }),
  });
  const slow = metrics.counting("Webhook", "w", {
    authorize: async () => ({ decision: "allow", reason: "" }),
  });
  for (const decision of given)
    expect(sync.authorize(question)).toEqual({ decision, reason: "" });
  await slow.authorize(question);
  expect(
    metricsText(metrics.families())
      .split("\n")
      .filter((line) => line.includes("decisions_total{")),
  ).toEqual([
    'apiserver_authorization_decisions_total{decision="allowed",name="rbac",type="RBAC"} 2',
    'apiserver_authorization_decisions_total{decision="denied",name="rbac",type="RBAC"} 1',
    'apiserver_authorization_decisions_total{decision="allowed",name="w",type="Webhook"} 1',
  ]);
});

test("names beyond the bound are not counted", () => {
  const metrics = new AuthorizationMetrics("vm");
  for (let at = 0; at < 1500; at++) metrics.called(`w${at}`, "success", 0.1);
  const lines = metricsText(metrics.families())
    .split("\n")
    .filter((line) => line.includes("webhook_evaluations_total{"));
  expect(lines).toHaveLength(1000);
});

test("a chain passes errors on, each once, unless somebody decides", async () => {
  const saying = (answer: Partial<AccessDecision>) => ({
    authorize: () => ({
      ...({ decision: "no-opinion", reason: "" } as const),
      ...answer,
    }),
  });
  const failing = saying({ error: "gone" });
  const chain = (...more: ReturnType<typeof saying>[]) =>
    new UnionAuthorizer([failing, failing, ...more]).authorize(question);
  expect(chain(saying({ reason: "why" }))).toEqual({
    ...{ decision: "no-opinion", reason: "why", error: "gone" },
  });
  expect(chain(saying({ error: "late" }))).toMatchObject({
    error: "[gone, late]",
  });
  expect(chain(saying({ decision: "allow" }))).toEqual({
    ...{ decision: "allow", reason: "" },
  });
  expect(chain(saying({ decision: "deny", reason: "no" }))).toEqual({
    ...{ decision: "deny", reason: "no" },
  });
});
