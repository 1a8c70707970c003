// The smaller kinds of the core group: what each takes, refuses, defaults, and lets an update change.
import { createEach, plain, updateEach, type Changes } from "../cases.ts";
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

interface Kind {
  resource: string;
  /** In the scenario's namespace. */
  namespaced?: boolean;
  base: Json;
  creates: Changes[];
  updates?: Changes[];
  statuses?: Changes[];
}

const b64 = (text: string): string => Buffer.from(text).toString("base64");
const template = {
  metadata: { labels: { a: "b" } },
  spec: { containers: [{ name: "c", image: "i" }] },
};

const kinds: Record<string, Kind> = {
  "config map": {
    resource: "configmaps",
    namespaced: true,
    base: {
      metadata: { name: "x" },
      data: { k: "v" },
      binaryData: { b: b64("x") },
    },
    creates: [
      { data: { "a b": "v" } },
      { data: { "": "v" } },
      { data: { ".": "v" } },
      { data: { "..": "v" } },
      { data: { "..a": "v" } },
      { data: { [`a${"b".repeat(253)}`]: "v" } },
      { data: { b: "v" } },
      { data: { k: 1 } },
      { data: { k: null } },
      { data: [] },
      { binaryData: { k2: "!!" } },
      { binaryData: { "a b": "" } },
      { data: { k: "x".repeat(1024 * 1024 + 1) } },
      { immutable: true },
      { immutable: "yes" },
      { data: undefined, binaryData: undefined },
    ],
    updates: [{ "data.k": "w" }, { immutable: true }, { data: undefined }],
  },
  "immutable config map": {
    resource: "configmaps",
    namespaced: true,
    base: {
      metadata: { name: "y" },
      immutable: true,
      data: { k: "v" },
      binaryData: { b: b64("x") },
    },
    creates: [],
    updates: [
      { "data.k": "w" },
      { "data.l": "w" },
      { immutable: false },
      { immutable: undefined },
      { binaryData: {} },
      { "metadata.labels": { a: "b" } },
      { "data.k": "w", immutable: false, binaryData: {} },
    ],
  },
  secret: {
    resource: "secrets",
    namespaced: true,
    base: { metadata: { name: "x" }, data: { k: b64("v") } },
    creates: [
      { stringData: { k: "w", l: "x" } },
      { data: { k: "not base64!" } },
      { data: { "a b": "" } },
      { stringData: { "a b": "x" } },
      { data: { k: "x".repeat(1398104) } },
      { type: "" },
      { type: "my/type" },
      { type: "kubernetes.io/tls" },
      { type: "kubernetes.io/tls", data: { "tls.crt": "", "tls.key": "" } },
      { type: "kubernetes.io/basic-auth" },
      { type: "kubernetes.io/basic-auth", data: { username: "" } },
      { type: "kubernetes.io/ssh-auth" },
      { type: "kubernetes.io/dockercfg" },
      { type: "kubernetes.io/dockercfg", data: { ".dockercfg": b64("x") } },
      { type: "kubernetes.io/dockercfg", data: { ".dockercfg": b64("{}") } },
      { type: "kubernetes.io/dockerconfigjson" },
      {
        type: "kubernetes.io/dockerconfigjson",
        data: { ".dockerconfigjson": b64("{") },
      },
      {
        type: "kubernetes.io/dockerconfigjson",
        stringData: { ".dockerconfigjson": "{}" },
      },
      { type: "kubernetes.io/service-account-token" },
      {
        type: "kubernetes.io/service-account-token",
        "metadata.annotations": {
          "kubernetes.io/service-account.name": "none",
        },
      },
      { type: "bootstrap.kubernetes.io/token" },
      { immutable: true },
    ],
    updates: [
      { "data.k": b64("w") },
      { type: "other" },
      { type: "" },
      { type: undefined },
      { stringData: { k: "z" } },
      { immutable: true },
    ],
  },
  "immutable secret": {
    resource: "secrets",
    namespaced: true,
    base: { metadata: { name: "y" }, immutable: true, data: { k: b64("v") } },
    creates: [],
    updates: [
      { "data.k": b64("w") },
      { immutable: false },
      { immutable: false, "data.k": b64("w"), type: "x" },
      { "metadata.labels": { a: "b" } },
    ],
  },
  "service account": {
    resource: "serviceaccounts",
    namespaced: true,
    base: { metadata: { name: "x" } },
    creates: [
      { "metadata.name": "A_" },
      { secrets: [{ name: "a" }, {}] },
      { imagePullSecrets: [{}, { name: "A_" }] },
      { automountServiceAccountToken: false },
      { secrets: "x" },
    ],
    updates: [
      { automountServiceAccountToken: true },
      { secrets: [{ name: "q" }] },
    ],
  },
  "limit range": {
    resource: "limitranges",
    namespaced: true,
    base: {
      metadata: { name: "x" },
      spec: { limits: [{ type: "Container", max: { cpu: "2" } }] },
    },
    creates: [
      { spec: undefined },
      { "spec.limits": [] },
      { "spec.limits": [{}] },
      { "spec.limits": [{ type: "Odd", max: { cpu: "1" } }] },
      { "spec.limits": [{ type: "example.com/Odd", max: { cpu: "1" } }] },
      {
        "spec.limits": [
          { type: "Pod", max: { cpu: "1" } },
          { type: "Pod", max: { cpu: "1" } },
        ],
      },
      { "spec.limits": [{ type: "Pod", default: { cpu: "1" } }] },
      { "spec.limits": [{ type: "Pod", defaultRequest: { cpu: "1" } }] },
      {
        "spec.limits": [
          { type: "Container", min: { cpu: "2" }, max: { cpu: "1" } },
        ],
      },
      {
        "spec.limits": [
          { type: "Container", default: { cpu: "2" }, max: { cpu: "1" } },
        ],
      },
      {
        "spec.limits": [
          {
            type: "Container",
            defaultRequest: { cpu: "2" },
            max: { cpu: "1" },
          },
        ],
      },
      {
        "spec.limits": [
          {
            type: "Container",
            defaultRequest: { cpu: "1" },
            min: { cpu: "2" },
          },
        ],
      },
      {
        "spec.limits": [
          { type: "Container", default: { cpu: "1" }, min: { cpu: "2" } },
        ],
      },
      {
        "spec.limits": [
          {
            type: "Container",
            default: { cpu: "1" },
            defaultRequest: { cpu: "2" },
          },
        ],
      },
      {
        "spec.limits": [
          { type: "Container", maxLimitRequestRatio: { cpu: "0.5" } },
        ],
      },
      {
        "spec.limits": [
          {
            type: "Container",
            maxLimitRequestRatio: { cpu: "3" },
            min: { cpu: "1" },
            max: { cpu: "2" },
          },
        ],
      },
      {
        "spec.limits": [
          {
            type: "Container",
            max: { "example.com/x": "2" },
            default: { "example.com/x": "1" },
          },
        ],
      },
      { "spec.limits": [{ type: "Container", max: { disk: "2" } }] },
      { "spec.limits": [{ type: "Container", max: { "a b": "2" } }] },
      { "spec.limits": [{ type: "PersistentVolumeClaim" }] },
      {
        "spec.limits": [
          { type: "PersistentVolumeClaim", max: { storage: "1Gi" } },
        ],
      },
      { "spec.limits": [{ type: "Container", min: { cpu: "1" } }] },
      { "spec.limits": [{ type: "Container", default: { cpu: "1" } }] },
    ],
    updates: [
      { "spec.limits": [] },
      {
        "spec.limits": [
          { type: "Container", min: { cpu: "3" }, max: { cpu: "1" } },
        ],
      },
    ],
  },
  "resource quota": {
    resource: "resourcequotas",
    namespaced: true,
    base: { metadata: { name: "x" }, spec: { hard: { services: "100" } } },
    creates: [
      { spec: undefined },
      { "spec.hard": {} },
      { "spec.hard": { pods: "-1" } },
      { "spec.hard": { pods: "1.5" } },
      { "spec.hard": { disk: "1" } },
      { "spec.hard": { "a b": "1" } },
      { "spec.hard": { "example.com/x": "1" } },
      { "spec.hard": { "requests.example.com/x": "1" } },
      { "spec.hard": { "limits.example.com/x": "1" } },
      { "spec.hard": { "count/deployments.apps": "1" } },
      {
        "spec.hard": {
          "gold.storageclass.storage.k8s.io/requests.storage": "1Gi",
        },
      },
      { "spec.hard": { "hugepages-2Mi": "2Mi" } },
      {
        "spec.hard": { cpu: "1", "requests.cpu": "1", "limits.memory": "1Gi" },
      },
      { "spec.scopes": ["Odd"] },
      {
        "spec.scopes": ["Terminating", "NotTerminating"],
        "spec.hard": { pods: "1" },
      },
      {
        "spec.scopes": ["BestEffort", "NotBestEffort"],
        "spec.hard": { pods: "1" },
      },
      { "spec.scopes": ["BestEffort"] },
      { "spec.scopes": ["BestEffort"], "spec.hard": { pods: "1", cpu: "1" } },
      { "spec.scopes": ["Terminating"], "spec.hard": { pods: "1", cpu: "1" } },
      {
        "spec.scopes": ["Terminating", "Terminating"],
        "spec.hard": { pods: "1" },
      },
      {
        "spec.scopeSelector": {
          matchExpressions: [{ scopeName: "PriorityClass", operator: "In" }],
        },
        "spec.hard": { pods: "1" },
      },
      {
        "spec.scopeSelector": {
          matchExpressions: [
            { scopeName: "PriorityClass", operator: "Exists", values: ["a"] },
          ],
        },
        "spec.hard": { pods: "1" },
      },
      {
        "spec.scopeSelector": {
          matchExpressions: [
            { scopeName: "PriorityClass", operator: "In", values: ["a"] },
          ],
        },
        "spec.hard": { pods: "1" },
      },
      {
        "spec.scopeSelector": {
          matchExpressions: [
            { scopeName: "BestEffort", operator: "In", values: ["a"] },
          ],
        },
        "spec.hard": { pods: "1" },
      },
      {
        "spec.scopeSelector": {
          matchExpressions: [{ scopeName: "Odd", operator: "Is" }],
        },
        "spec.hard": { pods: "1" },
      },
      { status: { hard: { pods: "1" } } },
    ],
    updates: [
      { "spec.hard": { services: "5" } },
      { "spec.scopes": ["BestEffort"], "spec.hard": { pods: "1" } },
      { "spec.hard": { services: "-5" } },
      { status: { hard: { pods: "1" } } },
    ],
    statuses: [
      { status: { hard: { pods: "1" }, used: { pods: "0" } } },
      { status: { hard: { pods: "-1" } } },
      { status: { used: { pods: "1.5" } } },
      { status: { hard: { disk: "1" } } },
      { "spec.hard": { services: "5" } },
    ],
  },
  "replication controller": {
    resource: "replicationcontrollers",
    namespaced: true,
    base: {
      metadata: { name: "x" },
      spec: { replicas: 0, selector: { a: "b" }, template },
    },
    creates: [
      { spec: undefined },
      { "spec.selector": undefined },
      { "spec.selector": {} },
      { "spec.selector": { a: "c" } },
      { "spec.selector": { "a b": "c d" } },
      { "spec.template": undefined },
      { "spec.template": {} },
      { "spec.template.metadata": undefined },
      { "spec.template.spec.restartPolicy": "Never" },
      { "spec.template.spec.activeDeadlineSeconds": 5 },
      { "spec.replicas": -1 },
      { "spec.replicas": undefined },
      { "spec.minReadySeconds": -1 },
      { "metadata.name": "a.b" },
      { "metadata.labels": { z: "y" } },
      { "spec.template.spec.ephemeralContainers": [{ name: "e", image: "i" }] },
      {
        "spec.template.spec.hostNetwork": true,
        "spec.template.spec.containers.0.ports": [
          { containerPort: 80, hostPort: 81 },
        ],
      },
      { "spec.template.spec.terminationGracePeriodSeconds": -1 },
      { "spec.template.spec.nodeSelector": { "beta.kubernetes.io/os": "x" } },
      { status: { replicas: 5 } },
    ],
    updates: [
      { "spec.replicas": 2 },
      { "spec.selector": { a: "c" } },
      {
        "spec.selector": { a: "c" },
        "spec.template.metadata.labels": { a: "c" },
      },
      { "spec.template.spec.containers.0.image": "j" },
      { status: { replicas: 5 } },
      { "spec.replicas": -2 },
    ],
    statuses: [
      { "status.replicas": 3 },
      { "status.replicas": -1 },
      { status: { replicas: 1, readyReplicas: 2 } },
      { status: { replicas: 2, readyReplicas: 1, availableReplicas: 2 } },
      { "spec.replicas": 7 },
      { "status.observedGeneration": -1 },
      { "status.fullyLabeledReplicas": 3 },
    ],
  },
  "pod template": {
    resource: "podtemplates",
    namespaced: true,
    base: { metadata: { name: "x" }, template },
    creates: [
      { template: undefined },
      { "template.spec": undefined },
      { "template.spec.containers": [] },
      { "template.metadata.labels": { "a b": "c" } },
      { "template.spec.restartPolicy": "x" },
      { "metadata.name": "A_" },
    ],
    updates: [
      { "template.spec.containers.0.image": "j" },
      { "template.spec.containers": [] },
    ],
  },
  endpoints: {
    resource: "endpoints",
    namespaced: true,
    base: {
      metadata: { name: "x" },
      subsets: [{ addresses: [{ ip: "1.2.3.4" }], ports: [{ port: 80 }] }],
    },
    creates: [
      { subsets: undefined },
      { subsets: [] },
      { subsets: [{}] },
      { "subsets.0.addresses": [] },
      { "subsets.0.ports": [] },
      { "subsets.0.addresses.0.ip": "x" },
      { "subsets.0.addresses.0.ip": "" },
      { "subsets.0.addresses.0.ip": "127.0.0.1" },
      { "subsets.0.addresses.0.ip": "0.0.0.0" },
      { "subsets.0.addresses.0.ip": "169.254.0.1" },
      { "subsets.0.addresses.0.ip": "224.0.0.1" },
      { "subsets.0.addresses.0.ip": "fd00:0::1" },
      { "subsets.0.addresses.0.hostname": "A_" },
      { "subsets.0.addresses.0.nodeName": "A_" },
      { "subsets.0.addresses.0.targetRef": { kind: "Pod", name: "p" } },
      { "subsets.0.notReadyAddresses": [{ ip: "x" }] },
      { "subsets.0.ports.0.port": 0 },
      { "subsets.0.ports.0.port": 70000 },
      { "subsets.0.ports.0.name": "A_" },
      { "subsets.0.ports.0.protocol": "ICMP" },
      { "subsets.0.ports.0.appProtocol": "a b" },
      { "subsets.0.ports.1": { port: 81 } },
      {
        "subsets.0.ports.0.name": "a",
        "subsets.0.ports.1": { port: 81, name: "a" },
      },
      { "metadata.name": "A_" },
      {
        "metadata.annotations": {
          "endpoints.kubernetes.io/over-capacity": "truncated",
        },
      },
    ],
    updates: [
      { "subsets.0.addresses.0.ip": "1.2.3.5" },
      { "subsets.0.addresses.0.nodeName": "n" },
      { "subsets.0.addresses.0.ip": "x" },
    ],
  },
  event: {
    resource: "events",
    namespaced: true,
    base: {
      metadata: { name: "x" },
      involvedObject: { kind: "Pod", name: "p", namespace: "ref-core-kinds" },
      reason: "R",
      message: "m",
      type: "Normal",
    },
    creates: [
      { involvedObject: undefined },
      { "involvedObject.namespace": "other" },
      { "involvedObject.namespace": "" },
      { "involvedObject.kind": "Node", "involvedObject.namespace": "" },
      { "involvedObject.kind": "Odd", "involvedObject.apiVersion": "x/v1" },
      { type: "Odd" },
      { reason: "r".repeat(200) },
      { message: "m".repeat(2000) },
      { eventTime: "2024-01-01T00:00:00.000000Z" },
      {
        eventTime: "2024-01-01T00:00:00.000000Z",
        reportingComponent: "a.b/c",
        reportingInstance: "i",
        action: "A",
      },
      {
        eventTime: "2024-01-01T00:00:00.000000Z",
        reportingComponent: "a b",
        reportingInstance: "i".repeat(129),
        action: "A".repeat(129),
        type: "Odd",
        reason: "",
      },
      {
        firstTimestamp: "2024-01-01T00:00:00Z",
        count: 3,
        source: { component: "c" },
      },
      { series: { count: 2, lastObservedTime: "2024-01-01T00:00:00.000000Z" } },
      { series: { count: 0 } },
    ],
    updates: [
      { count: 5 },
      { message: "n" },
      { "involvedObject.name": "q" },
      { type: "Odd" },
    ],
  },
  namespace: {
    resource: "namespaces",
    base: { metadata: { name: "ref-core-kinds-ns" } },
    creates: [
      { "metadata.name": "A" },
      { "metadata.name": "a.b" },
      { "metadata.name": "a".repeat(64) },
      { "metadata.labels": { "pod-security.kubernetes.io/enforce": "odd" } },
      {
        "metadata.labels": {
          "pod-security.kubernetes.io/enforce": "baseline",
          "pod-security.kubernetes.io/enforce-version": "v9",
        },
      },
      {
        "metadata.labels": {
          "pod-security.kubernetes.io/warn": "restricted",
          "pod-security.kubernetes.io/audit-version": "v1.20",
        },
      },
      { "metadata.labels": { "kubernetes.io/metadata.name": "other" } },
      { "spec.finalizers": ["a.b/c"] },
      { "spec.finalizers": ["abc"] },
      { status: { phase: "Terminating" } },
    ],
    updates: [
      { "metadata.labels": { a: "b" } },
      { "metadata.labels": undefined },
      { "spec.finalizers": [] },
      { status: { phase: "Terminating" } },
      { "metadata.labels": { "pod-security.kubernetes.io/enforce": "odd" } },
    ],
    statuses: [
      { "status.phase": "Odd" },
      { "status.phase": "Terminating" },
      { "status.conditions": [{ type: "x", status: "y" }] },
      { "spec.finalizers": [] },
    ],
  },
  node: {
    resource: "nodes",
    base: { metadata: { name: "ref-core-kinds-node" } },
    creates: [
      { "metadata.name": "A_" },
      { spec: { podCIDR: "x" } },
      { spec: { podCIDR: "10.0.0.0/24" } },
      { spec: { podCIDRs: ["10.0.0.0/24", "10.0.1.0/24"] } },
      { spec: { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.1.0/24"] } },
      { spec: { podCIDRs: ["10.0.0.0/24", "fd00::/64", "fd01::/64"] } },
      { spec: { taints: [{}] } },
      { spec: { taints: [{ key: "a b", value: "c d", effect: "Odd" }] } },
      {
        spec: {
          taints: [
            { key: "a", effect: "NoSchedule" },
            { key: "a", effect: "NoSchedule" },
          ],
        },
      },
      {
        spec: {
          taints: [
            { key: "a", effect: "NoSchedule" },
            { key: "a", effect: "NoExecute" },
          ],
        },
      },
      { spec: { unschedulable: true, providerID: "p" } },
      { spec: { externalID: "e" } },
      {
        spec: {
          configSource: {
            configMap: { name: "a", namespace: "b", kubeletConfigKey: "k" },
          },
        },
      },
      { "metadata.labels": { "beta.kubernetes.io/os": "linux", "a b": "c" } },
      { status: { capacity: { cpu: "-1" } } },
      { status: { capacity: { "example.com/x": "1.5", cpu: "1" } } },
      {
        status: {
          addresses: [
            { type: "InternalIP", address: "1.2.3.4" },
            { type: "InternalIP", address: "1.2.3.4" },
          ],
        },
      },
      { status: { daemonEndpoints: { kubeletEndpoint: { Port: 70000 } } } },
    ],
    updates: [
      { spec: { podCIDR: "10.0.0.0/24" } },
      { spec: { providerID: "p" } },
      { spec: { unschedulable: true } },
      { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } },
      { spec: { taints: [{}] } },
      { "metadata.labels": { a: "b" } },
      { status: { phase: "Running" } },
    ],
    statuses: [
      { status: { capacity: { cpu: "1", memory: "1Gi", pods: "10" } } },
      { status: { capacity: { cpu: "-1" } } },
      { status: { capacity: { "a b": "1" } } },
      { status: { conditions: [{ type: "Ready", status: "True" }] } },
      { status: { images: [{ names: [] }] } },
      { "spec.unschedulable": true },
      { "metadata.labels": { z: "z" } },
    ],
  },
};

export const coreKinds: Scenario = {
  name: "core-kinds",
  async run(server) {
    const { call, namespace } = server;
    for (const [title, kind] of Object.entries(kinds)) {
      const all = kind.namespaced
        ? `/api/v1/namespaces/${namespace}/${kind.resource}`
        : `/api/v1/${kind.resource}`;
      await createEach(server, title, all, kind.base, kind.creates);
      if (kind.updates)
        await updateEach(server, title, all, kind.base, kind.updates);
      if (kind.statuses)
        await updateEach(
          server,
          title,
          all,
          kind.base,
          kind.statuses,
          "status",
        );
      await call(
        `${title} as stored`,
        "GET",
        `${all}/${kind.base.metadata.name}`,
        plain,
      );
    }
    const ns = "/api/v1/namespaces/ref-core-kinds-ns";
    await call("finalize with another name", "PUT", `${ns}/finalize`, {
      body: { metadata: { name: "x" }, spec: {} },
      ...plain,
    });
    await call("delete a namespace", "DELETE", ns, plain);
    await call("delete it again", "DELETE", ns, plain);
    await call("create in it", "POST", `${ns}/configmaps`, {
      body: { metadata: { name: "a" } },
      ...plain,
    });
    await call(
      "create in none",
      "POST",
      "/api/v1/namespaces/ref-none/configmaps",
      { body: { metadata: { name: "a" } }, ...plain },
    );
    await call("finalize", "PUT", `${ns}/finalize`, {
      body: {
        metadata: { name: "ref-core-kinds-ns" },
        spec: { finalizers: [] },
      },
      ...plain,
    });
    await call("gone", "GET", ns, plain);
    await call("delete default", "DELETE", "/api/v1/namespaces/default", plain);
    await call(
      "delete several namespaces",
      "DELETE",
      "/api/v1/namespaces",
      plain,
    );
    const scale = `/api/v1/namespaces/${namespace}/replicationcontrollers/x/scale`;
    await call("scale", "GET", scale, plain);
    await call("scale up", "PUT", scale, {
      body: { metadata: { name: "x", namespace }, spec: { replicas: 3 } },
      ...plain,
    });
    await call("scale below zero", "PUT", scale, {
      body: { metadata: { name: "x", namespace }, spec: { replicas: -3 } },
      ...plain,
    });
    await call("component statuses", "POST", "/api/v1/componentstatuses", {
      body: { metadata: { name: "x" } },
      ...plain,
    });
    const token = `/api/v1/namespaces/${namespace}/serviceaccounts/x/token`;
    for (const spec of [
      {},
      { expirationSeconds: 5 },
      { expirationSeconds: 5e9 },
      { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "none" } },
      { boundObjectRef: { kind: "Odd", apiVersion: "v1", name: "x" } },
      { audiences: ["a"] },
    ])
      await call(`token ${JSON.stringify(spec)}`, "POST", token, {
        body: { spec },
        lean: true,
        keep: (body: Json) => (body?.kind === "Status" ? body : body?.spec),
      });
    await call(
      "token of none",
      "POST",
      `/api/v1/namespaces/${namespace}/serviceaccounts/none/token`,
      { body: { spec: {} }, ...plain },
    );
  },
};
