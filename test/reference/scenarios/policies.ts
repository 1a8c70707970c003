// ValidatingAdmissionPolicies and their bindings: how they are refused, and what they do to requests.

import { brief, changed, plain } from "../cases.ts";
import type { CallOptions, Scenario } from "../scenario.ts";

const group = "/apis/admissionregistration.k8s.io/v1";
const policies = `${group}/validatingadmissionpolicies`;
const bindings = `${group}/validatingadmissionpolicybindings`;
const merge = { "content-type": "application/merge-patch+json" };

const rules = (
  resources: string[],
  operations = ["CREATE", "UPDATE"],
): object => ({
  resourceRules: [
    { apiGroups: [""], apiVersions: ["v1"], operations, resources },
  ],
});
const policy = (name: string, spec: object): object => ({
  metadata: { name },
  spec: { matchConstraints: rules(["configmaps"]), ...spec },
});

const refusals: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "no constraints": { "spec.matchConstraints": undefined },
  "no rules": { "spec.matchConstraints": {} },
  "no validations": { "spec.validations": [] },
  rules: {
    "spec.matchConstraints.resourceRules": [
      {
        apiGroups: ["*", "a"],
        apiVersions: [],
        operations: ["X", "*"],
        resources: ["a/*", "a/b", ""],
        resourceNames: ["a", "a", "b/c"],
        scope: "Y",
      },
    ],
  },
  "match policy": { "spec.matchConstraints.matchPolicy": "Never" },
  selectors: {
    "spec.matchConstraints.namespaceSelector": {
      matchExpressions: [{ key: "a", operator: "Of" }],
    },
    "spec.matchConstraints.objectSelector": { matchLabels: { "-": "b" } },
  },
  "failure policy": { "spec.failurePolicy": "Maybe" },
  "parameter kind": { "spec.paramKind": { apiVersion: "A/b/c", kind: "K_" } },
  "parameter group": { "spec.paramKind": { apiVersion: "A_/1", kind: "K" } },
  "parameter kind alone": { "spec.paramKind": { kind: "K" } },
  "expression empty": { "spec.validations": [{ expression: " " }] },
  "expression of a number": { "spec.validations": [{ expression: "1" }] },
  "expression of anything": {
    "spec.validations": [{ expression: "object.a" }],
  },
  "expression with a typo": {
    "spec.validations": [{ expression: "object.a ==" }],
  },
  "unknown names": {
    "spec.validations": [
      { expression: "self == 1 && objekt.a" },
      { expression: "params.a == 1" },
      { expression: "variables.a == 1" },
      { expression: "request.foo == 1" },
      { expression: "namespaceObject.spec.foo" },
    ],
  },
  "wrong types": {
    "spec.validations": [
      { expression: "request.name == 1" },
      { expression: "request.dryRun + 1 == 2" },
    ],
  },
  messages: {
    "spec.validations": [
      { expression: "true", message: "a\nb" },
      { expression: "true", message: " " },
      { expression: "true", messageExpression: " " },
      { expression: "true", messageExpression: "1" },
      { expression: "true", reason: "Because" },
    ],
  },
  variables: {
    "spec.variables": [
      { name: "", expression: "1" },
      { name: "1a", expression: "1" },
      { name: "in", expression: "1" },
      { name: "a", expression: "" },
      { name: "b", expression: "variables.c" },
      { name: "c", expression: "1 +" },
      { name: "d", expression: "variables.c + 'x'" },
      { name: "e", expression: "'x'" },
      { name: "f", expression: "variables.e + 1" },
    ],
  },
  "match conditions": {
    "spec.matchConditions": [
      { name: "a", expression: "1" },
      { name: "a", expression: "true" },
      { name: "", expression: "" },
      { name: "-", expression: "variables.a" },
    ],
  },
  "too many match conditions": {
    "spec.matchConditions": Array.from({ length: 65 }, (_, index) => ({
      name: `c${index}`,
      expression: "true",
    })),
  },
  annotations: {
    "spec.auditAnnotations": [
      { key: "a", valueExpression: "1" },
      { key: "a", valueExpression: "'a'" },
      { key: "-", valueExpression: "null" },
      { key: "b", valueExpression: "" },
    ],
  },
};

const bindingRefusals: Readonly<
  Record<string, Readonly<Record<string, unknown>>>
> = {
  "no policy": { "spec.policyName": "" },
  "policy name": { "spec.policyName": "-" },
  "no actions": { "spec.validationActions": [] },
  actions: { "spec.validationActions": ["Deny", "Warn", "Deny", "Shout"] },
  "no parameter": { "spec.paramRef": {} },
  "name and selector": {
    "spec.paramRef": { name: "a", selector: {}, parameterNotFoundAction: "No" },
  },
  "parameter name": {
    "spec.paramRef": { name: "a/b", parameterNotFoundAction: "Allow" },
  },
  "match resources": {
    "spec.matchResources": {
      matchPolicy: "X",
      resourceRules: [{ operations: [], apiGroups: [], resources: [] }],
    },
  },
};

export const policiesScenario: Scenario = {
  name: "policies",
  async run(server) {
    const { call, namespace } = server;
    const ns = `/api/v1/namespaces/${namespace}`;
    const good = policy("good", { validations: [{ expression: "true" }] });
    const goodBinding = {
      metadata: { name: "good" },
      spec: { policyName: "good", validationActions: ["Deny"] },
    };
    const refused = { keep: brief, lean: true };
    for (const [label, changes] of Object.entries(refusals))
      await call(`policy: ${label}`, "POST", `${policies}?dryRun=All`, {
        body: changed(good, changes),
        ...refused,
      });
    for (const [label, changes] of Object.entries(bindingRefusals))
      await call(`binding: ${label}`, "POST", `${bindings}?dryRun=All`, {
        body: changed(goodBinding, changes),
        ...refused,
      });
    await call("a policy", "POST", policies, { body: good });
    await call("a binding", "POST", bindings, { body: goodBinding });
    await call("a policy's table", "GET", `${policies}/good`, {
      headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
      keep: (body) =>
        (body as { rows?: { cells: unknown[] }[] }).rows?.map(({ cells }) =>
          cells.slice(0, 3),
        ),
      lean: true,
    });
    await call("a policy changed", "PATCH", `${policies}/good`, {
      body: { spec: { validations: [{ expression: "object." }] } },
      headers: merge,
      ...refused,
    });
    for (const at of [`${bindings}/good`, `${policies}/good`])
      await call("", "DELETE", at, { silent: true });

    let made = 0;
    /** Each has a name of its own: the reference notices a change after a while. */
    const put = async (spec: object, binding: object = {}): Promise<void> => {
      await remove();
      const name = `p${++made}`;
      const matchResources = {
        namespaceSelector: {
          matchLabels: { "kubernetes.io/metadata.name": namespace },
        },
      };
      await call("", "POST", policies, {
        body: policy(name, spec),
        silent: true,
      });
      await call("", "POST", bindings, {
        body: {
          metadata: { name: "b" },
          spec: {
            policyName: name,
            validationActions: ["Deny"],
            matchResources,
            ...binding,
          },
        },
        silent: true,
      });
    };
    const remove = async (): Promise<void> => {
      for (const path of [`${bindings}/b`, `${policies}/p${made}`])
        await call("", "DELETE", path, { silent: true });
    };
    /** Asks until the policy that was put last is in effect, or none is. */
    const ask = async (
      label: string,
      body: object,
      { gone = false, ...options }: CallOptions & { gone?: boolean } = {},
    ): Promise<void> => {
      const path = `${ns}/configmaps?dryRun=All`;
      for (let attempt = 0; attempt < 100; attempt++) {
        const { status, text, headers } = await call("", "POST", path, {
          body,
          silent: true,
        });
        const said = text + String(headers.warning);
        if (gone ? status < 400 : said.includes(`'p${made}'`)) break;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      await call(label, "POST", path, { body, lean: true, ...options });
    };
    const map = (data: Record<string, string> = {}): object => ({
      metadata: { name: "m" },
      data,
    });
    const cases: Readonly<Record<string, object>> = {
      "a message": { validations: [{ expression: "false", message: "no" }] },
      "no message": {
        validations: [{ expression: " object.data.a ==\n 'b' " }],
      },
      "a reason": {
        validations: [
          { expression: "false", message: "no", reason: "Forbidden" },
        ],
      },
      "a large reason": {
        validations: [{ expression: "false", reason: "RequestEntityTooLarge" }],
      },
      "a made message": {
        variables: [{ name: "a", expression: "object.data.a" }],
        validations: [
          {
            expression: "variables.a == 'x'",
            messageExpression: "'a is ' + string(variables.a)",
          },
        ],
      },
      "a missing key": {
        validations: [{ expression: "object.data.none == 'x'" }],
      },
      "a failing variable": {
        variables: [{ name: "v", expression: "object.data.none" }],
        validations: [{ expression: "variables.v == 'x'" }],
      },
      "a failing condition": {
        matchConditions: [{ name: "c", expression: "object.data.none == 1" }],
        validations: [{ expression: "false" }],
      },
      "a failing annotation": {
        auditAnnotations: [
          { key: "a", valueExpression: "string(object.data.none)" },
        ],
      },
      "several validations": {
        validations: [
          { expression: "true" },
          { expression: "false", message: "second" },
          { expression: "false", message: "third" },
        ],
      },
      "an unknown parameter kind": {
        paramKind: { apiVersion: "none.io/v1", kind: "Nothing" },
        validations: [{ expression: "true" }],
      },
      "what it sees": {
        validations: [
          {
            expression: "false",
            messageExpression:
              "request.operation + ' ' + request.name + ' ' + request.namespace + ' ' + request.kind.kind + ' ' + request.requestResource.resource + ' ' + string(request.dryRun) + ' ' + request.userInfo.username + ' ' + string(has(request.subResource)) + ' ' + string(oldObject == null) + ' ' + namespaceObject.metadata.name + ' ' + namespaceObject.status.phase",
          },
        ],
      },
    };
    for (const [label, spec] of Object.entries(cases)) {
      await put(spec);
      await ask(label, map({ a: "c" }));
    }

    await put(
      { validations: [{ expression: "false", message: "only warned" }] },
      { validationActions: ["Warn", "Audit"] },
    );
    await ask("warned", map(), {
      keep: () => undefined,
    });
    await put({
      failurePolicy: "Ignore",
      validations: [
        { expression: "object.data.none == 'x'" },
        { expression: "object.data.a != 'c'", message: "still" },
      ],
    });
    await ask("failures ignored", map({ a: "c" }));

    const params = {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      validations: [
        {
          expression: "params.data.max == object.data.a",
          messageExpression: "'by ' + string(params.metadata.name)",
        },
      ],
    };
    await call("", "POST", `${ns}/configmaps`, {
      body: {
        metadata: { name: "limit", labels: { limit: "yes" } },
        data: { max: "1" },
      },
      silent: true,
    });
    for (const [label, paramRef] of Object.entries({
      "a parameter": { name: "limit", parameterNotFoundAction: "Deny" },
      "a selected parameter": {
        selector: { matchLabels: { limit: "yes" } },
        parameterNotFoundAction: "Deny",
      },
      "a missing parameter": { name: "none", parameterNotFoundAction: "Deny" },
      "a missing selected parameter": {
        selector: { matchLabels: { limit: "no" } },
        parameterNotFoundAction: "Deny",
      },
    })) {
      await put(params, { paramRef });
      await ask(label, map({ a: "2" }));
    }
    await put(
      {
        ...params,
        paramKind: { apiVersion: "v1", kind: "Node" },
      },
      {
        paramRef: {
          name: "n",
          namespace,
          parameterNotFoundAction: "Deny",
        },
      },
    );
    await ask("a parameter in no namespace", map());
    await remove();
    await ask("a request without policies", map(), { gone: true, ...plain });
  },
};
