// Admission where a request is no plain write: subresources, bodies of other kinds, connections, collections, reviews,
// writes that create. Both kinds of webhooks note what they are asked and allow it; then a mutating one patches, and one
// validating policy shows what expressions see.
import { startHttpsServer } from "../../support/https-server.ts";
import { brief } from "../cases.ts";
import type { Json } from "../normalise.ts";
import type { CallOptions, Scenario } from "../scenario.ts";
import { patch, shown } from "./webhook-calls.ts";

const group = "/apis/admissionregistration.k8s.io/v1";
const merge = { "content-type": "application/merge-patch+json" };
const strategic = { "content-type": "application/strategic-merge-patch+json" };
const apply = { "content-type": "application/apply-patch+yaml" };

export type Step = readonly [
  label: string,
  method: string,
  path: string,
  body?: object,
  headers?: Record<string, string>,
];

const labels = { a: "b" };
const template = {
  metadata: { labels },
  spec: { containers: [{ name: "c", image: "i" }] },
};

/** What has to be there. */
export const things = (ns: string, at: string): readonly Step[] => [
  ["", "POST", `${at}/serviceaccounts`, { metadata: { name: "s" } }],
  ...["p", "q", "r"].map((name): Step => [
    "",
    "POST",
    `${at}/pods`,
    { metadata: { name, labels }, spec: template.spec },
  ]),
  ...["a", "b", "c"].map((name): Step => [
    "",
    "POST",
    `${at}/configmaps`,
    { metadata: { name, labels } },
  ]),
  [
    "",
    "POST",
    `${at}/replicationcontrollers`,
    { metadata: { name: "rc" }, spec: { replicas: 1, template } },
  ],
  [
    "",
    "POST",
    `${at}/services`,
    { metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } },
  ],
  ["", "POST", "/api/v1/nodes", { metadata: { name: `n-${ns}` } }],
];

const eviction = (name: string, more: object = {}): object => ({
  apiVersion: "policy/v1",
  kind: "Eviction",
  metadata: { name },
  ...more,
});
const binding = (name: string): object => ({
  metadata: { name },
  target: { kind: "Node", name: "n" },
});

export const places = (ns: string, at: string): readonly Step[] => [
  ["binding", "POST", `${at}/pods/p/binding`, binding("p")],
  ["binding of another name", "POST", `${at}/pods/p/binding`, binding("x")],
  ["binding by its kind", "POST", `${at}/bindings`, binding("q")],
  [
    "ephemeral containers",
    "PATCH",
    `${at}/pods/p/ephemeralcontainers`,
    { spec: { ephemeralContainers: [{ name: "e", image: "i" }] } },
    strategic,
  ],
  [
    "status applied",
    "PATCH",
    `${at}/pods/p/status?fieldManager=m`,
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      status: { message: "x" },
    },
    apply,
  ],
  [
    "status of nothing applied",
    "PATCH",
    `${at}/pods/none/status?fieldManager=m`,
    { apiVersion: "v1", kind: "Pod", metadata: { name: "none" } },
    apply,
  ],
  [
    "token",
    "POST",
    `${at}/serviceaccounts/s/token?dryRun=All`,
    { spec: { expirationSeconds: 600 } },
  ],
  [
    "eviction, dry run",
    "POST",
    `${at}/pods/r/eviction`,
    eviction("r", { deleteOptions: { dryRun: ["All"] } }),
  ],
  ["eviction of nothing", "POST", `${at}/pods/none/eviction`, eviction("none")],
  ["attach", "POST", `${at}/pods/p/attach?stdin=true&container=c`],
  ["port-forward", "POST", `${at}/pods/p/portforward?ports=80`],
  ["pod proxy", "PUT", `${at}/pods/p/proxy/`],
  ["service proxy", "POST", `${at}/services/s:80/proxy/x/y`, {}],
  ["node proxy", "DELETE", `/api/v1/nodes/n-${ns}/proxy/pods`],
  ["exec of nothing", "POST", `${at}/pods/none/exec?command=a`],
  [
    "scale put",
    "PUT",
    `${at}/replicationcontrollers/rc/scale`,
    { metadata: { name: "rc" }, spec: { replicas: 2 } },
  ],
  [
    "nothing changed",
    "PATCH",
    `${at}/configmaps/a`,
    { metadata: { labels } },
    merge,
  ],
  ["patch of nothing", "PATCH", `${at}/configmaps/none`, {}, merge],
  [
    "put of nothing",
    "PUT",
    `${at}/configmaps/none`,
    { metadata: { name: "none" } },
  ],
  [
    "put that creates",
    "PUT",
    `${at}/endpoints/e?fieldManager=m`,
    { metadata: { name: "e" } },
  ],
  [
    "apply that creates",
    "PATCH",
    `${at}/secrets/new?fieldManager=m&force=true`,
    { apiVersion: "v1", kind: "Secret", metadata: { name: "new" } },
    apply,
  ],
  [
    "apply that creates, dry run",
    "PATCH",
    `${at}/secrets/dry?fieldManager=m&dryRun=All`,
    { apiVersion: "v1", kind: "Secret", metadata: { name: "dry" } },
    apply,
  ],
  [
    "deletion with options",
    "DELETE",
    `${at}/configmaps/a?dryRun=All`,
    { propagationPolicy: "Orphan", dryRun: ["All"], gracePeriodSeconds: 5 },
  ],
  [
    "deletion of a collection",
    "DELETE",
    `${at}/configmaps?labelSelector=a%3Db&propagationPolicy=Background`,
  ],
  ["deletion of a pod", "DELETE", `${at}/pods/q?gracePeriodSeconds=0`],
  [
    "access review",
    "POST",
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    { spec: { nonResourceAttributes: { path: "/", verb: "get" } } },
  ],
  [
    "local access review",
    "POST",
    `/apis/authorization.k8s.io/v1/namespaces/${ns}/localsubjectaccessreviews`,
    {
      metadata: { namespace: ns },
      spec: {
        user: "u",
        resourceAttributes: { namespace: ns, verb: "get", resource: "pods" },
      },
    },
  ],
  [
    "token review",
    "POST",
    "/apis/authentication.k8s.io/v1/tokenreviews",
    { spec: { token: "nothing" } },
  ],
  [
    "namespace finalized",
    "PUT",
    `/api/v1/namespaces/${ns}/finalize`,
    { metadata: { name: ns }, spec: { finalizers: ["kubernetes"] } },
  ],
  [
    "namespace status",
    "PATCH",
    `/api/v1/namespaces/${ns}/status`,
    { status: { phase: "Active" } },
    merge,
  ],
  [
    "event of the older group",
    "POST",
    `${at}/events`,
    {
      metadata: { name: "ev" },
      involvedObject: { namespace: ns },
      type: "Normal",
      reason: "R",
    },
  ],
];

const replaced = (value: unknown): unknown[] => [
  { op: "replace", path: "", value },
];

/** By label: the patch, and the step of `places` or one of its own that it is for. */
const changes = (at: string): readonly (readonly [unknown[], Step])[] => [
  [
    [{ op: "replace", path: "/target/name", value: "" }],
    ["patched binding", "POST", `${at}/pods/r/binding`, binding("r")],
  ],
  [
    [{ op: "replace", path: "/spec/replicas", value: -1 }],
    [
      "patched scale",
      "PATCH",
      `${at}/replicationcontrollers/rc/scale`,
      { spec: { replicas: 3 } },
      merge,
    ],
  ],
  [
    [{ op: "replace", path: "/spec/replicas", value: 5 }],
    [
      "patched scale that fits",
      "PATCH",
      `${at}/replicationcontrollers/rc/scale`,
      { spec: { replicas: 3 } },
      merge,
    ],
  ],
  [
    [{ op: "add", path: "/spec/expirationSeconds", value: 1 }],
    ["patched token", "POST", `${at}/serviceaccounts/s/token`, { spec: {} }],
  ],
  [
    [{ op: "add", path: "/deleteOptions", value: { dryRun: ["All"] } }],
    ["patched eviction", "POST", `${at}/pods/r/eviction`, eviction("r")],
  ],
  [
    [{ op: "add", path: "/spec/nodeName", value: "x" }],
    [
      "patched status",
      "PATCH",
      `${at}/pods/r/status`,
      { status: { reason: "y" } },
      merge,
    ],
  ],
  [
    replaced({}),
    ["emptied", "POST", `${at}/configmaps`, { metadata: { name: "m" } }],
  ],
  [
    replaced({ metadata: { name: "m" } }),
    [
      "without its kind",
      "POST",
      `${at}/configmaps?dryRun=All`,
      { metadata: { name: "m" }, data: { a: "b" } },
    ],
  ],
  [
    replaced({ kind: "Secret", apiVersion: "v1", metadata: { name: "m" } }),
    [
      "another kind",
      "POST",
      `${at}/configmaps?dryRun=All`,
      { metadata: { name: "m" } },
    ],
  ],
  [
    replaced([]),
    ["a list", "POST", `${at}/configmaps`, { metadata: { name: "m" } }],
  ],
  [
    replaced("text"),
    [
      "text",
      "POST",
      `${at}/configmaps?dryRun=All`,
      { metadata: { name: "m" } },
    ],
  ],
  [
    replaced({}),
    [
      "an update emptied",
      "PATCH",
      `${at}/serviceaccounts/s`,
      { metadata: { labels } },
      merge,
    ],
  ],
  [
    [{ op: "remove", path: "/metadata" }],
    [
      "without metadata",
      "PATCH",
      `${at}/serviceaccounts/s`,
      { metadata: { labels } },
      merge,
    ],
  ],
];

export const admissionPlaces: Scenario = {
  name: "admission-places",
  async run({ namespace, call }) {
    let seen: unknown[] = [];
    let operations: unknown[] | undefined;
    const hook = await startHttpsServer((body, message) => {
      const review = JSON.parse(body) as Json;
      const { request } = review;
      const path = message.url!.split("?")[0];
      seen.push([path, withoutNulls(shown(request))]);
      const answer =
        operations && path === "/m" ? patch(operations) : { allowed: true };
      return {
        kind: "AdmissionReview",
        apiVersion: review.apiVersion,
        response: { uid: request.uid, ...answer },
      };
    });
    const at = `/api/v1/namespaces/${namespace}`;
    const silent = { silent: true };
    const webhook = (path: string): object => ({
      name: `places-${path.slice(1)}.example.com`,
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      clientConfig: { url: `${hook.url}${path}`, caBundle: hook.caBundle },
      matchConditions: [
        {
          name: "scenario",
          expression: `request.userInfo.username == 'admin' && request.kind.kind != 'Lease' && (!has(request.namespace) || request.namespace == '${namespace}')`,
        },
      ],
      rules: [
        {
          apiGroups: ["*"],
          apiVersions: ["v1"],
          operations: ["*"],
          resources: ["*/*"],
        },
      ],
    });
    const configurations = ["Mutating", "Validating"].map(
      (kind) => `${group}/${kind.toLowerCase()}webhookconfigurations`,
    );
    const ask = async (
      [label, method, path, body, headers]: Step,
      options: CallOptions = {},
    ): Promise<void> => {
      seen = [];
      await call(label, method, path, {
        ...(body ? { body } : {}),
        ...(headers ? { headers } : {}),
        lean: true,
        keep: (answer) => ({
          answer: outcome(answer),
          ...(operations
            ? {}
            : { seen: label.startsWith("deletion") ? distinct(seen) : seen }),
        }),
        ...options,
      });
    };
    const ready = async (): Promise<void> => {
      for (let tries = 0; tries < 100; tries++) {
        seen = [];
        await call("", "POST", `${at}/configmaps?dryRun=All`, {
          ...silent,
          body: { metadata: { name: "probe" } },
        });
        if (seen.length === 2) return;
        await new Promise((done) => setTimeout(done, 50));
      }
      throw new Error("the webhooks are not called");
    };
    try {
      for (const step of things(namespace, at)) await ask(step, silent);
      for (const [index, path] of configurations.entries())
        await call("", "POST", path, {
          ...silent,
          body: {
            metadata: { name: `places-${namespace}` },
            webhooks: [webhook(["/m", "/v"][index]!)],
          },
        });
      await ready();
      for (const step of places(namespace, at)) await ask(step);
      for (const [given, step] of changes(at)) {
        operations = given;
        await ask(step);
      }
    } finally {
      for (const path of configurations)
        await call("", "DELETE", `${path}/places-${namespace}`, silent);
      await call("", "DELETE", `/api/v1/nodes/n-${namespace}`, silent);
      await hook.close();
    }
  },
};

/** Objects of a collection may be deleted at the same time, and the reference asks again when it tries again. */
const distinct = (list: readonly unknown[]): unknown[] =>
  [...new Set(list.map((one) => JSON.stringify(one)))]
    .sort()
    .map((one) => JSON.parse(one) as unknown);

/** What the reference writes as null and Orbit leaves out. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as Record<string, Json>)
      .filter(([, inner]) => inner !== null)
      .map(([key, inner]) => [key, withoutNulls(inner)]),
  );
}

/** Of an object what it is, and what the steps change. */
function outcome(body: Json): unknown {
  if (body?.kind === "Status") {
    const { status, message, reason } = body;
    return status === "Failure" ? brief(body) : { status, message, reason };
  }
  const { kind, spec, status } = body ?? {};
  return {
    kind,
    name: body?.metadata?.name,
    ...(kind === "Scale" ? { spec, status } : {}),
    ...(kind === "TokenRequest" ? { seconds: spec?.expirationSeconds } : {}),
  };
}
