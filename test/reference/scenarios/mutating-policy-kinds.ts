// MutatingAdmissionPolicies and their bindings as objects: how they are refused, defaulted, printed and found.
import { brief, changed, plain } from "../cases.ts";
import type { Scenario } from "../scenario.ts";

const group = "/apis/admissionregistration.k8s.io/v1alpha1";
const policies = `${group}/mutatingadmissionpolicies`;
const bindings = `${group}/mutatingadmissionpolicybindings`;
const merge = { "content-type": "application/merge-patch+json" };

export const mutatingPolicyOptions = [
  "--feature-gates=MutatingAdmissionPolicy=true",
  "--runtime-config=admissionregistration.k8s.io/v1alpha1=true",
];

const rule = {
  apiGroups: [""],
  apiVersions: ["v1"],
  operations: ["CREATE", "UPDATE"],
  resources: ["configmaps"],
};

const applied = (expression: string): object => ({
  patchType: "ApplyConfiguration",
  applyConfiguration: { expression },
});
const patched = (expression: string): object => ({
  patchType: "JSONPatch",
  jsonPatch: { expression },
});

const good = {
  metadata: { name: "good" },
  spec: {
    matchConstraints: { resourceRules: [rule] },
    reinvocationPolicy: "Never",
    mutations: [applied("Object{}")],
  },
};
const goodBinding = {
  metadata: { name: "good" },
  spec: { policyName: "good" },
};

type Cases = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Each is one mutation's expression. */
const expressions = (
  of: (expression: string) => object,
  cases: Readonly<Record<string, string>>,
): Cases =>
  Object.fromEntries(
    Object.entries(cases).map(([label, expression]) => [
      label,
      { "spec.mutations": [of(expression)] },
    ]),
  );

const refusals: Cases = {
  "no constraints": { "spec.matchConstraints": undefined },
  "no rules": { "spec.matchConstraints": {} },
  "no mutations": { "spec.mutations": [] },
  "no reinvocation policy": { "spec.reinvocationPolicy": undefined },
  "reinvocation policy": { "spec.reinvocationPolicy": "Often" },
  "failure policy": { "spec.failurePolicy": "Maybe" },
  "match policy": { "spec.matchConstraints.matchPolicy": "Never" },
  deletions: {
    "spec.matchConstraints.resourceRules": [
      { ...rule, operations: ["DELETE", "CREATE"] },
    ],
  },
  operations: {
    "spec.matchConstraints.resourceRules": [
      { ...rule, operations: ["CONNECT", "X"] },
      { ...rule, operations: ["*"], scope: "Y" },
    ],
  },
  "parameter kind": { "spec.paramKind": { apiVersion: "A/b/c", kind: "K_" } },
  "no patch type": { "spec.mutations": [{}] },
  "patch type": { "spec.mutations": [{ patchType: "Merge" }] },
  "no patch": {
    "spec.mutations": [
      { patchType: "JSONPatch" },
      { patchType: "ApplyConfiguration" },
    ],
  },
  "the other patch": {
    "spec.mutations": [
      { ...applied("Object{}"), jsonPatch: { expression: "[]" } },
      { ...patched("[JSONPatch{}]"), applyConfiguration: { expression: "1" } },
    ],
  },
  "empty expressions": { "spec.mutations": [applied(" "), patched("")] },
  variables: {
    "spec.variables": [
      { name: "", expression: "1" },
      { name: "in", expression: "1" },
      { name: "a", expression: "Object{}" },
      { name: "b", expression: "JSONPatch{}" },
      { name: "c", expression: "jsonpatch.escapeKey('a')" },
      { name: "d", expression: "variables.e" },
    ],
    "spec.mutations": [
      applied("Object{data: variables.d}"),
      applied("Object{data: variables.none}"),
    ],
  },
  "match conditions": {
    "spec.matchConditions": [
      { name: "a", expression: "1" },
      { name: "a", expression: "true" },
      { name: "", expression: "Object{} == Object{}" },
      { name: "-", expression: "variables.a" },
    ],
  },
  "no variables": { "spec.mutations": [applied("Object{a: variables.a}")] },
  "no parameters": { "spec.mutations": [applied("Object{a: params.a}")] },
  ...expressions(applied, {
    "applied number": "1",
    "applied map": "{'a': 'b'}",
    "applied list": "[Object{}]",
    "applied anything": "object",
    "applied part": "Object.spec{}",
    "applied either": "true ? Object{} : null",
    "applied of both": "true ? Object{} : Object.spec{}",
    "applied typo": "Object{metadata: Object.metadata{",
    "applied optional": "Object{?data: optional.none(), ?metadata: 1}",
    "applied patch": "JSONPatch{op: 'add'}",
    "applied unknown type": "Objects{}",
    "applied unknown lower type": "object{}",
    "applied type": "Object",
    "applied key": "Object{'a': 1}",
    "applied field of a type": "Object{data: Object.data}",
    "applied field of an object": "Object{data: Object{}.data.a}",
    "applied condition": "has(Object{}.data) ? Object{} : Object{}",
    "applied equality": "Object{} == Object{a: 1} ? Object{} : Object{}",
    "applied other equality": "Object{} == Object.a{} ? Object{} : Object{}",
  }),
  ...expressions(patched, {
    "patched object": "Object{}",
    "patched one": "JSONPatch{op: 'add'}",
    "patched numbers": "[1]",
    "patched nothing": "[]",
    "patched anything": "object.a",
    "patched any": "[object.a]",
    "patched mixed": "[JSONPatch{op: 'add'}, Object{}]",
    "patched types": "[JSONPatch{op: 1, path: ['a'], from: 1.0, value: 1}]",
    "patched fields": "[JSONPatch{op: 'add', where: '/a'}]",
    "patched selected": "[JSONPatch{op: JSONPatch{op: 'a'}.op}]",
    "patched wrongly selected": "[JSONPatch{op: JSONPatch{op: 'a'}.ops}]",
    "patched maybe": "true ? [JSONPatch{op: 'add'}] : []",
    "patched together": "[JSONPatch{op: 'add'}] + [JSONPatch{op: 'test'}]",
    "escaped number": "[JSONPatch{path: jsonpatch.escapeKey(1)}]",
    "escaped otherwise": "[JSONPatch{path: 'a'.escapeKey()}]",
  }),
};

const bindingRefusals: Cases = {
  "no policy": { "spec.policyName": "" },
  "policy name": { "spec.policyName": "-" },
  "no parameter": { "spec.paramRef": {} },
  "name and selector": {
    "spec.paramRef": { name: "a", selector: {}, parameterNotFoundAction: "No" },
  },
  "match resources": {
    "spec.matchResources": {
      matchPolicy: "X",
      resourceRules: [{ operations: [], apiGroups: [], resources: [] }],
    },
  },
  deletions: {
    "spec.matchResources": {
      resourceRules: [{ ...rule, operations: ["DELETE"] }],
    },
  },
};

const columns = {
  headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
  lean: true,
  keep: (body: unknown): unknown => {
    const { columnDefinitions, rows } = body as {
      columnDefinitions: unknown;
      rows?: { cells: unknown[] }[];
    };
    return {
      columnDefinitions,
      cells: rows?.map(({ cells }) => cells.slice(0, -1)),
    };
  },
};

export const mutatingPolicyKinds: Scenario = {
  name: "mutating-policy-kinds",
  options: mutatingPolicyOptions,
  async run({ call }) {
    const refused = { keep: brief, lean: true };
    for (const [label, changes] of Object.entries(refusals))
      await call(`policy: ${label}`, "POST", `${policies}?dryRun=All`, {
        body: changed(good, changes),
        ...refused,
        keep: (body) =>
          (body as { kind?: string }).kind === "Status" ? brief(body) : "taken",
      });
    for (const [label, changes] of Object.entries(bindingRefusals))
      await call(`binding: ${label}`, "POST", `${bindings}?dryRun=All`, {
        body: changed(goodBinding, changes),
        ...refused,
      });
    await call("a policy", "POST", policies, { body: good, ...plain });
    await call("a policy with parameters", "POST", policies, {
      body: changed(good, {
        "metadata.name": "other",
        "spec.paramKind": { apiVersion: "v1", kind: "ConfigMap" },
        "spec.matchConstraints.namespaceSelector": {},
        "spec.variables": [{ name: "v", expression: "params.data" }],
        "spec.mutations": [
          applied("Object{data: variables.v}"),
          patched("[JSONPatch{op: 'remove', path: '/data'}]"),
        ],
      }),
      ...plain,
    });
    await call("a binding", "POST", bindings, { body: goodBinding, ...plain });
    await call("a binding with parameters", "POST", bindings, {
      body: changed(goodBinding, {
        "metadata.name": "other",
        "spec.paramRef": {
          name: "p",
          namespace: "n",
          parameterNotFoundAction: "Allow",
        },
        "spec.matchResources": { matchPolicy: "Exact" },
      }),
      ...plain,
    });
    await call("policies' table", "GET", policies, columns);
    await call("bindings' table", "GET", bindings, columns);
    await call("a policy changed", "PATCH", `${policies}/good`, {
      body: { spec: { reinvocationPolicy: "IfNeeded" } },
      headers: merge,
      ...plain,
    });
    await call("a policy changed wrongly", "PATCH", `${policies}/good`, {
      body: { spec: { mutations: [applied("object.")] } },
      headers: merge,
      ...refused,
    });
    await call("a policy's status", "GET", `${policies}/good/status`, refused);
    await call("a policy put", "PUT", `${policies}/good`, {
      body: good,
      ...refused,
    });
    await call("resources", "GET", group, {
      lean: true,
      keep: (body) =>
        (body as { resources: { name: string }[] }).resources.filter(
          ({ name }) => name.startsWith("mutating"),
        ),
    });
    for (const at of [bindings, policies])
      await call(`deleted: ${at}`, "DELETE", at, {
        lean: true,
        keep: (body) => (body as { kind: string }).kind,
      });
  },
};
