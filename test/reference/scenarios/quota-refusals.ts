// What quotas refuse, and how: each kind of amount and scope, in a namespace of its own.
import { brief } from "../cases.ts";
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

const container = (requests: object = {}, limits: object = {}): object => ({
  name: "c",
  image: "i",
  resources: { requests, limits },
});
const pod = (
  requests?: object,
  limits?: object,
  spec: object = {},
): object => ({
  spec: { containers: [container(requests, limits)], ...spec },
});
const service = (type: string, ports: number, more: object = {}): object => ({
  spec: {
    type,
    ports: Array.from({ length: ports }, (_, index) => ({
      name: `p${index}`,
      port: index + 1,
    })),
    ...more,
  },
});
const claim = (storage: string, storageClassName: string): object => ({
  spec: {
    accessModes: ["ReadWriteOnce"],
    storageClassName,
    resources: { requests: { storage } },
  },
});
const labels = { a: "b" };
const template = {
  metadata: { labels },
  spec: { containers: [container()] },
};
const affinity = (namespaces?: string[]): object => ({
  affinity: {
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        {
          topologyKey: "t",
          labelSelector: {},
          ...(namespaces ? { namespaces } : {}),
        },
      ],
    },
  },
});
const scope = (scopeName: string, operator = "Exists", values?: string[]) => ({
  scopeSelector: {
    matchExpressions: [{ scopeName, operator, ...(values ? { values } : {}) }],
  },
});

interface Case {
  readonly hard: Readonly<Record<string, string>>;
  readonly scopes?: object;
  /** What to create, by a label; the first is refused. */
  readonly made: Readonly<Record<string, readonly [resource: string, object]>>;
}

const cases: Readonly<Record<string, Case>> = {
  pods: {
    hard: {
      pods: "0",
      cpu: "1",
      "requests.memory": "1Gi",
      "limits.cpu": "2",
      "limits.memory": "2Gi",
      "requests.ephemeral-storage": "1Gi",
    },
    made: {
      "says nothing": ["pods", pod()],
      "says a part": ["pods", pod({ cpu: "1" }, { cpu: "1" })],
      "one more": [
        "pods",
        pod({ cpu: "1m", memory: "1" }, { cpu: "1", memory: "1" }),
      ],
      "too much of all": [
        "pods",
        pod(
          { cpu: "1500m", memory: "1.5Gi", "ephemeral-storage": "2G" },
          { cpu: "2001m", memory: "3Gi", "ephemeral-storage": "3G" },
        ),
      ],
      "with others before": [
        "pods",
        pod(
          { cpu: "1", memory: "1" },
          { cpu: "1", memory: "1" },
          {
            initContainers: [
              { ...container({ memory: "2Gi" }), name: "i" },
              { ...container({ cpu: "2" }, { memory: "3Gi" }), name: "j" },
            ],
          },
        ),
      ],
    },
  },
  "what fits": {
    hard: { cpu: "1", memory: "1Gi" },
    made: {
      "too much": ["pods", pod({ cpu: "1001m", memory: "1Gi" })],
      all: ["pods", pod({ cpu: "1000m", memory: "1024Mi" })],
      "too much of one": ["pods", pod({ cpu: "1", memory: "1073741825" })],
    },
  },
  "other amounts": {
    hard: {
      "requests.example.com/gpu": "1",
      "requests.hugepages-2Mi": "2Mi",
      "hugepages-1Gi": "0",
    },
    made: {
      devices: ["pods", pod({}, { "example.com/gpu": "2" })],
      "as many": ["pods", pod({}, { "example.com/gpu": "1" })],
      "large pages": [
        "pods",
        pod({ cpu: "1" }, { "hugepages-2Mi": "4Mi", memory: "1Mi" }),
      ],
      "larger pages": [
        "pods",
        pod({ cpu: "1" }, { "hugepages-1Gi": "1Gi", memory: "1Mi" }),
      ],
    },
  },
  services: {
    hard: {
      services: "0",
      "services.nodeports": "1",
      "services.loadbalancers": "0",
    },
    made: {
      any: ["services", service("ClusterIP", 1)],
      ports: ["services", service("NodePort", 2)],
      balancer: ["services", service("LoadBalancer", 2)],
      "balancer without ports": [
        "services",
        service("LoadBalancer", 2, { allocateLoadBalancerNodePorts: false }),
      ],
    },
  },
  claims: {
    hard: {
      "requests.storage": "1Gi",
      "gold.storageclass.storage.k8s.io/requests.storage": "500Mi",
      "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "0",
    },
    made: {
      large: ["persistentvolumeclaims", claim("2Gi", "tin")],
      "of gold": ["persistentvolumeclaims", claim("600Mi", "gold")],
      small: ["persistentvolumeclaims", claim("600Mi", "tin")],
    },
  },
  counts: {
    hard: {
      configmaps: "0",
      "count/configmaps": "0",
      secrets: "0",
      replicationcontrollers: "0",
      "count/deployments.apps": "0",
      "count/jobs.batch": "0",
      "count/serviceaccounts": "0",
      "count/events": "0",
      "count/events.events.k8s.io": "0",
    },
    made: {
      map: ["configmaps", {}],
      secret: ["secrets", {}],
      controller: [
        "replicationcontrollers",
        { spec: { selector: labels, template } },
      ],
      deployment: [
        "deployments",
        { spec: { selector: { matchLabels: labels }, template } },
      ],
      job: [
        "jobs",
        {
          spec: {
            template: {
              spec: { ...template.spec, restartPolicy: "Never" },
            },
          },
        },
      ],
      account: ["serviceaccounts", {}],
      event: ["events", { involvedObject: { namespace: "NS" } }],
      lease: ["leases", {}],
    },
  },
  terminating: {
    hard: { pods: "0" },
    scopes: { scopes: ["Terminating"] },
    made: {
      ends: ["pods", pod({}, {}, { activeDeadlineSeconds: 5 })],
      stays: ["pods", pod()],
    },
  },
  "best effort": {
    hard: { pods: "0" },
    scopes: { scopes: ["BestEffort"] },
    made: {
      "asks nothing": ["pods", pod()],
      asks: ["pods", pod({ cpu: "1" })],
    },
  },
  "not best effort": {
    hard: { pods: "0", "requests.cpu": "1" },
    scopes: { scopes: ["NotBestEffort"] },
    made: {
      asks: ["pods", pod({ cpu: "1" })],
      "asks for other things": ["pods", pod({ memory: "1" })],
      "asks nothing": ["pods", pod()],
    },
  },
  priority: {
    hard: { pods: "0" },
    scopes: scope("PriorityClass", "In", ["system-node-critical"]),
    made: {
      "of the class": [
        "pods",
        pod({}, {}, { priorityClassName: "system-node-critical" }),
      ],
      "of another": [
        "pods",
        pod({}, {}, { priorityClassName: "system-cluster-critical" }),
      ],
      "of none": ["pods", pod()],
    },
  },
  affinity: {
    hard: { pods: "0" },
    scopes: scope("CrossNamespacePodAffinity"),
    made: {
      across: ["pods", pod({}, {}, affinity(["x"]))],
      within: ["pods", pod({}, {}, affinity())],
    },
  },
};

const groups: Readonly<Record<string, string>> = {
  deployments: "/apis/apps/v1",
  jobs: "/apis/batch/v1",
  leases: "/apis/coordination.k8s.io/v1",
};
const short = (body: Json): unknown =>
  body?.kind === "Status" ? brief(body) : (body.kind as unknown);

export const quotaRefusals: Scenario = {
  name: "quota-refusals",
  async run({ call, namespace }) {
    let made = 0;
    for (const [title, { hard, scopes = {}, made: tries }] of Object.entries(
      cases,
    )) {
      const own = `${namespace}-${++made}`;
      await call("", "POST", "/api/v1/namespaces", {
        body: { metadata: { name: own } },
        silent: true,
      });
      const quotas = `/api/v1/namespaces/${own}/resourcequotas`;
      await call(`${title}: quota`, "POST", quotas, {
        body: { metadata: { name: "q" }, spec: { hard, ...scopes } },
        lean: true,
        keep: short,
      });
      // Nobody counts here.
      await call("", "PATCH", `${quotas}/q/status`, {
        body: {
          status: {
            hard,
            used: Object.fromEntries(
              Object.keys(hard).map((key) => [key, "0"]),
            ),
          },
        },
        headers: { "content-type": "application/merge-patch+json" },
        silent: true,
      });
      let first = true;
      for (const [what, [resource, object]] of Object.entries(tries)) {
        const root = groups[resource] ?? "/api/v1";
        const known = first;
        await call(
          `${title}: ${what}`,
          "POST",
          `${root}/namespaces/${own}/${resource}?dryRun=All`,
          {
            body: JSON.parse(
              JSON.stringify({ ...object, metadata: { name: "x" } }).replace(
                "NS",
                own,
              ),
            ) as object,
            lean: true,
            keep: short,
            // The server hears of the quota in its time, and then of its status.
            ...(known
              ? {
                  until: ({ status, text }) =>
                    status === 403 && !text.includes("status unknown"),
                }
              : {}),
          },
        );
        first = false;
      }
    }
  },
};
