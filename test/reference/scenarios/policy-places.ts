// What validating policies see where a request is no plain write, and what parameters, namespaces and the authorizer give
// them. Every policy fails with a message that shows what it has seen.
import { brief } from "../cases.ts";
import type { CallOptions, Scenario, Server } from "../scenario.ts";
import { places, things, type Step } from "./admission-places.ts";

const group = "/apis/admissionregistration.k8s.io/v1";
const policies = `${group}/validatingadmissionpolicies`;
const bindings = `${group}/validatingadmissionpolicybindings`;

const seen = [
  "request.operation",
  "request.kind.kind",
  "request.resource.resource",
  "request.?subResource.orValue('-')",
  "request.requestKind.version",
  "request.name",
  "request.?namespace.orValue('-')",
  "string(request.dryRun)",
  "string(object == null)",
  "string(oldObject == null)",
  "(namespaceObject == null ? '-' : namespaceObject.metadata.name + namespaceObject.status.phase)",
  "(object == null ? '-' : string(object.?kind.orValue('none')))",
  "(request.options == null ? '-' : string(request.options.?kind.orValue('none')))",
  "string(authorizer.requestResource.check('get').allowed())",
].join(" + ' ' + ");

const everything = {
  resourceRules: [
    {
      apiGroups: ["*"],
      apiVersions: ["v1"],
      operations: ["*"],
      resources: ["*/*"],
    },
  ],
};

interface Case {
  readonly spec?: object;
  readonly binding?: object;
  /** Default: a ConfigMap. */
  readonly step?: Step;
}

const named = (name: string, more: object = {}): object => ({
  paramRef: { name, parameterNotFoundAction: "Deny", ...more },
});
const labelled = (
  matchLabels: object,
  parameterNotFoundAction = "Deny",
): object => ({
  paramRef: { selector: { matchLabels }, parameterNotFoundAction },
});
const kind = (apiVersion: string, name: string): object => ({
  paramKind: { apiVersion, kind: name },
});
/** A key that is not there is in the message of the failure. Messages could not ask the authorizer. */
const says = (text: string): object => ({
  validations: [{ expression: `{"": true}[${text}]` }],
});
const shows = (expression: string): Case => ({ spec: says(expression) });
const role: Step = [
  "",
  "POST",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles?dryRun=All",
  { metadata: { name: "policy-places" } },
];
const param = says(
  "'by ' + params.metadata.name + ' of ' + params.metadata.?namespace.orValue('none')",
);

const cases: Readonly<Record<string, Case>> = {
  "a parameter of its namespace": {
    spec: { ...kind("v1", "ConfigMap"), ...param },
    binding: named("limit"),
  },
  "a parameter of another namespace": {
    spec: { ...kind("v1", "ConfigMap"), ...param },
    binding: named("far", { namespace: "kube-system" }),
  },
  "a parameter that is in another namespace": {
    spec: { ...kind("v1", "ConfigMap"), ...param },
    binding: named("far"),
  },
  "a parameter of a namespace that is not there": {
    spec: { ...kind("v1", "ConfigMap"), ...param },
    binding: named("far", { namespace: "nowhere" }),
  },
  "a selected parameter of another namespace": {
    spec: { ...kind("v1", "ConfigMap"), ...param },
    binding: {
      paramRef: {
        selector: { matchLabels: { far: "yes" } },
        namespace: "kube-system",
        parameterNotFoundAction: "Deny",
      },
    },
  },
  "any parameter that is none": {
    spec: { ...kind("v1", "LimitRange"), ...param },
    binding: labelled({}),
  },
  "any parameter that is none, allowed": {
    spec: { ...kind("v1", "LimitRange"), ...param },
    binding: labelled({}, "Allow"),
  },
  "a parameter for what is in no namespace": {
    spec: { ...kind("v1", "ConfigMap"), ...param },
    binding: named("limit"),
    step: role,
  },
  "a parameter of a namespace for what is in none": {
    spec: { ...kind("v1", "ConfigMap"), ...param },
    binding: named("far", { namespace: "kube-system" }),
    step: role,
  },
  "a parameter of the cluster": {
    spec: { ...kind("v1", "Namespace"), ...param },
    binding: named("default"),
    step: role,
  },
  "a parameter of the cluster with a namespace": {
    spec: { ...kind("v1", "Namespace"), ...param },
    binding: named("default", { namespace: "default" }),
  },
  "a parameter of another group": {
    spec: { ...kind("rbac.authorization.k8s.io/v1", "ClusterRole"), ...param },
    binding: named("view"),
  },
  "a kind of a version that is not there": {
    spec: { ...kind("v2", "ConfigMap"), ...param },
    binding: named("limit"),
  },
  "a misspelt kind": {
    spec: { ...kind("v1", "configmaps"), ...param },
    binding: named("limit"),
  },
  "a parameter ignored": {
    spec: { ...says("'no parameters'") },
    binding: named("limit"),
  },
  "a parameter without a reference": {
    spec: { ...kind("v1", "ConfigMap"), ...says("string(params == null)") },
  },
  "a failing condition about a parameter": {
    spec: {
      ...kind("v1", "ConfigMap"),
      ...param,
      matchConditions: [{ name: "c", expression: "params.data.none == 'x'" }],
    },
    binding: named("limit"),
  },
  namespace: shows(
    "namespaceObject.metadata.name + ' ' + namespaceObject.status.phase + ' ' + namespaceObject.metadata.labels['kubernetes.io/metadata.name'] + ' ' + string(has(namespaceObject.metadata.annotations)) + ' ' + namespaceObject.spec.finalizers.join(',') + ' ' + string(has(namespaceObject.metadata.deletionTimestamp)) + ' ' + string(type(namespaceObject.metadata.creationTimestamp) == google.protobuf.Timestamp)",
  ),
  "no namespace": {
    ...shows("string(namespaceObject == null)"),
    step: role,
  },
  "no namespace, read": {
    ...shows("namespaceObject.metadata.name"),
    step: role,
  },
  "of a namespace itself": {
    ...shows(
      "string(namespaceObject == null) + request.name + request.?namespace.orValue('none')",
    ),
    step: [
      "",
      "POST",
      "/api/v1/namespaces?dryRun=All",
      { metadata: { name: "policy-places-new" } },
    ],
  },
  "of a namespace that changes": {
    ...shows("string(namespaceObject == null) + request.name"),
    step: [
      "",
      "PATCH",
      "/api/v1/namespaces/default?dryRun=All",
      { metadata: { annotations: { policy: "places" } } },
      { "content-type": "application/merge-patch+json" },
    ],
  },
  "authorizer, group": shows(
    "string(authorizer.group('apps').resource('deployments').namespace('x').check('delete').allowed())",
  ),
  "authorizer, path": shows(
    "string(authorizer.path('/healthz').check('get').allowed())",
  ),
  "authorizer, reason": shows(
    "authorizer.group('').resource('pods').check('create').reason() + string(authorizer.group('').resource('pods').check('create').errored()) + authorizer.group('').resource('pods').check('create').error()",
  ),
  "authorizer, another user": shows(
    "string(authorizer.serviceAccount('default', 'nobody').group('').resource('pods').subresource('log').namespace('default').name('p').check('get').allowed()) + authorizer.serviceAccount('default', 'nobody').group('').resource('pods').check('get').reason()",
  ),
  "authorizer, selectors": shows(
    "string(authorizer.group('').resource('pods').fieldSelector('metadata.name=a').labelSelector('a=b').check('list').allowed())",
  ),
  "authorizer, an unreadable selector": shows(
    "string(authorizer.group('').resource('pods').fieldSelector('!!').check('list').allowed())",
  ),
  "authorizer, no path": shows(
    "string(authorizer.path('').check('get').allowed())",
  ),
  "authorizer, no account": shows(
    "string(authorizer.serviceAccount('', 'a_b').path('/').check('get').allowed())",
  ),
  "authorizer, own resource": shows(
    "string(authorizer.requestResource.check('delete').allowed())",
  ),
  "what is sent": shows(
    "string(object.metadata.?name.orValue('none')) + string(has(object.metadata.uid)) + string(has(object.metadata.managedFields)) + string(has(object.metadata.creationTimestamp)) + string(has(object.metadata.resourceVersion)) + object.apiVersion",
  ),
  "the user": shows(
    "request.userInfo.username + request.userInfo.groups.join(',') + string(has(request.userInfo.uid)) + string(has(request.userInfo.extra))",
  ),
};

const pause = (): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, 100));

export const policyPlaces: Scenario = {
  name: "policy-places",
  options: [],
  async run(server) {
    const { call, namespace } = server;
    const at = `/api/v1/namespaces/${namespace}`;
    const silent = { silent: true };
    for (const step of things(namespace, at)) await send(server, step, silent);
    for (const [path, name, labels] of [
      [`${at}/configmaps`, "limit", { limit: "yes" }],
      ["/api/v1/namespaces/kube-system/configmaps", "far", { far: "yes" }],
    ] as const)
      await call("", "POST", path, {
        ...silent,
        body: { metadata: { name, labels } },
      });
    const all = Object.entries(cases);
    for (const [index, [, one]] of all.entries())
      await put(server, `p${index}`, one, {
        objectSelector: { matchLabels: { case: `p${index}` } },
        ...everything,
      });
    await inEffect(server);
    for (const [index, [label, { step }]] of all.entries()) {
      const [, method, path, body, headers]: Step = step ?? [
        "",
        "POST",
        `${at}/configmaps?dryRun=All`,
        { metadata: { name: "m" } },
      ];
      const labelledBody = withLabel(body!, `p${index}`);
      await send(server, [label, method, path, labelledBody, headers]);
    }
    await put(server, "every", shows(seen), {
      ...everything,
      excludeResourceRules: [
        {
          apiGroups: ["coordination.k8s.io", "discovery.k8s.io"],
          apiVersions: ["*"],
          operations: ["*"],
          resources: ["*/*"],
        },
      ],
    });
    await inEffect(server, "denied");
    for (const step of places(namespace, at)) await send(server, step);
    await call("", "DELETE", `${bindings}/every`, silent);
  },
};

function withLabel(body: object, label: string): object {
  const { metadata } = body as { metadata: { labels?: object } };
  return {
    ...body,
    metadata: { ...metadata, labels: { ...metadata.labels, case: label } },
  };
}

async function send(
  { call }: Server,
  [label, method, path, body, headers]: Step,
  options: CallOptions = {},
): Promise<void> {
  await call(label, method, path, {
    ...(body ? { body } : {}),
    ...(headers ? { headers } : {}),
    lean: true,
    keep: (answer) => {
      const { kind } = answer as { kind?: string };
      return kind === "Status" ? brief(answer) : kind;
    },
    ...options,
  });
}

async function put(
  { call }: Server,
  name: string,
  { spec, binding = {} }: Case,
  matchConstraints: object,
): Promise<void> {
  const made = [
    await call("", "POST", policies, {
      silent: true,
      body: { metadata: { name }, spec: { matchConstraints, ...spec } },
    }),
    await call("", "POST", bindings, {
      silent: true,
      body: {
        metadata: { name },
        spec: { policyName: name, validationActions: ["Deny"], ...binding },
      },
    }),
  ];
  for (const { status, text } of made)
    if (status !== 201) throw new Error(`${name}: ${text}`);
}

/** The reference notices policies after a while: one that is made last is asked until it answers. */
async function inEffect(server: Server, label = "last"): Promise<void> {
  const { call, namespace } = server;
  await put(server, label, shows(`'${label}'`), {
    objectSelector: { matchLabels: { case: label } },
    ...everything,
  });
  const body = { metadata: { name: "m", labels: { case: label } } };
  for (let attempt = 0; attempt < 100; attempt++) {
    const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`;
    const { text } = await call("", "POST", path, { silent: true, body });
    if (text.includes(`'${label}'`)) return;
    await pause();
  }
  throw new Error("the policies are not in effect");
}
