// What admission webhooks are asked, and what comes of their answers. The scenario is the webhook: a server on loopback
// that both servers reach. It refuses each request with the review as the message, so that answers show what it was asked.
import { startHttpsServer } from "../../support/https-server.ts";
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

const group = "/apis/admissionregistration.k8s.io/v1";
const merge = { "content-type": "application/merge-patch+json" };

export const webhookCalls: Scenario = {
  name: "webhook-calls",
  async run({ namespace, call }) {
    let answer: (request: Json) => object = (request) => ({
      allowed: false,
      status: { message: JSON.stringify(shown(request)) },
    });
    const hook = await startHttpsServer((body) => {
      const review = JSON.parse(body) as Json;
      const { request } = review;
      return {
        kind: "AdmissionReview",
        apiVersion: review.apiVersion,
        response: { uid: request.uid, ...answer(request) },
      };
    });
    const at = `/api/v1/namespaces/${namespace}`;
    const maps = `${at}/configmaps`;
    const silent = { silent: true };
    const configuration = (kind: string): object => ({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: `${kind}WebhookConfiguration`,
      metadata: { name: `calls-${namespace}` },
      webhooks: [
        {
          name: "calls.example.com",
          admissionReviewVersions: ["v1"],
          sideEffects: "None",
          clientConfig: { url: `${hook.url}/`, caBundle: hook.caBundle },
          namespaceSelector: {
            matchLabels: { "kubernetes.io/metadata.name": namespace },
          },
          rules: [
            {
              apiGroups: ["", "apps", "policy"],
              apiVersions: ["v1"],
              operations: ["*"],
              resources: ["*/*"],
            },
            {
              apiGroups: ["autoscaling"],
              apiVersions: ["v1"],
              operations: ["*"],
              resources: ["*"],
            },
          ],
        },
      ],
    });
    /** The reference learns of configurations a moment later. */
    const until = async (denied: boolean): Promise<void> => {
      for (let tries = 0; tries < 100; tries++) {
        const probe = { metadata: { name: "probe" } };
        const { status } = await call("", "POST", `${maps}?dryRun=All`, {
          ...silent,
          body: probe,
        });
        if (status >= 400 === denied) return;
        await new Promise((done) => setTimeout(done, 50));
      }
    };
    try {
      for (const name of ["a", "b"])
        await call("", "POST", maps, {
          ...silent,
          body: { metadata: { name }, data: { a: "1" } },
        });
      const labels = { a: "b" };
      const template = {
        metadata: { labels },
        spec: { containers: [{ name: "c", image: "i" }] },
      };
      await call(
        "",
        "POST",
        `/apis/apps/v1/namespaces/${namespace}/replicasets`,
        {
          ...silent,
          body: {
            metadata: { name: "r" },
            spec: { replicas: 1, selector: { matchLabels: labels }, template },
          },
        },
      );
      await call("", "POST", `${at}/pods`, {
        ...silent,
        body: { metadata: { name: "p" }, spec: template.spec },
      });
      const validating = `${group}/validatingwebhookconfigurations`;
      await call("", "POST", validating, {
        ...silent,
        body: configuration("Validating"),
      });
      await until(true);
      await call("create", "POST", `${maps}?fieldManager=me`, {
        body: {
          metadata: { name: "c", annotations: { x: "y" } },
          data: { a: "1" },
        },
      });
      await call("create a name", "POST", maps, {
        body: { metadata: { generateName: "g-" } },
      });
      await call("dry run", "POST", `${maps}?dryRun=All`, {
        body: { metadata: { name: "c" } },
      });
      await call("update", "PUT", `${maps}/a`, {
        body: { metadata: { name: "a" }, data: { a: "2" } },
      });
      await call("patch", "PATCH", `${maps}/a`, {
        body: { data: { a: "3" } },
        headers: merge,
      });
      await call("apply", "PATCH", `${maps}/new?fieldManager=me`, {
        body: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new}",
        headers: { "content-type": "application/apply-patch+yaml" },
      });
      await call("delete", "DELETE", `${maps}/a?propagationPolicy=Background`);
      await call("status", "PATCH", `${at}/pods/p/status`, {
        body: { status: { message: "m" } },
        headers: merge,
      });
      await call(
        "scale",
        "PATCH",
        `/apis/apps/v1/namespaces/${namespace}/replicasets/r/scale`,
        { body: { spec: { replicas: 2 } }, headers: merge },
      );
      await call("eviction", "POST", `${at}/pods/p/eviction`, {
        body: {
          apiVersion: "policy/v1",
          kind: "Eviction",
          metadata: { name: "p" },
        },
      });
      await call(
        "exec",
        "GET",
        `${at}/pods/p/exec?command=a&command=b&stdin=true&container=c`,
      );
      await call("proxy", "GET", `${at}/pods/p:80/proxy/x?y=z`);
      await call(
        "another version",
        "POST",
        `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`,
        {
          body: {
            metadata: { name: "h" },
            spec: {
              maxReplicas: 2,
              scaleTargetRef: {
                kind: "Deployment",
                name: "d",
                apiVersion: "apps/v1",
              },
            },
          },
        },
      );
      await call("namespace", "PATCH", `/api/v1/namespaces/${namespace}`, {
        body: { metadata: { annotations: { a: "b" } } },
        headers: merge,
      });
      for (const [label, status] of [
        ["without explanation", undefined],
        [
          "reason and code",
          {
            reason: "Conflict",
            code: 409,
            details: { name: "x", causes: [{ message: "m", field: "f" }] },
          },
        ],
        ["success", { status: "Success", code: 200, message: "hm" }],
      ] as const) {
        answer = () => ({
          allowed: false,
          warnings: ["careful", ""],
          ...(status ? { status } : {}),
        });
        await call(`refused: ${label}`, "POST", maps, {
          body: { metadata: { name: "c" } },
        });
      }
      answer = () => ({ allowed: true });
      await call("", "DELETE", `${validating}/calls-${namespace}`, silent);
      answer = () => patch([{ op: "frob" }]);
      const mutating = `${group}/mutatingwebhookconfigurations`;
      await call("", "POST", mutating, {
        ...silent,
        body: configuration("Mutating"),
      });
      await until(true);
      let count = 0;
      for (const [label, operations] of Object.entries(patches)) {
        answer = () => patch(operations);
        await call(`patch: ${label}`, "POST", maps, {
          body: { metadata: { name: `m${count++}` }, data: { a: "1" } },
        });
      }
      answer = () =>
        patch([{ op: "replace", path: "/metadata/name", value: "x" }]);
      await call("renamed", "PATCH", `${maps}/b`, {
        body: { data: { a: "2" } },
        headers: merge,
      });
      await call("deleted with a patch", "DELETE", `${maps}/b`);
      await call("", "DELETE", `${mutating}/calls-${namespace}`, silent);
    } finally {
      await hook.close();
    }
  },
};

const patches: Record<string, unknown[]> = {
  data: [{ op: "add", path: "/data/x", value: "y" }],
  nothing: [],
  "no such key": [{ op: "remove", path: "/data/z" }],
  "no parent": [{ op: "add", path: "/x/y/z", value: 1 }],
  "failing test": [{ op: "test", path: "/data/a", value: "2" }],
  "no operation": [{ op: "frob", path: "/data/a" }],
  "wrong type": [{ op: "add", path: "/data/x", value: 5 }],
  "unknown field": [{ op: "add", path: "/frob", value: { a: 1 } }],
  namespace: [{ op: "replace", path: "/metadata/namespace", value: "default" }],
  version: [{ op: "add", path: "/metadata/resourceVersion", value: "7" }],
  "invalid label": [
    { op: "add", path: "/metadata/labels", value: { "a b": "c" } },
  ],
  owners: [
    {
      op: "replace",
      path: "/metadata/managedFields",
      value: [{ manager: "x", operation: "Frob" }],
    },
  ],
};

export function patch(operations: unknown[]): object {
  return {
    allowed: true,
    patchType: "JSONPatch",
    patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
  };
}

/** Without what differs between two runs; keys in order. */
export function shown(value: Json, key = ""): Json {
  if (Array.isArray(value)) return value.map((item: Json) => shown(item));
  if (typeof value !== "object" || value === null)
    return key === "name" && /^g-.{5}$/.test(String(value)) ? "g-" : value;
  const left = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "managedFields",
    "template",
    "conditions",
  ];
  return Object.fromEntries(
    Object.keys(value as object)
      .filter((name) => !left.includes(name) && value[name] !== "0s")
      .sort()
      .map((name) => [name, shown(value[name], name)]),
  );
}
