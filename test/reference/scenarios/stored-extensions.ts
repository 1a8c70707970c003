// Policies, bindings, webhook configurations and APIServices as they are kept: defaults, generation and owners of each way to
// write them, and of their status.
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

const merge = {
  headers: { "content-type": "application/merge-patch+json" },
  lean: true,
};
const apply = {
  headers: { "content-type": "application/apply-patch+yaml" },
  lean: true,
};
const admission = "admissionregistration.k8s.io/v1";

const rule = {
  apiGroups: ["apps"],
  apiVersions: ["v1"],
  operations: ["CREATE"],
  resources: ["deployments"],
};

interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly resource: string;
  readonly body: object;
  /** What a merge patch changes. */
  readonly change: object;
  /** A second applier's, that conflicts with the first one's. */
  readonly applied: object;
  readonly status?: object;
}

const kinds: readonly Kind[] = [
  {
    apiVersion: admission,
    kind: "ValidatingAdmissionPolicy",
    resource: "validatingadmissionpolicies",
    body: {
      spec: {
        matchConstraints: { resourceRules: [rule] },
        validations: [{ expression: "object.spec.replicas < 3" }],
        variables: [{ name: "a", expression: "1" }],
        auditAnnotations: [{ key: "k", valueExpression: "'v'" }],
        matchConditions: [{ name: "c", expression: "true" }],
      },
    },
    change: { spec: { failurePolicy: "Ignore" } },
    applied: {
      spec: {
        failurePolicy: "Fail",
        validations: [{ expression: "false", message: "no" }],
        variables: [{ name: "b", expression: "2" }],
      },
    },
    status: {
      observedGeneration: 1,
      typeChecking: {
        expressionWarnings: [{ fieldRef: "spec.x", warning: "w" }],
      },
      conditions: [
        {
          type: "A",
          status: "True",
          reason: "B",
          message: "",
          lastTransitionTime: "2024-01-01T00:00:00Z",
        },
      ],
    },
  },
  {
    apiVersion: admission,
    kind: "ValidatingAdmissionPolicyBinding",
    resource: "validatingadmissionpolicybindings",
    body: {
      spec: {
        policyName: "p",
        validationActions: ["Deny", "Audit"],
        paramRef: { name: "x", parameterNotFoundAction: "Allow" },
        matchResources: { resourceRules: [rule] },
      },
    },
    change: {
      spec: { paramRef: { name: null, selector: { matchLabels: { a: "b" } } } },
    },
    applied: { spec: { validationActions: ["Warn"], matchResources: {} } },
  },
  {
    apiVersion: admission,
    kind: "ValidatingWebhookConfiguration",
    resource: "validatingwebhookconfigurations",
    body: {
      webhooks: [
        {
          name: "a.example.com",
          rules: [rule],
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
          clientConfig: { service: { namespace: "n", name: "s" } },
          namespaceSelector: { matchLabels: { none: "such" } },
        },
      ],
    },
    change: { metadata: { labels: { a: "b" } } },
    applied: {
      webhooks: [{ name: "a.example.com", failurePolicy: "Ignore" }],
    },
  },
  {
    apiVersion: admission,
    kind: "MutatingWebhookConfiguration",
    resource: "mutatingwebhookconfigurations",
    body: {
      webhooks: [
        {
          name: "a.example.com",
          rules: [{ ...rule, scope: "Namespaced" }],
          sideEffects: "NoneOnDryRun",
          admissionReviewVersions: ["v1", "v1beta1"],
          clientConfig: { url: "https://127.0.0.1:1/x" },
          objectSelector: { matchLabels: { none: "such" } },
          matchConditions: [{ name: "c", expression: "false" }],
        },
      ],
    },
    change: { metadata: { annotations: { a: "b" } } },
    applied: {
      webhooks: [{ name: "a.example.com", reinvocationPolicy: "IfNeeded" }],
    },
  },
  {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    resource: "apiservices",
    body: {
      spec: {
        group: "stored.example.com",
        version: "v1",
        groupPriorityMinimum: 100,
        versionPriority: 100,
        service: { namespace: "ref-stored-extensions", name: "none" },
        insecureSkipTLSVerify: true,
      },
    },
    change: { spec: { versionPriority: 5 } },
    applied: { spec: { groupPriorityMinimum: 7 } },
    status: { conditions: [{ type: "Own", status: "Unknown" }] },
  },
];

/** Without what the server's own parts write of it, in their time. */
function ofClients(body: Json): Json {
  if (body?.spec?.groupPriorityMinimum === undefined) return body;
  const { managedFields = [], ...metadata } = body.metadata;
  const { conditions = [] } = body.status ?? {};
  return {
    ...body,
    metadata: {
      ...metadata,
      managedFields: managedFields.filter(
        ({ manager }: Json) => manager.startsWith("ref-") as boolean,
      ) as Json,
    },
    status: conditions.flatMap(({ type, status }: Json) =>
      type === "Available" ? [] : [[type, status]],
    ) as Json,
  };
}

export const storedExtensions: Scenario = {
  name: "stored-extensions",
  async run({ call }) {
    for (const { apiVersion, kind, resource, ...of } of kinds) {
      const collection = `/apis/${apiVersion}/${resource}`;
      const named = (part: object, name: string): object => ({
        apiVersion,
        kind,
        ...part,
        metadata: { name },
      });
      const nameOf = (name: string): string =>
        kind === "APIService" ? "v1.stored.example.com" : name;
      const name = nameOf("stored");
      const path = `${collection}/${name}`;
      const by = (manager: string): string => `?fieldManager=ref-${manager}`;
      const step = (
        label: string,
        method: string,
        at: string,
        options: object,
      ): Promise<unknown> =>
        call(`${kind}: ${label}`, method, at, { keep: ofClients, ...options });
      const body = named(of.body, name);
      await step("create", "POST", collection + by("c"), { body });
      await step("merge", "PATCH", path + by("m"), {
        ...merge,
        body: of.change,
      });
      await step("the same merge", "PATCH", path + by("n"), {
        ...merge,
        body: of.change,
      });
      const more = named(of.applied, name);
      // Its causes come in any order.
      await step("conflict", "PATCH", path + by("a"), {
        ...apply,
        body: more,
        keep: ({ message }: Json) => message as unknown,
      });
      const forced = `${path}${by("a")}&force=true`;
      await step("forced", "PATCH", forced, { ...apply, body: more });
      await step("applied less", "PATCH", path + by("a"), {
        ...apply,
        body: named({}, name),
      });
      const versioned = async (): Promise<object> => {
        const { body: now } = await call("", "GET", path, { silent: true });
        const { resourceVersion } = now.metadata;
        return { ...body, metadata: { name, resourceVersion } };
      };
      await step("put without a version", "PUT", path + by("p"), {
        lean: true,
        body,
      });
      await step("put", "PUT", path + by("p"), {
        lean: true,
        body: await versioned(),
      });
      for (const method of ["PUT", "PATCH"]) {
        await step(`status ${method}`, method, `${path}/status${by("s")}`, {
          ...(method === "PATCH" ? apply : { lean: true }),
          body: {
            ...body,
            metadata: {
              ...(method === "PUT"
                ? ((await versioned()) as Json).metadata
                : { name }),
              labels: { by: "status" },
              annotations: { by: "status" },
            },
            status: of.status ?? {},
          },
        });
      }
      await step("status in the object", "PATCH", path + by("x"), {
        ...merge,
        body: { status: { conditions: [] } },
      });
      await step(
        "list",
        "GET",
        `${collection}?fieldSelector=metadata.name=${name}`,
        {
          lean: true,
          keep: (list: Json) => list.items.map(ofClients) as Json,
        },
      );
      await step("row", "GET", path, {
        headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
        lean: true,
        keep: ({ columnDefinitions, rows }: Json) => [
          columnDefinitions.map((column: Json) => column.name as unknown),
          rows[0].cells.slice(0, -1) as unknown,
        ],
      });
      await step("delete", "DELETE", path, { lean: true });
      await step("apply makes it", "PATCH", path + by("a"), {
        ...apply,
        body,
      });
      await step("clean", "DELETE", path, { silent: true });
    }
  },
};
