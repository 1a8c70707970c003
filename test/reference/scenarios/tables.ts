// Tables: the columns of every kind, and the rows of objects in many states.
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";

const container = { name: "c", image: "i" };
const template = {
  metadata: { labels: { a: "b" } },
  spec: { containers: [container, { name: "d", image: "j:2" }] },
};
const selector = { matchLabels: { a: "b" } };
const now = { lastTransitionTime: "2020-01-01T00:00:00Z" };

/** When the answers were recorded. Times of this file are as old for every server as they were then. */
const recordedMs = Date.parse("2026-11-21T12:00:00Z");

/** `value` with each of its times moved by `byMs`, so that ages stay the recorded ones whenever the scenario runs. */
function moved(value: Json, byMs: number): Json {
  if (Array.isArray(value)) return value.map((each) => moved(each, byMs));
  if (value !== null && typeof value === "object")
    return Object.fromEntries(
      Object.entries(value as Json).map(([key, each]) => [
        key,
        moved(each, byMs),
      ]),
    );
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\dT[\d:]{8}Z$/.test(value))
    return value;
  return new Date(Date.parse(value) + byMs)
    .toISOString()
    .replace(/\.\d+Z$/, "Z");
}

function pod(spec: object = {}): object {
  return { spec: { containers: [container], ...spec } };
}

function container1(name: string, state: object, more: object = {}): object {
  return {
    name,
    image: "i",
    imageID: "",
    ready: false,
    restartCount: 0,
    state,
    ...more,
  };
}

/** Path below the group's version, objects by name: what is created, and the status it is given then. */
type Objects = Record<string, [object, object?]>;

const namespaced: Record<string, Objects> = {
  "/api/v1 pods": {
    pending: [pod()],
    wide: [
      pod({
        nodeName: "n1",
        readinessGates: [{ conditionType: "x/a" }, { conditionType: "x/b" }],
      }),
      {
        phase: "Running",
        podIP: "1.2.3.4",
        podIPs: [{ ip: "1.2.3.4" }, { ip: "fd00::1" }],
        nominatedNodeName: "n2",
        conditions: [
          { type: "x/a", status: "True", ...now },
          { type: "Ready", status: "True", ...now },
        ],
        containerStatuses: [
          container1(
            "c",
            { running: { startedAt: "2020-01-01T00:00:00Z" } },
            { ready: true, restartCount: 3 },
          ),
        ],
      },
    ],
    notready: [
      pod({ nodeName: "n1" }),
      {
        phase: "Running",
        containerStatuses: [
          container1(
            "c",
            { running: {} },
            {
              restartCount: 2,
              lastState: {
                terminated: { exitCode: 1, finishedAt: "2020-01-01T00:00:00Z" },
              },
            },
          ),
        ],
      },
    ],
    completed: [
      pod(),
      {
        phase: "Succeeded",
        containerStatuses: [
          container1("c", { terminated: { exitCode: 0, reason: "Completed" } }),
        ],
      },
    ],
    "half-done": [
      pod({ containers: [container, { name: "d", image: "j" }] }),
      {
        phase: "Running",
        conditions: [{ type: "Ready", status: "True", ...now }],
        containerStatuses: [
          container1("c", { terminated: { exitCode: 0, reason: "Completed" } }),
          container1("d", { running: {} }, { ready: true }),
        ],
      },
    ],
    failed: [
      pod(),
      {
        phase: "Failed",
        containerStatuses: [container1("c", { terminated: { exitCode: 3 } })],
      },
    ],
    signalled: [
      pod(),
      {
        phase: "Failed",
        containerStatuses: [
          container1("c", { terminated: { exitCode: 137, signal: 9 } }),
        ],
      },
    ],
    oom: [
      pod(),
      {
        phase: "Failed",
        containerStatuses: [
          container1("c", {
            terminated: { exitCode: 137, reason: "OOMKilled" },
          }),
        ],
      },
    ],
    evicted: [pod(), { phase: "Failed", reason: "Evicted", message: "m" }],
    "node-lost": [pod(), { phase: "Running", reason: "NodeLost" }],
    pulling: [
      pod(),
      {
        phase: "Pending",
        containerStatuses: [
          container1("c", { waiting: { reason: "ImagePullBackOff" } }),
        ],
      },
    ],
    creating: [
      pod(),
      {
        phase: "Pending",
        containerStatuses: [
          container1("c", { waiting: { reason: "ContainerCreating" } }),
        ],
      },
    ],
    gated: [pod({ schedulingGates: [{ name: "x/y" }] })],
    init: [
      pod({
        initContainers: [
          { name: "a", image: "i" },
          { name: "b", image: "i" },
        ],
      }),
      {
        phase: "Pending",
        initContainerStatuses: [
          container1("a", { terminated: { exitCode: 0 } }, { ready: true }),
          container1("b", { running: {} }),
        ],
        containerStatuses: [
          container1("c", { waiting: { reason: "PodInitializing" } }),
        ],
      },
    ],
    "init-failed": [
      pod({ initContainers: [{ name: "a", image: "i" }] }),
      {
        phase: "Pending",
        initContainerStatuses: [
          container1(
            "a",
            { terminated: { exitCode: 2, reason: "Error" } },
            { restartCount: 4 },
          ),
        ],
      },
    ],
    "init-signal": [
      pod({ initContainers: [{ name: "a", image: "i" }] }),
      {
        phase: "Pending",
        initContainerStatuses: [
          container1("a", { terminated: { exitCode: 2, signal: 15 } }),
        ],
      },
    ],
    "init-exit": [
      pod({ initContainers: [{ name: "a", image: "i" }] }),
      {
        phase: "Pending",
        initContainerStatuses: [
          container1("a", { terminated: { exitCode: 2 } }),
        ],
      },
    ],
    "init-waiting": [
      pod({ initContainers: [{ name: "a", image: "i" }] }),
      {
        phase: "Pending",
        initContainerStatuses: [
          container1("a", { waiting: { reason: "CrashLoopBackOff" } }),
        ],
      },
    ],
    sidecar: [
      pod({
        initContainers: [{ name: "a", image: "i", restartPolicy: "Always" }],
      }),
      {
        phase: "Running",
        conditions: [{ type: "Ready", status: "True", ...now }],
        initContainerStatuses: [
          container1(
            "a",
            { running: {} },
            { ready: true, started: true, restartCount: 1 },
          ),
        ],
        containerStatuses: [
          container1("c", { running: {} }, { ready: true, restartCount: 2 }),
        ],
      },
    ],
    "no-status": [
      pod({ containers: [container, { name: "d", image: "j" }] }),
      { phase: "Unknown" },
    ],
  },
  "/api/v1 services": {
    plain: [{ spec: { ports: [{ port: 80 }], clusterIP: "10.96.1.1" } }],
    several: [
      {
        spec: {
          clusterIP: "10.96.1.2",
          selector: { b: "c", a: "b" },
          ports: [
            { name: "a", port: 80 },
            { name: "b", port: 53, protocol: "UDP" },
          ],
        },
      },
    ],
    headless: [{ spec: { clusterIP: "None" } }],
    node: [
      {
        spec: {
          type: "NodePort",
          clusterIP: "10.96.1.3",
          ports: [{ port: 80, nodePort: 30080 }],
        },
      },
    ],
    external: [{ spec: { type: "ExternalName", externalName: "a.example" } }],
    addresses: [
      {
        spec: {
          clusterIP: "10.96.1.4",
          ports: [{ port: 80 }],
          externalIPs: ["1.1.1.1", "2.2.2.2"],
        },
      },
    ],
    balancer: [
      {
        spec: {
          type: "LoadBalancer",
          clusterIP: "10.96.1.5",
          ports: [{ port: 80, nodePort: 30081 }],
        },
      },
    ],
    balanced: [
      {
        spec: {
          type: "LoadBalancer",
          clusterIP: "10.96.1.6",
          externalIPs: ["9.9.9.9"],
          ports: [{ port: 80, nodePort: 30082 }],
        },
      },
      {
        loadBalancer: {
          ingress: [{ ip: "3.3.3.3" }, { hostname: "lb.example" }],
        },
      },
    ],
  },
  "/api/v1 endpoints": {
    none: [{}],
    some: [
      {
        subsets: [
          {
            addresses: [{ ip: "1.1.1.1" }, { ip: "1.1.1.2" }],
            ports: [
              { name: "a", port: 80 },
              { name: "b", port: 81 },
            ],
          },
        ],
      },
    ],
    many: [
      {
        subsets: [
          {
            addresses: ["1", "2", "3", "4", "5"].map((n) => ({
              ip: `1.1.1.${n}`,
            })),
            ports: [{ port: 80 }],
          },
        ],
      },
    ],
    portless: [{ subsets: [{ addresses: [{ ip: "1.1.1.1" }] }] }],
    unready: [
      {
        subsets: [
          { notReadyAddresses: [{ ip: "1.1.1.1" }], ports: [{ port: 80 }] },
        ],
      },
    ],
  },
  "/api/v1 events": {
    old: [
      {
        involvedObject: {
          kind: "Pod",
          name: "p",
          fieldPath: "spec.containers{c}",
        },
        reason: "Started",
        message: " text \n",
        source: { component: "kubelet", host: "n1" },
        type: "Normal",
        count: 3,
      },
    ],
    bare: [{ involvedObject: { kind: "Node", name: "n" } }],
  },
  "/api/v1 configmaps": {
    none: [{}],
    two: [{ data: { a: "b" }, binaryData: { c: "" } }],
  },
  "/api/v1 secrets": {
    opaque: [{ data: { a: "", b: "" } }],
    tls: [
      { type: "kubernetes.io/tls", data: { "tls.crt": "", "tls.key": "" } },
    ],
  },
  "/api/v1 serviceaccounts": { a: [{ secrets: [{ name: "b" }] }] },
  "/api/v1 persistentvolumeclaims": {
    pending: [
      {
        spec: {
          accessModes: ["ReadWriteOnce"],
          resources: { requests: { storage: "1Gi" } },
        },
      },
    ],
    bound: [
      {
        spec: {
          accessModes: ["ReadWriteOnce", "ReadOnlyMany"],
          volumeName: "v",
          storageClassName: "s",
          volumeMode: "Block",
          resources: { requests: { storage: "1Gi" } },
        },
      },
      {
        phase: "Bound",
        accessModes: ["ReadWriteOnce", "ReadOnlyMany"],
        capacity: { storage: "2Gi" },
      },
    ],
  },
  "/api/v1 limitranges": { a: [{ spec: { limits: [{ type: "Pod" }] } }] },
  "/api/v1 resourcequotas": {
    none: [{ spec: {} }],
    some: [
      {
        spec: {
          hard: { pods: "3", "requests.cpu": "1", "limits.memory": "1Gi" },
        },
      },
      {
        hard: { pods: "3", "requests.cpu": "1", "limits.memory": "1Gi" },
        used: { pods: "1", "requests.cpu": "200m" },
      },
    ],
  },
  "/api/v1 podtemplates": {
    a: [{ metadata: { labels: { l: "m" } }, template }],
  },
  "/api/v1 replicationcontrollers": {
    a: [
      { spec: { replicas: 2, selector: { a: "b" }, template } },
      { replicas: 1, readyReplicas: 1 },
    ],
  },
  "/apis/apps/v1 deployments": {
    a: [
      { spec: { selector, template } },
      {
        replicas: 3,
        updatedReplicas: 2,
        availableReplicas: 1,
        readyReplicas: 1,
      },
    ],
    none: [{ spec: { replicas: 0, selector, template } }],
  },
  "/apis/apps/v1 replicasets": {
    a: [
      { spec: { replicas: 3, selector, template } },
      { replicas: 3, readyReplicas: 2 },
    ],
  },
  "/apis/apps/v1 statefulsets": {
    a: [
      { spec: { serviceName: "s", replicas: 3, selector, template } },
      { replicas: 3, readyReplicas: 2 },
    ],
  },
  "/apis/apps/v1 daemonsets": {
    a: [
      {
        spec: {
          selector,
          template: {
            ...template,
            spec: { ...template.spec, nodeSelector: { z: "y", x: "w" } },
          },
        },
      },
      {
        desiredNumberScheduled: 5,
        currentNumberScheduled: 4,
        numberReady: 3,
        updatedNumberScheduled: 2,
        numberAvailable: 1,
        numberMisscheduled: 0,
      },
    ],
    bare: [{ spec: { selector, template } }],
  },
  "/apis/apps/v1 controllerrevisions": {
    a: [{ revision: 3 }],
    owned: [
      {
        revision: 4,
        metadata: {
          ownerReferences: [
            {
              apiVersion: "apps/v1",
              kind: "DaemonSet",
              name: "d",
              uid: "u",
              controller: true,
            },
          ],
        },
      },
    ],
  },
  "/apis/batch/v1 jobs": {
    waiting: [
      {
        spec: {
          template: {
            spec: { restartPolicy: "Never", containers: [container] },
          },
        },
      },
    ],
    running: [
      {
        spec: {
          completions: 3,
          parallelism: 2,
          template: {
            spec: { restartPolicy: "Never", containers: [container] },
          },
        },
      },
      { active: 1, succeeded: 1 },
    ],
    queue: [
      {
        spec: {
          parallelism: 3,
          template: {
            spec: { restartPolicy: "Never", containers: [container] },
          },
        },
      },
    ],
    suspended: [
      {
        spec: {
          suspend: true,
          template: {
            spec: { restartPolicy: "Never", containers: [container] },
          },
        },
      },
      { conditions: [{ type: "Suspended", status: "True", ...now }] },
    ],
    done: [
      {
        spec: {
          template: {
            spec: { restartPolicy: "Never", containers: [container] },
          },
        },
      },
      {
        startTime: "2020-01-01T00:00:00Z",
        completionTime: "2020-01-01T00:01:05Z",
        succeeded: 1,
        uncountedTerminatedPods: {},
        conditions: [
          { type: "SuccessCriteriaMet", status: "True", ...now },
          { type: "Complete", status: "True", ...now },
        ],
      },
    ],
    failed: [
      {
        spec: {
          template: {
            spec: { restartPolicy: "Never", containers: [container] },
          },
        },
      },
      {
        startTime: "2020-01-01T00:00:00Z",
        failed: 1,
        uncountedTerminatedPods: {},
        conditions: [
          { type: "FailureTarget", status: "True", ...now },
          { type: "Failed", status: "True", ...now },
        ],
      },
    ],
  },
  "/apis/batch/v1 cronjobs": {
    a: [
      {
        spec: {
          schedule: "*/5 * * * *",
          timeZone: "Etc/UTC",
          suspend: true,
          jobTemplate: {
            spec: {
              template: {
                spec: { restartPolicy: "Never", containers: [container] },
              },
            },
          },
        },
      },
    ],
    b: [
      {
        spec: {
          schedule: "@hourly",
          jobTemplate: {
            spec: {
              template: {
                spec: { restartPolicy: "Never", containers: [container] },
              },
            },
          },
        },
      },
      { active: [{ name: "j" }] },
    ],
  },
  "/apis/networking.k8s.io/v1 ingresses": {
    hosts: [
      {
        spec: {
          ingressClassName: "c",
          tls: [{ hosts: ["a"] }],
          rules: ["a", "b", "c", "d"].map((host) => ({
            host: `${host}.example`,
          })),
        },
      },
      { loadBalancer: { ingress: [{ ip: "1.1.1.1" }, { hostname: "h" }] } },
    ],
    any: [
      {
        spec: {
          defaultBackend: { service: { name: "s", port: { number: 80 } } },
        },
      },
    ],
  },
  "/apis/networking.k8s.io/v1 networkpolicies": {
    all: [{ spec: { podSelector: {} } }],
    some: [
      {
        spec: {
          podSelector: {
            matchLabels: { a: "b", c: "d" },
            matchExpressions: [
              { key: "k", operator: "In", values: ["v", "u"] },
              { key: "l", operator: "Exists" },
            ],
          },
        },
      },
    ],
  },
  "/apis/policy/v1 poddisruptionbudgets": {
    min: [{ spec: { minAvailable: 1, selector } }],
    max: [
      { spec: { maxUnavailable: "20%", selector } },
      {
        disruptionsAllowed: 2,
        currentHealthy: 3,
        desiredHealthy: 1,
        expectedPods: 3,
      },
    ],
  },
  "/apis/autoscaling/v2 horizontalpodautoscalers": {
    plain: [
      {
        spec: {
          maxReplicas: 3,
          scaleTargetRef: {
            kind: "Deployment",
            name: "d",
            apiVersion: "apps/v1",
          },
        },
      },
    ],
    metrics: [
      {
        spec: {
          minReplicas: 2,
          maxReplicas: 5,
          scaleTargetRef: {
            kind: "Deployment",
            name: "d",
            apiVersion: "apps/v1",
          },
          metrics: [
            {
              type: "Resource",
              resource: {
                name: "cpu",
                target: { type: "Utilization", averageUtilization: 80 },
              },
            },
            {
              type: "Resource",
              resource: {
                name: "memory",
                target: { type: "AverageValue", averageValue: "100Mi" },
              },
            },
            {
              type: "Pods",
              pods: {
                metric: { name: "m" },
                target: { type: "AverageValue", averageValue: "10" },
              },
            },
          ],
        },
      },
      {
        currentReplicas: 3,
        desiredReplicas: 4,
        conditions: [],
        currentMetrics: [
          {
            type: "Resource",
            resource: {
              name: "cpu",
              current: { averageUtilization: 50, averageValue: "5m" },
            },
          },
        ],
      },
    ],
  },
  "/apis/discovery.k8s.io/v1 endpointslices": {
    none: [{ addressType: "IPv4", endpoints: [] }],
    some: [
      {
        addressType: "IPv4",
        endpoints: ["1", "2", "3", "4"].map((n) => ({
          addresses: [`1.1.1.${n}`],
        })),
        ports: [
          { name: "a", port: 80, protocol: "TCP" },
          { name: "b", port: 81, protocol: "TCP" },
          { name: "c", protocol: "TCP" },
        ],
      },
    ],
  },
  "/apis/coordination.k8s.io/v1 leases": {
    a: [{ spec: { holderIdentity: "h" } }],
    none: [{}],
  },
  "/apis/rbac.authorization.k8s.io/v1 roles": { a: [{}] },
  "/apis/rbac.authorization.k8s.io/v1 rolebindings": {
    a: [
      {
        roleRef: {
          apiGroup: "rbac.authorization.k8s.io",
          kind: "Role",
          name: "r",
        },
        subjects: [
          { kind: "User", name: "u", apiGroup: "rbac.authorization.k8s.io" },
          { kind: "Group", name: "g", apiGroup: "rbac.authorization.k8s.io" },
          { kind: "ServiceAccount", name: "s", namespace: "n" },
        ],
      },
    ],
  },
  "/apis/storage.k8s.io/v1 csistoragecapacities": {
    a: [{ storageClassName: "s", capacity: "1Gi" }],
  },
};

const clusterWide: Record<string, Objects> = {
  "/api/v1 nodes": {
    bare: [{}],
    full: [
      {
        metadata: {
          labels: {
            "node-role.kubernetes.io/control-plane": "",
            "node-role.kubernetes.io/a": "",
            "kubernetes.io/role": "b",
          },
        },
        spec: { unschedulable: true },
      },
      {
        addresses: [
          { type: "InternalIP", address: "1.1.1.1" },
          { type: "ExternalIP", address: "2.2.2.2" },
        ],
        conditions: [{ type: "Ready", status: "True", ...now }],
        nodeInfo: {
          kubeletVersion: "v1.32.0",
          osImage: "Debian",
          kernelVersion: "6",
          containerRuntimeVersion: "containerd://1",
          machineID: "",
          systemUUID: "",
          bootID: "",
          kubeProxyVersion: "",
          operatingSystem: "",
          architecture: "",
        },
      },
    ],
    unready: [
      {},
      { conditions: [{ type: "Ready", status: "Unknown", ...now }] },
    ],
  },
  "/api/v1 persistentvolumes": {
    a: [
      {
        spec: {
          capacity: { storage: "1Gi" },
          accessModes: ["ReadWriteOnce", "ReadWriteMany"],
          hostPath: { path: "/a" },
          storageClassName: "s",
          persistentVolumeReclaimPolicy: "Delete",
          claimRef: { namespace: "n", name: "c" },
        },
      },
      { phase: "Released", reason: "why" },
    ],
    b: [
      {
        spec: {
          capacity: { storage: "500Mi" },
          accessModes: ["ReadWriteOnce"],
          hostPath: { path: "/a" },
          volumeMode: "Block",
        },
      },
    ],
  },
  "/apis/storage.k8s.io/v1 storageclasses": {
    a: [
      {
        provisioner: "p",
        volumeBindingMode: "WaitForFirstConsumer",
        allowVolumeExpansion: true,
        reclaimPolicy: "Retain",
        metadata: {
          annotations: {
            "storageclass.kubernetes.io/is-default-class": "true",
          },
        },
      },
    ],
    b: [{ provisioner: "p" }],
  },
  "/apis/storage.k8s.io/v1 volumeattachments": {
    a: [
      {
        spec: {
          attacher: "x",
          nodeName: "n",
          source: { persistentVolumeName: "v" },
        },
      },
    ],
  },
  "/apis/storage.k8s.io/v1 csidrivers": {
    "a.example": [
      {
        spec: {
          attachRequired: false,
          tokenRequests: [{ audience: "a" }, { audience: "b" }],
          volumeLifecycleModes: ["Persistent", "Ephemeral"],
        },
      },
    ],
    "b.example": [{ spec: {} }],
  },
  "/apis/storage.k8s.io/v1 csinodes": {
    a: [{ spec: { drivers: [{ name: "d", nodeID: "n" }] } }],
  },
  "/apis/scheduling.k8s.io/v1 priorityclasses": {
    a: [{ value: 5, globalDefault: true, preemptionPolicy: "Never" }],
    b: [{ value: 1000000000 }],
  },
  "/apis/node.k8s.io/v1 runtimeclasses": { a: [{ handler: "h" }] },
  "/apis/networking.k8s.io/v1 ingressclasses": {
    a: [{ spec: { controller: "x/y" } }],
    b: [
      {
        spec: {
          controller: "x/y",
          parameters: { kind: "K", name: "n", apiGroup: "g.example" },
        },
      },
    ],
  },
  "/apis/rbac.authorization.k8s.io/v1 clusterroles": { "ref-a": [{}] },
  "/apis/rbac.authorization.k8s.io/v1 clusterrolebindings": {
    "ref-a": [
      {
        roleRef: {
          apiGroup: "rbac.authorization.k8s.io",
          kind: "ClusterRole",
          name: "r",
        },
        subjects: [
          { kind: "User", name: "u", apiGroup: "rbac.authorization.k8s.io" },
        ],
      },
    ],
  },
  "/apis/admissionregistration.k8s.io/v1 mutatingwebhookconfigurations": {
    a: [{ webhooks: [] }],
  },
  "/apis/admissionregistration.k8s.io/v1 validatingwebhookconfigurations": {
    a: [{ webhooks: [] }],
  },
  "/apis/flowcontrol.apiserver.k8s.io/v1 prioritylevelconfigurations": {
    "ref-a": [
      {
        spec: {
          type: "Limited",
          limited: {
            nominalConcurrencyShares: 7,
            limitResponse: {
              type: "Queue",
              queuing: { queues: 4, handSize: 2, queueLengthLimit: 9 },
            },
          },
        },
      },
    ],
    "ref-b": [
      {
        spec: {
          type: "Limited",
          limited: { limitResponse: { type: "Reject" } },
        },
      },
    ],
  },
};

/** Cells without the object's age, which is the last but for a few kinds. */
function cells(body: Json): Json {
  if (!body?.rows) return body?.message as unknown;
  return body.rows.map((row: Json) =>
    row.cells
      .map((cell: Json) =>
        typeof cell === "string" && /^(\d+[smhdy])+$/.test(cell)
          ? cell.replace(/^\d{1,2}s$/, "<age>")
          : (cell as unknown),
      )
      .map(String)
      .join(" | "),
  ) as unknown;
}

/** `name:type/format+priority`, and whether there is a description. */
function columns(body: Json): Json {
  return body.columnDefinitions?.map(
    ({ name, type, format, priority, description }: Json) =>
      `${name}:${type}/${format}+${priority}${description ? "" : " without description"}`,
  ) as unknown;
}

export const tables: Scenario = {
  name: "tables",
  async run({ call, namespace, nowMs }) {
    const { body } = await call("", "GET", "/apis", { silent: true });
    const versions = [
      "/api/v1",
      ...body.groups.flatMap((group: Json) =>
        group.versions.map((one: Json) => `/apis/${one.groupVersion}`),
      ),
    ];
    for (const version of versions) {
      const list = await call("", "GET", version, { silent: true });
      for (const { name, verbs } of list.body.resources)
        if (verbs.includes("list"))
          await call(
            `columns of ${version} ${name}`,
            "GET",
            `${version}/${name}?limit=1`,
            {
              headers: { accept },
              keep: columns,
            },
          );
    }

    for (const [place, objects] of [
      ...Object.entries(namespaced),
      ...Object.entries(clusterWide),
    ]) {
      const [version, resource] = place.split(" ") as [string, string];
      const all = namespaced[place]
        ? `${version}/namespaces/${namespace}/${resource}`
        : `${version}/${resource}`;
      for (const [name, [object, status]] of Object.entries(objects)) {
        const { metadata } = object as { metadata?: object };
        const body = { ...object, metadata: { ...metadata, name } };
        const made = await call("", "POST", all, { silent: true, body });
        if (status && made.status === 201)
          await call("", "PUT", `${all}/${name}/status`, {
            silent: true,
            body: {
              ...made.body,
              status: {
                ...made.body.status,
                ...moved(status, nowMs - recordedMs),
              },
            },
          });
        await call(`row of ${place} ${name}`, "GET", `${all}/${name}`, {
          headers: { accept },
          keep: cells,
        });
      }
    }
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    for (const include of ["None", "Metadata", "Object", "", "x"])
      for (const version of ["v1", "v1beta1"])
        for (const path of [
          `${pods}/pending`,
          `${pods}?labelSelector=none`,
          pods + "?fieldSelector=metadata.name=pending",
        ])
          await call(
            `${path} in ${version} with ${include}`,
            "GET",
            `${path}${path.includes("?") ? "&" : "?"}includeObject=${include}`,
            {
              headers: { accept: accept.replace("v1", version) },
              keep: ({ columnDefinitions: _, rows, ...rest }: Json) => ({
                ...rest,
                rows: rows?.map(
                  ({ cells: _, object }: Json) =>
                    object && {
                      kind: object.kind,
                      apiVersion: object.apiVersion,
                      keys: Object.keys(object).sort(),
                    },
                ),
              }),
            },
          );
    const frames = (body: Json): Json =>
      body?.map(({ type, object }: Json) => ({
        type,
        kind: object.kind,
        columns: object.columnDefinitions?.length ?? 0,
        metadata: object.metadata,
        rows: object.rows?.map((row: Json) => [
          row.cells?.length,
          row.object?.kind,
          row.object?.metadata?.name,
        ]),
      })) as unknown;
    await call(
      "watch as tables",
      "GET",
      `${pods}?watch=1&resourceVersion=0&fieldSelector=metadata.name=pending`,
      {
        headers: { accept },
        frames: 2,
        keep: frames,
        meanwhile: async () => {
          await call("", "PATCH", `${pods}/pending`, {
            silent: true,
            body: '{"metadata":{"labels":{"a":"b"}}}',
            headers: { "content-type": "application/merge-patch+json" },
          });
          await call("", "DELETE", `${pods}/pending?gracePeriodSeconds=0`, {
            silent: true,
          });
        },
      },
    );
    for (const [what, path] of [
      ["a scale", "/apis/apps/v1/namespaces/ref-tables/deployments/a/scale"],
      ["a status", "/apis/apps/v1/namespaces/ref-tables/deployments/a/status"],
    ] as const)
      for (const as of ["Table", "PartialObjectMetadata"])
        await call(`${what} as ${as}`, "GET", path, {
          headers: { accept: accept.replace("Table", as) },
          keep: (body) =>
            body?.rows
              ? cells(body)
              : [body?.kind, body?.apiVersion, Object.keys(body ?? {})],
        });
    // Other scenarios see what belongs to no namespace.
    for (const [place, objects] of Object.entries(clusterWide))
      for (const name of Object.keys(objects)) {
        const at = `${place.replace(" ", "/")}/${name}`;
        await call("", "PATCH", at, {
          silent: true,
          body: '{"metadata":{"finalizers":null}}',
          headers: { "content-type": "application/merge-patch+json" },
        });
        await call("", "DELETE", at, { silent: true });
      }
  },
};
