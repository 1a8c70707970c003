// Deployment, ReplicaSet, StatefulSet, DaemonSet and ControllerRevision: defaults, what is refused, what may change.
import {
  changed,
  createEach,
  plain,
  updateEach,
  type Changes,
} from "../cases.ts";
import type { Scenario } from "../scenario.ts";

const template = {
  metadata: { labels: { app: "a" } },
  spec: { containers: [{ name: "c", image: "busybox" }] },
};
const selector = { matchLabels: { app: "a" } };

/** What is checked alike in all of them. */
const everywhere: Changes[] = [
  { "spec.selector": undefined },
  { "spec.selector": {} },
  { "spec.selector.matchLabels": { app: "b" } },
  { "spec.selector.matchLabels": { "a/b/c": "?", app: "a" } },
  { "spec.selector.matchLabels": "a" },
  {
    "spec.selector.matchExpressions": [
      { key: "app", operator: "In" },
      { key: "app", operator: "Exists", values: ["a"] },
      { key: "app", operator: "Around", values: ["a"] },
      { key: "", operator: "NotIn", values: ["-"] },
    ],
  },
  { "spec.template": undefined },
  { "spec.template": {} },
  { "spec.template.metadata.labels": undefined },
  { "spec.template.metadata.labels": { app: "a", b_: "c d" } },
  { "spec.template.metadata.annotations": { "A/B/C": "" } },
  { "spec.template.spec": undefined },
  { "spec.template.spec.containers": [] },
  { "spec.template.spec.containers.0.image": undefined },
  { "spec.template.spec.restartPolicy": "Never" },
  { "spec.template.spec.restartPolicy": "OnFailure" },
  { "spec.template.spec.activeDeadlineSeconds": 5 },
  { "spec.template.spec.nodeName": "n" },
  {
    "spec.template.spec.ephemeralContainers": [{ name: "e", image: "i" }],
  },
  { "spec.template.spec.containers.0.ports": [{ containerPort: 0 }] },
  {
    "spec.template.spec.containers.0.ports": [
      { containerPort: 80, hostPort: 80 },
    ],
    "spec.template.spec.hostNetwork": true,
  },
  { "metadata.annotations": { "a b": "c" }, "metadata.labels": { x: "y z" } },
  { spec: undefined },
  { spec: {} },
  { spec: null },
  { spec: "text" },
  { spec: [] },
  { "spec.nonsense": 1 },
  { "spec.template.spec.serviceAccount": "sa" },
  { "metadata.name": undefined },
  { "metadata.name": "A" },
  { "metadata.name": "a.b" },
  { "metadata.name": "-a" },
  { "metadata.name": "a".repeat(64) },
  { "metadata.name": "a".repeat(254) },
  { "metadata.namespace": "elsewhere" },
  { "metadata.finalizers": ["a", "b/c", "kubernetes"] },
  { status: { replicas: 5, observedGeneration: 3, currentNumberScheduled: 1 } },
  { "metadata.generation": 7 },
];

const counts: Changes[] = [
  { "spec.replicas": -1 },
  { "spec.replicas": 0 },
  { "spec.replicas": null },
  { "spec.replicas": "3" },
  { "spec.replicas": 1.5 },
  { "spec.replicas": 5000000000 },
  { "spec.minReadySeconds": -1 },
  { "spec.minReadySeconds": 5 },
];

const metadataChanges: Changes[] = [
  {},
  { "metadata.labels": { a: "b" } },
  { "metadata.resourceVersion": undefined },
  { "metadata.generation": 9 },
  { "spec.template.spec.containers.0.image": "other" },
  { "spec.template.spec.containers.0.image": "" },
  { "spec.template.metadata.labels": { app: "b" } },
  { "spec.selector": { matchLabels: { app: "b" } } },
  {
    "spec.selector": { matchLabels: { app: "b" } },
    "spec.template.metadata.labels": { app: "b" },
  },
  { "spec.selector": undefined },
  { "spec.replicas": 4 },
  { "spec.replicas": -4 },
  { "spec.minReadySeconds": 9 },
  { "spec.revisionHistoryLimit": 3 },
  { status: undefined },
  { "status.replicas": 7 },
];

const statusCounts = (fields: readonly string[]): Changes[] => [
  ...fields.map((name) => ({ [`status.${name}`]: -1 })),
  ...fields.map((name) => ({ [`status.${name}`]: 2 })),
  Object.fromEntries(fields.map((name) => [`status.${name}`, -2])),
  Object.fromEntries(fields.map((name) => [`status.${name}`, 3])),
  {
    "status.replicas": 5,
    "status.readyReplicas": 2,
    "status.availableReplicas": 3,
  },
  { "status.replicas": 5, "status.readyReplicas": 6 },
  { "status.replicas": 1, "spec.replicas": 9 },
  {
    "status.replicas": 1,
    "metadata.labels": { a: "b" },
    "metadata.annotations": { a: "b" },
  },
  { "status.observedGeneration": -1 },
  { "status.collisionCount": -1 },
  { "status.replicas": "x" },
  { status: {} },
  { status: undefined },
  { "status.conditions": [{ type: "Available", status: "True" }] },
  { "status.conditions": [{ type: "", status: "Perhaps" }] },
  {
    "status.conditions": [
      { type: "A", status: "True" },
      { type: "A", status: "False" },
    ],
  },
];

const scaleChanges: Changes[] = [
  {},
  { "spec.replicas": 7 },
  { "spec.replicas": -7 },
  { "spec.replicas": undefined },
  { spec: undefined },
  { "spec.replicas": "7" },
  { "status.replicas": 3, "status.selector": "x=y" },
  { "metadata.resourceVersion": undefined },
  { "metadata.labels": { a: "b" } },
];

const rich = {
  metadata: { labels: { app: "a" } },
  spec: {
    initContainers: [
      { name: "i", image: "busybox:1", restartPolicy: "Always" },
    ],
    containers: [
      {
        name: "c",
        image: "busybox",
        ports: [{ name: "http", containerPort: 80 }],
        livenessProbe: { httpGet: { port: "http" } },
        readinessProbe: { tcpSocket: { port: 80 } },
        startupProbe: { exec: { command: ["x"] } },
        env: [
          {
            name: "N",
            valueFrom: { fieldRef: { fieldPath: "metadata.name" } },
          },
        ],
        resources: { limits: { cpu: "1000m", memory: "1Gi" } },
        volumeMounts: [{ name: "v", mountPath: "/v" }],
        lifecycle: { preStop: { httpGet: { port: 80 } } },
      },
    ],
    volumes: [
      { name: "v", secret: { secretName: "s" } },
      { name: "h", hostPath: { path: "/h" } },
      { name: "e" },
      {
        name: "p",
        projected: { sources: [{ serviceAccountToken: { path: "t" } }] },
      },
      {
        name: "d",
        downwardAPI: {
          items: [{ path: "x", fieldRef: { fieldPath: "metadata.name" } }],
        },
      },
      {
        name: "eph",
        ephemeral: {
          volumeClaimTemplate: {
            spec: {
              accessModes: ["ReadWriteOnce"],
              resources: { requests: { storage: "1Gi" } },
            },
          },
        },
      },
    ],
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "z",
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: {},
      },
    ],
    serviceAccountName: "sa",
    hostNetwork: true,
  },
};

export const workloads: Scenario = {
  name: "workloads",
  async run(server) {
    const { namespace, call } = server;
    const at = (resource: string): string =>
      `/apis/apps/v1/namespaces/${namespace}/${resource}`;

    const deployment = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d" },
      spec: { selector, template },
    };
    await createEach(server, "deployment", at("deployments"), deployment, [
      ...everywhere,
      ...counts,
      { "spec.template": rich },
      { "spec.strategy.type": "Recreate" },
      { "spec.strategy.type": "Other" },
      { "spec.strategy": { type: "Recreate", rollingUpdate: { maxSurge: 1 } } },
      { "spec.strategy": { rollingUpdate: {} } },
      {
        "spec.strategy.type": "RollingUpdate",
        "spec.strategy.rollingUpdate": null,
      },
      ...[
        { maxSurge: 0, maxUnavailable: 0 },
        { maxSurge: "0%", maxUnavailable: 0 },
        { maxSurge: "0%", maxUnavailable: "0%" },
        { maxSurge: "-1%", maxUnavailable: -1 },
        { maxSurge: "10", maxUnavailable: "a%" },
        { maxSurge: "200%", maxUnavailable: "101%" },
        { maxSurge: 1 },
        { maxUnavailable: 1 },
      ].map((rollingUpdate) => ({
        "spec.strategy.rollingUpdate": rollingUpdate,
      })),
      { "spec.progressDeadlineSeconds": 0 },
      { "spec.progressDeadlineSeconds": -1 },
      { "spec.progressDeadlineSeconds": 10, "spec.minReadySeconds": 10 },
      { "spec.progressDeadlineSeconds": 10, "spec.minReadySeconds": 11 },
      { "spec.revisionHistoryLimit": -1 },
      { "spec.revisionHistoryLimit": 0 },
      { "spec.paused": true },
      { "spec.paused": "true" },
      { "spec.rollbackTo": { revision: 1 } },
      {
        "spec.replicas": -1,
        "spec.minReadySeconds": -1,
        "spec.revisionHistoryLimit": -1,
        "spec.progressDeadlineSeconds": -1,
        "spec.selector": { matchLabels: { x: "y" } },
        "spec.template.spec.restartPolicy": "Never",
        "spec.template.spec.containers.0.name": "C_",
        "spec.strategy": {
          rollingUpdate: { maxSurge: -1, maxUnavailable: -2 },
        },
      },
    ]);
    await updateEach(server, "deployment", at("deployments"), deployment, [
      ...metadataChanges,
      { "spec.paused": true },
      { "spec.strategy": undefined },
      { "spec.strategy": { type: "Recreate" } },
      { "spec.progressDeadlineSeconds": undefined },
      { "spec.template.spec.nodeSelector": { a: "b" } },
      { "metadata.annotations": { "deployment.kubernetes.io/revision": "3" } },
    ]);
    await updateEach(
      server,
      "deployment",
      at("deployments"),
      deployment,
      statusCounts([
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
      ]),
      "status",
    );

    const replicaSet = {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: { name: "r" },
      spec: { selector, template },
    };
    await createEach(server, "replicaset", at("replicasets"), replicaSet, [
      ...everywhere.slice(0, 5),
      ...counts,
      {
        "spec.replicas": -1,
        "spec.minReadySeconds": -1,
        "spec.selector": {},
        "spec.template.spec.containers": [],
      },
    ]);
    await updateEach(
      server,
      "replicaset",
      at("replicasets"),
      replicaSet,
      metadataChanges,
    );
    await updateEach(
      server,
      "replicaset",
      at("replicasets"),
      replicaSet,
      statusCounts([
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
      ]),
      "status",
    );

    const statefulSet = {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name: "s" },
      spec: { serviceName: "svc", selector, template },
    };
    const claim = {
      metadata: { name: "data" },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
      },
    };
    await createEach(server, "statefulset", at("statefulsets"), statefulSet, [
      ...everywhere.slice(0, 5),
      ...counts,

      { "spec.serviceName": undefined },
      { "spec.serviceName": "A_b" },
      { "spec.podManagementPolicy": "Parallel" },
      { "spec.podManagementPolicy": "Other" },
      { "spec.updateStrategy": { type: "OnDelete" } },
      { "spec.updateStrategy": { type: "OnDelete", rollingUpdate: {} } },
      {
        "spec.updateStrategy": {
          type: "OnDelete",
          rollingUpdate: { partition: 1 },
        },
      },
      { "spec.updateStrategy": { type: "Other" } },
      { "spec.updateStrategy": { rollingUpdate: { partition: 2 } } },
      { "spec.updateStrategy": { rollingUpdate: { partition: -2 } } },
      {
        "spec.updateStrategy": {
          rollingUpdate: { partition: -2, maxUnavailable: 0 },
        },
      },
      { "spec.updateStrategy": { rollingUpdate: { maxUnavailable: "20%" } } },
      { "spec.revisionHistoryLimit": -1 },
      { "spec.ordinals": {} },
      { "spec.ordinals": { start: 3 } },
      { "spec.ordinals": { start: -3 } },
      { "spec.persistentVolumeClaimRetentionPolicy": {} },
      {
        "spec.persistentVolumeClaimRetentionPolicy": { whenDeleted: "Delete" },
      },
      {
        "spec.persistentVolumeClaimRetentionPolicy": {
          whenDeleted: "Keep",
          whenScaled: "Lose",
        },
      },
      { "spec.volumeClaimTemplates": [claim] },
      { "spec.volumeClaimTemplates": [{ metadata: { name: "x" } }] },
      { "spec.volumeClaimTemplates": [{ spec: {} }] },
      { "spec.volumeClaimTemplates": [claim, claim] },
      {
        "spec.volumeClaimTemplates": [
          { ...claim, metadata: { name: "D_" }, status: { phase: "Bound" } },
        ],
      },
      { "spec.volumeClaimTemplates": {} },
      {
        "spec.volumeClaimTemplates": [claim],
        "spec.template.spec.containers.0.volumeMounts": [
          { name: "data", mountPath: "/d" },
        ],
      },
      {
        "spec.template.spec.containers.0.volumeMounts": [
          { name: "missing", mountPath: "/d" },
        ],
      },
      {
        "spec.replicas": -1,
        "spec.minReadySeconds": -1,
        "spec.revisionHistoryLimit": -1,
        "spec.podManagementPolicy": "X",
        "spec.updateStrategy": { type: "Y" },
        "spec.ordinals": { start: -1 },
        "spec.selector": {},
        "spec.persistentVolumeClaimRetentionPolicy": { whenDeleted: "Z" },
        "spec.template.spec.restartPolicy": "Never",
        "spec.template.spec.containers": [],
      },
    ]);
    await updateEach(
      server,
      "statefulset",
      at("statefulsets"),
      {
        ...statefulSet,
        spec: { ...statefulSet.spec, volumeClaimTemplates: [claim] },
      },
      [
        ...metadataChanges,
        { "spec.serviceName": "other" },
        { "spec.podManagementPolicy": "Parallel" },
        { "spec.volumeClaimTemplates": undefined },
        {
          "spec.volumeClaimTemplates.0.spec.resources.requests.storage": "2Gi",
        },
        { "spec.volumeClaimTemplates.0.status": undefined },
        { "spec.updateStrategy": { type: "OnDelete" } },
        { "spec.updateStrategy.rollingUpdate.partition": 3 },
        { "spec.updateStrategy": { type: "X" }, "spec.serviceName": "y" },
        { "spec.ordinals": { start: 5 } },
        {
          "spec.persistentVolumeClaimRetentionPolicy": {
            whenDeleted: "Delete",
          },
        },
      ],
    );
    await updateEach(
      server,
      "statefulset",
      at("statefulsets"),
      statefulSet,
      statusCounts([
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
      ]),
      "status",
    );

    const daemonSet = {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name: "ds" },
      spec: { selector, template },
    };
    await createEach(server, "daemonset", at("daemonsets"), daemonSet, [
      ...everywhere.slice(0, 5),

      { "spec.minReadySeconds": -1 },
      { "spec.revisionHistoryLimit": -1 },
      { "spec.templateGeneration": 5 },
      {
        "metadata.annotations": {
          "deprecated.daemonset.template.generation": "5",
        },
      },
      {
        "metadata.annotations": {
          "deprecated.daemonset.template.generation": "x",
        },
      },
      { "spec.updateStrategy": { type: "OnDelete" } },
      {
        "spec.updateStrategy": {
          type: "OnDelete",
          rollingUpdate: { maxUnavailable: 2 },
        },
      },
      { "spec.updateStrategy": { type: "Other" } },
      ...[
        {},
        { maxSurge: 1 },
        { maxSurge: 1, maxUnavailable: 0 },
        { maxSurge: 1, maxUnavailable: 1 },
        { maxSurge: 0, maxUnavailable: 0 },
        { maxSurge: "0%", maxUnavailable: "0%" },
        { maxSurge: "x", maxUnavailable: -1 },
        { maxSurge: "101%", maxUnavailable: 0 },
        { maxUnavailable: "101%" },
        { maxUnavailable: "20%" },
      ].map((rollingUpdate) => ({
        "spec.updateStrategy.rollingUpdate": rollingUpdate,
      })),
      {
        "spec.template.spec.volumes": [
          { name: "v", gcePersistentDisk: { pdName: "p" } },
        ],
      },
      {
        "spec.minReadySeconds": -1,
        "spec.revisionHistoryLimit": -1,
        "spec.updateStrategy": { type: "X" },
        "spec.template.spec.restartPolicy": "Never",
        "spec.selector": {},
      },
    ]);
    await updateEach(server, "daemonset", at("daemonsets"), daemonSet, [
      ...metadataChanges,
      { "spec.updateStrategy": { type: "OnDelete" } },
      { "spec.template.spec.nodeSelector": { a: "b" } },
      {
        "metadata.annotations": {
          "deprecated.daemonset.template.generation": "5",
        },
      },
      {
        "metadata.annotations": {
          "deprecated.daemonset.template.generation": "0",
        },
      },
      { "metadata.annotations": undefined },
    ]);
    await updateEach(
      server,
      "daemonset",
      at("daemonsets"),
      daemonSet,
      statusCounts([
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
      ]),
      "status",
    );

    const revision = {
      apiVersion: "apps/v1",
      kind: "ControllerRevision",
      metadata: { name: "cr" },
      data: { spec: { a: 1 } },
      revision: 1,
    };
    await createEach(server, "revision", at("controllerrevisions"), revision, [
      { data: undefined },
      { data: null },
      { data: "text" },
      { data: [1] },
      { data: 5 },
      { data: {} },
      { revision: -1 },
      { revision: 0 },
      { revision: undefined },
      { revision: "1" },
      { revision: -1, data: undefined, "metadata.name": "A" },
      { data: { apiVersion: "v1", kind: "Pod" } },
    ]);
    await updateEach(server, "revision", at("controllerrevisions"), revision, [
      {},
      { revision: 2 },
      { revision: -2 },
      { "data.spec.a": 2 },
      { data: undefined },
      { "metadata.labels": { a: "b" } },
      { "metadata.resourceVersion": undefined },
      { "data.spec.a": 2, revision: -1 },
    ]);

    for (const [resource, name] of [
      ["deployments", "d"],
      ["replicasets", "r"],
      ["statefulsets", "s"],
    ] as const) {
      const path = `${at(resource)}/${name}/scale`;
      const scale = await call(`${resource} scale`, "GET", path, plain);
      for (const [index, changes] of scaleChanges.entries()) {
        const body = structuredClone(scale.body) as Record<string, unknown>;
        await call(
          `${resource} scale ${index} ${JSON.stringify(changes)}`,
          "PUT",
          `${path}?dryRun=All`,
          { body: changed(body, changes), ...plain },
        );
      }
      await call(`${resource} scaled`, "PUT", path, {
        body: { metadata: { name }, spec: { replicas: 3 } },
        ...plain,
      });
      await call(`${resource} scale patched`, "PATCH", path, {
        body: JSON.stringify({ spec: { replicas: 2 } }),
        headers: { "content-type": "application/merge-patch+json" },
        ...plain,
      });
      await call(`${resource} scale patched wrongly`, "PATCH", path, {
        body: JSON.stringify({ spec: { replicas: -2 } }),
        headers: { "content-type": "application/merge-patch+json" },
        ...plain,
      });
      await call(`${resource} scale strategic patch`, "PATCH", path, {
        body: JSON.stringify({ spec: { replicas: 1 } }),
        headers: { "content-type": "application/strategic-merge-patch+json" },
        ...plain,
      });
      await call(`${resource} scale deleted`, "DELETE", path, plain);
      await call(`${resource} scale created`, "POST", path, {
        body: {},
        ...plain,
      });
      await call(
        `${resource} after scaling`,
        "GET",
        `${at(resource)}/${name}`,
        {
          keep: (body: {
            metadata: { generation: number; managedFields: unknown[] };
            spec: { replicas: number };
          }) => ({
            generation: body.metadata.generation,
            replicas: body.spec.replicas,
          }),
        },
      );
      await call(
        `${resource} status`,
        "GET",
        `${at(resource)}/${name}/status`,
        plain,
      );
      await call(
        `${resource} scale missing`,
        "GET",
        `${at(resource)}/none/scale`,
        plain,
      );
      await call(`${resource} put missing`, "PUT", `${at(resource)}/none`, {
        body: { metadata: { name: "none" } },
        ...plain,
      });
      await call(
        `${resource} put missing scale`,
        "PUT",
        `${at(resource)}/none/scale`,
        { body: { metadata: { name: "none" }, spec: {} }, ...plain },
      );
      await call(
        `${resource} put missing status`,
        "PUT",
        `${at(resource)}/none/status`,
        { body: { metadata: { name: "none" } }, ...plain },
      );
      await call(
        `${resource} delete orphaning`,
        "DELETE",
        `${at(resource)}/${name}?propagationPolicy=Orphan`,
        plain,
      );
      await call(`${resource} deleting`, "PUT", `${at(resource)}/${name}`, {
        body: { metadata: { name } },
        ...plain,
      });
      await call(`${resource} scale of the deleting`, "GET", path, plain);
    }
    await call(
      "daemonset delete in the foreground",
      "DELETE",
      `${at("daemonsets")}/ds`,
      { body: { propagationPolicy: "Foreground" }, ...plain },
    );
    await call("daemonset scale", "GET", `${at("daemonsets")}/ds/scale`, plain);
    await call(
      "revision status",
      "GET",
      `${at("controllerrevisions")}/cr/status`,
      plain,
    );
    await call(
      "revision delete",
      "DELETE",
      `${at("controllerrevisions")}/cr`,
      plain,
    );
    for (const version of ["v1beta1", "v1beta2", "v2"])
      await call(
        `apps/${version}`,
        "GET",
        `/apis/apps/${version}/namespaces/${namespace}/deployments`,
        plain,
      );
  },
};
