// Mutating admission policies where several parts work together: order among policies, webhooks behind them, other
// versions, subresources and connections. What single patches do is compared in test/reference/scenarios/mutating-policies.
import { builtinCatalogue } from "../../../api/catalogue.ts";
import { registryParams } from "../../../apiserver-lite/admission/plugins/policy-params/registry-params.ts";
import { createMutatingAdmissionPolicy } from "../../../apiserver-lite/admission/policy/mutating/mutating-policy.ts";
import { PolicyMetrics } from "../../../apiserver-lite/admission/policy/policy-metrics.ts";
import { alwaysAllow } from "../../../apiserver-lite/authorization/union-authorizer.ts";
import type { Registry } from "../../../apiserver-lite/registry/registry.ts";
import {
  configuration,
  mutating,
  patching,
  startWebhookServer,
  withWebhooks,
  type WebhookServer,
} from "../../support/webhooks.ts";
import {
  configMaps,
  startTestServer,
  type Answer,
  type TestServer,
} from "./support.ts";

const group = "/apis/admissionregistration.k8s.io/v1alpha1";
const policies = `${group}/mutatingadmissionpolicies`;
const bindings = `${group}/mutatingadmissionpolicybindings`;

let hooks: WebhookServer;
let server: TestServer;

beforeAll(async () => {
  hooks = await startWebhookServer();
  server = await startTestServer({
    catalogue: builtinCatalogue(() => true),
    ...withWebhooks({
      parts: (state) => ({
        admission: [
          createMutatingAdmissionPolicy({
            state,
            authorizer: alwaysAllow,
            params: registryParams(state as Registry),
            metrics: new PolicyMetrics(),
          }),
        ],
      }),
    }),
  });
});
afterAll(async () => {
  await server.stop();
  await hooks.close();
});
afterEach(async () => {
  for (const path of [bindings, policies, mutating, configMaps])
    await server.call("DELETE", path);
  for (const path of Object.keys(hooks.on)) delete hooks.on[path];
  hooks.seen.length = 0;
});

const rule = (
  resources: readonly string[],
  apiGroups: readonly string[] = [""],
  apiVersions: readonly string[] = ["v1"],
): object => ({ apiGroups, apiVersions, operations: ["*"], resources });

const apply = (expression: string): object => ({
  patchType: "ApplyConfiguration",
  applyConfiguration: { expression },
});
const patch = (path: string, value: string): object => ({
  patchType: "JSONPatch",
  jsonPatch: {
    expression: `[JSONPatch{op: "add", path: "${path}", value: ${value}}]`,
  },
});

async function put(
  name: string,
  mutations: readonly object[],
  { rules = [rule(["configmaps"])], ...spec }: Record<string, unknown> = {},
): Promise<void> {
  const made = [
    await server.call("POST", policies, {
      metadata: { name },
      spec: {
        reinvocationPolicy: "Never",
        matchConstraints: { resourceRules: rules },
        mutations,
        ...spec,
      },
    }),
    await server.call("POST", bindings, {
      metadata: { name },
      spec: { policyName: name },
    }),
  ];
  expect(made.map(({ text, status }) => (status === 201 ? "" : text))).toEqual(
    made.map(() => ""),
  );
}

const create = (data: object = { x: "0" }): Promise<Answer> =>
  server.call("POST", configMaps, { metadata: { name: "m" }, data });

const seen = apply(
  'Object{data: {"seen": object.data.?seen.orValue("") + "x"}}',
);

test("policies are in effect for the next request, in the order of their names, and not for deletions", async () => {
  const add = (name: string): object =>
    apply(
      `Object{data: {"order": object.data.?order.orValue("") + "${name}"}}`,
    );
  for (const name of ["b", "c", "a"]) await put(name, [add(name)]);
  expect((await create()).body.data).toMatchObject({ order: "abc" });
  expect((await server.call("DELETE", `${configMaps}/m`)).status).toBe(200);
  await server.call("DELETE", `${bindings}/b`);
  expect((await create()).body.data).toMatchObject({ order: "ac" });
});

test("a policy that did not match in the first round is not evaluated in the second", async () => {
  const conditions = [{ name: "c", expression: "'b' in object.data" }];
  await put("a", [apply('Object{data: {"late": "1"}}')], {
    matchConditions: conditions,
    reinvocationPolicy: "IfNeeded",
  });
  await put("b", [apply('Object{data: {"b": "1"}}')]);
  expect((await create()).body.data).toEqual({ x: "0", b: "1" });
});

test("what a webhook changes is shown to policies that are to be invoked again, and theirs to webhooks", async () => {
  const count = hooks.seen.length;
  hooks.on["/m"] = ({ object }) =>
    patching({
      op: "add",
      path: "/data/webhook",
      value: `${object.data.webhook ?? ""}${object.data.again ?? ""}w`,
    });
  await server.call(
    "POST",
    mutating,
    configuration("Mutating", "test", hooks, {
      "/m": { reinvocationPolicy: "IfNeeded" },
    }),
  );
  await put(
    "a",
    [
      apply(
        'Object{data: {"again": "webhook" in object.data ? "seen" : "not yet "}}',
      ),
    ],
    { reinvocationPolicy: "IfNeeded" },
  );
  await put("b", [seen]);
  expect((await create()).body.data).toEqual({
    again: "seen",
    seen: "x",
    x: "0",
    webhook: "not yet wseenw",
  });
  expect(hooks.seen.length - count).toBe(2);
});

test("policies for other versions of the object see what those before them made of it", async () => {
  const scaling =
    "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
  const rules = (version: string): object => ({
    rules: [rule(["horizontalpodautoscalers"], ["autoscaling"], [version])],
  });
  await put(
    "a",
    [apply("Object{spec: Object.spec{targetCPUUtilizationPercentage: 30}}")],
    { ...rules("v1") },
  );
  await put(
    "b",
    [
      apply(
        'Object{metadata: Object.metadata{annotations: {"metric": string(object.spec.metrics[0].resource.target.averageUtilization)}}}',
      ),
    ],
    { ...rules("v2") },
  );
  const { body } = await server.call("POST", scaling, {
    metadata: { name: "h" },
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" },
    },
  });
  expect(body.spec?.metrics?.[0]?.resource?.target).toEqual({
    type: "Utilization",
    averageUtilization: 30,
  });
  expect(body.metadata.annotations).toEqual({ metric: "30" });
});

test("subresources, and bodies that are no objects of the resource", async () => {
  const pods = "/api/v1/namespaces/default/pods";
  const container = { name: "c", image: "i" };
  await server.call("POST", pods, {
    metadata: { name: "p" },
    spec: { containers: [container] },
  });
  await put("a", [apply('Object{status: Object.status{message: "mutated"}}')], {
    rules: [rule(["pods/status"])],
  });
  await put("b", [patch("/target/name", '"other"')], {
    rules: [rule(["pods/binding"])],
  });
  const status = await server.call(
    "PATCH",
    `${pods}/p/status`,
    { status: { reason: "why" } },
    { "content-type": "application/merge-patch+json" },
  );
  expect(status.body.status).toMatchObject({
    message: "mutated",
    reason: "why",
  });
  const bound = await server.call("POST", `${pods}/p/binding`, {
    metadata: { name: "p" },
    target: { kind: "Node", name: "n" },
  });
  expect(bound.status).toBe(201);
  const { body } = await server.call("GET", `${pods}/p`);
  expect(body.spec.nodeName).toBe("other");
});

test("connections take JSON patches alone", async () => {
  const pods = "/api/v1/namespaces/default/pods";
  await server.call("POST", pods, {
    metadata: { name: "c" },
    spec: { containers: [{ name: "c", image: "i" }] },
  });
  const places = ["pods/exec", "pods/attach"];
  const rules = [{ ...rule(places), operations: ["CONNECT"] }];
  await put("a", [patch("/stdin", "true")], { rules });
  const connect = async (place: string): Promise<string> => {
    const path = `${pods}/c/${place}?command=x&stdout=true`;
    return (await server.call("GET", path)).body.message;
  };
  const unplaced = "pod c does not have a host assigned";
  expect(await connect("exec")).toBe(unplaced);
  expect(await connect("attach")).toBe(unplaced);
  await put("b", [apply("Object{stdin: true}")], { rules });
  for (const [place, kind] of [
    ["exec", "PodExecOptions"],
    ["attach", "PodAttachOptions"],
  ] as const)
    expect(await connect(place)).toContain(
      `error applying patch: failed to convert patch object to typed object: no corresponding type for /v1, Kind=${kind}`,
    );
});

test("a policy changes an apply that creates, and owns nothing of it", async () => {
  await put("a", [apply('Object{data: {"b": "2"}}')]);
  const { status, body } = await server.call(
    "PATCH",
    `${configMaps}/m?fieldManager=me`,
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "m" },
      data: { a: "1" },
    },
    { "content-type": "application/apply-patch+yaml" },
  );
  expect(status).toBe(201);
  expect(body.data).toEqual({ a: "1", b: "2" });
  const [entry] = body.metadata.managedFields;
  expect(Object.keys(entry.fieldsV1["f:data"])).toContain("f:a");
});

test("a mutation that would take long lets others have their turn, and ends", async () => {
  const list = `[${"1,".repeat(40)}1]`;
  const deep = [1, 2, 3, 4].reduce(
    (inner, depth) => `${list}.map(v${depth}, ${inner})`,
    "'a'",
  );
  await put("a", [apply(`Object{data: {"n": string(size(${deep}))}}`)]);
  const { status, body } = await create();
  expect(status).toBe(403);
  expect(body.message).toContain("actual cost limit exceeded");
});
