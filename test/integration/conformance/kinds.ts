// One small valid object of every kind that has "API operations" of its own: spec, and a status to write where the kind
// has the subresource. `path` is the group's and version's.
import type { Json } from "./support.ts";

export interface KindCase {
  /** apps/v1, v1 … */
  apiVersion: string;
  kind: string;
  resource: string;
  namespaced: boolean;
  /** Fields beside the envelope. */
  fields: Json;
  /** Written by PATCH to /status, and looked for afterwards. */
  status?: Json;
  /** A write of status changes nothing of the metadata. */
  statusIsAll?: boolean;
}

const template = {
  metadata: { labels: { app: "x" } },
  spec: { containers: [{ name: "c", image: "busybox" }] },
};
const selector = { matchLabels: { app: "x" } };
const condition = (extra: object = {}): object => ({
  type: "StatusUpdate",
  status: "True",
  reason: "E2E",
  message: "Set from an e2e test",
  ...extra,
});
const conditions = { conditions: [condition()] };
const timedConditions = {
  conditions: [
    condition({
      type: "FromATest",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    }),
  ],
};
const webhookPolicySpec = {
  matchConstraints: {
    resourceRules: [
      {
        apiGroups: ["apps"],
        apiVersions: ["v1"],
        operations: ["CREATE", "UPDATE"],
        resources: ["deployments"],
      },
    ],
  },
  validations: [{ expression: "object.spec.replicas <= 100" }],
};

export const kinds: readonly KindCase[] = [
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    resource: "configmaps",
    namespaced: true,
    fields: { data: { a: "b" } },
  },
  {
    apiVersion: "v1",
    kind: "Secret",
    resource: "secrets",
    namespaced: true,
    fields: { data: { a: "Yg==" } },
  },
  {
    apiVersion: "v1",
    kind: "ServiceAccount",
    resource: "serviceaccounts",
    namespaced: true,
    fields: {},
  },
  {
    apiVersion: "v1",
    kind: "PodTemplate",
    resource: "podtemplates",
    namespaced: true,
    fields: { template },
  },
  {
    apiVersion: "v1",
    kind: "LimitRange",
    resource: "limitranges",
    namespaced: true,
    fields: { spec: { limits: [{ type: "Pod", max: { cpu: "500m" } }] } },
  },
  {
    apiVersion: "v1",
    kind: "ResourceQuota",
    resource: "resourcequotas",
    namespaced: true,
    fields: { spec: { hard: { pods: "5" } } },
    status: { hard: { pods: "3" } },
  },
  {
    apiVersion: "v1",
    kind: "ReplicationController",
    resource: "replicationcontrollers",
    namespaced: true,
    fields: { spec: { replicas: 0, selector: { app: "x" }, template } },
    status: conditions,
  },
  {
    apiVersion: "v1",
    kind: "Service",
    resource: "services",
    namespaced: true,
    fields: { spec: { type: "LoadBalancer", ports: [{ port: 80 }] } },
    status: {
      loadBalancer: { ingress: [{ ip: "203.0.113.1", ipMode: "VIP" }] },
    },
  },
  {
    apiVersion: "v1",
    kind: "Endpoints",
    resource: "endpoints",
    namespaced: true,
    fields: {
      subsets: [
        {
          addresses: [{ ip: "10.0.0.24" }],
          ports: [{ name: "http", port: 80, protocol: "TCP" }],
        },
      ],
    },
  },
  {
    apiVersion: "v1",
    kind: "Event",
    resource: "events",
    namespaced: true,
    fields: {
      involvedObject: { kind: "Pod", namespace: "NS" },
      reason: "Test",
      message: "m",
      type: "Normal",
      source: { component: "c" },
    },
  },
  {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    resource: "events",
    namespaced: true,
    fields: {
      regarding: { kind: "Pod", namespace: "NS" },
      action: "a",
      reason: "Test",
      note: "m",
      type: "Normal",
      eventTime: "2026-01-01T00:00:00.000001Z",
      reportingController: "test.io/c",
      reportingInstance: "i",
    },
  },
  {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    resource: "persistentvolumeclaims",
    namespaced: true,
    fields: {
      spec: {
        storageClassName: "none-of-these",
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
      },
    },
    status: {
      conditions: [
        {
          type: "StatusPatched",
          status: "True",
          reason: "E2E patchStatus",
          message: "Set from an e2e test",
        },
      ],
    },
  },
  {
    apiVersion: "v1",
    kind: "PersistentVolume",
    resource: "persistentvolumes",
    namespaced: false,
    fields: {
      spec: {
        storageClassName: "none-of-those",
        accessModes: ["ReadWriteOnce"],
        capacity: { storage: "1Gi" },
        hostPath: { path: "/tmp/x" },
      },
    },
    status: { reason: "E2E", message: "Set from an e2e test" },
  },
  {
    apiVersion: "v1",
    kind: "Namespace",
    resource: "namespaces",
    namespaced: false,
    fields: {},
    status: conditions,
  },
  {
    apiVersion: "v1",
    kind: "Node",
    resource: "nodes",
    namespaced: false,
    fields: { spec: { unschedulable: true } },
    status: { ...conditions, capacity: { "example.com/dongle": "3" } },
  },
  {
    apiVersion: "v1",
    kind: "Pod",
    resource: "pods",
    namespaced: true,
    fields: {
      spec: {
        nodeSelector: { no: "node" },
        terminationGracePeriodSeconds: 0,
        containers: [{ name: "c", image: "busybox" }],
      },
    },
    status: conditions,
  },
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    resource: "deployments",
    namespaced: true,
    fields: { spec: { replicas: 0, selector, template } },
    status: conditions,
  },
  {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    resource: "replicasets",
    namespaced: true,
    fields: { spec: { replicas: 0, selector, template } },
    status: conditions,
  },
  {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    resource: "statefulsets",
    namespaced: true,
    fields: { spec: { replicas: 0, serviceName: "s", selector, template } },
    status: conditions,
  },
  {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    resource: "daemonsets",
    namespaced: true,
    fields: { spec: { selector, template } },
    status: conditions,
  },
  {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    resource: "controllerrevisions",
    namespaced: true,
    fields: { revision: 1, data: { spec: {} } },
  },
  {
    apiVersion: "batch/v1",
    kind: "Job",
    resource: "jobs",
    namespaced: true,
    fields: {
      spec: {
        suspend: true,
        template: {
          ...template,
          spec: { ...template.spec, restartPolicy: "Never" },
        },
      },
    },
    status: conditions,
  },
  {
    apiVersion: "batch/v1",
    kind: "CronJob",
    resource: "cronjobs",
    namespaced: true,
    fields: {
      spec: {
        schedule: "0 0 1 1 *",
        suspend: true,
        jobTemplate: {
          spec: {
            template: {
              ...template,
              spec: { ...template.spec, restartPolicy: "Never" },
            },
          },
        },
      },
    },
    status: { lastScheduleTime: "2026-01-01T00:00:00Z" },
  },
  {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    resource: "poddisruptionbudgets",
    namespaced: true,
    fields: { spec: { minAvailable: 1, selector } },
    status: timedConditions,
  },
  {
    apiVersion: "autoscaling/v1",
    kind: "HorizontalPodAutoscaler",
    resource: "horizontalpodautoscalers",
    namespaced: true,
    fields: {
      spec: {
        maxReplicas: 3,
        scaleTargetRef: {
          apiVersion: "apps/v1",
          kind: "Deployment",
          name: "x",
        },
      },
    },
    status: { currentReplicas: 1, desiredReplicas: 2 },
  },
  {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    resource: "horizontalpodautoscalers",
    namespaced: true,
    fields: {
      spec: {
        maxReplicas: 3,
        scaleTargetRef: {
          apiVersion: "apps/v1",
          kind: "Deployment",
          name: "x",
        },
      },
    },
    status: { currentReplicas: 1, desiredReplicas: 2 },
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    resource: "ingresses",
    namespaced: true,
    fields: {
      spec: {
        defaultBackend: { service: { name: "b", port: { number: 80 } } },
      },
    },
    status: { loadBalancer: { ingress: [{ ip: "169.1.1.1" }] } },
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    resource: "ingressclasses",
    namespaced: false,
    fields: { spec: { controller: "example.com/c" } },
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    resource: "networkpolicies",
    namespaced: true,
    fields: { spec: { podSelector: {}, policyTypes: ["Ingress"] } },
  },
  {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    resource: "endpointslices",
    namespaced: true,
    fields: {
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"] }],
      ports: [],
    },
  },
  {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    resource: "leases",
    namespaced: true,
    fields: { spec: { holderIdentity: "h", leaseDurationSeconds: 30 } },
  },
  {
    apiVersion: "node.k8s.io/v1",
    kind: "RuntimeClass",
    resource: "runtimeclasses",
    namespaced: false,
    fields: { handler: "runc" },
  },
  {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    resource: "priorityclasses",
    namespaced: false,
    fields: { value: 1 },
  },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    resource: "storageclasses",
    namespaced: false,
    fields: { provisioner: "example.com/p" },
  },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    resource: "csidrivers",
    namespaced: false,
    fields: { spec: { attachRequired: true, podInfoOnMount: true } },
  },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSINode",
    resource: "csinodes",
    namespaced: false,
    fields: { spec: { drivers: [] } },
  },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIStorageCapacity",
    resource: "csistoragecapacities",
    namespaced: true,
    fields: { storageClassName: "s", capacity: "1Gi" },
  },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttachment",
    resource: "volumeattachments",
    namespaced: false,
    fields: {
      spec: {
        attacher: "example.com",
        nodeName: "n",
        source: { persistentVolumeName: "pv" },
      },
    },
    statusIsAll: true,
    status: { attached: true },
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    resource: "roles",
    namespaced: true,
    fields: {
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
    },
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    resource: "rolebindings",
    namespaced: true,
    fields: {
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "Role",
        name: "r",
      },
      subjects: [],
    },
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    resource: "clusterroles",
    namespaced: false,
    fields: { rules: [] },
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    resource: "clusterrolebindings",
    namespaced: false,
    fields: {
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "ClusterRole",
        name: "r",
      },
      subjects: [],
    },
  },
  {
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    kind: "FlowSchema",
    resource: "flowschemas",
    namespaced: false,
    fields: {
      spec: {
        matchingPrecedence: 10000,
        priorityLevelConfiguration: { name: "global-default" },
        rules: [
          {
            subjects: [
              { kind: "User", user: { name: "example-e2e-non-existent-user" } },
            ],
            nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
          },
        ],
      },
    },
    statusIsAll: true,
    status: {
      conditions: [
        {
          // One that the server does not keep itself.
          type: "PatchStatus",
          status: "True",
          reason: "E2E",
          message: "m",
          lastTransitionTime: "2026-01-01T00:00:00Z",
        },
      ],
    },
  },
  {
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    kind: "PriorityLevelConfiguration",
    resource: "prioritylevelconfigurations",
    namespaced: false,
    fields: {
      spec: {
        type: "Limited",
        limited: {
          nominalConcurrencyShares: 2,
          limitResponse: { type: "Reject" },
        },
      },
    },
    statusIsAll: true,
    status: {
      conditions: [
        {
          type: "Other",
          status: "True",
          reason: "E2E",
          message: "m",
          lastTransitionTime: "2026-01-01T00:00:00Z",
        },
      ],
    },
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    resource: "validatingadmissionpolicies",
    namespaced: false,
    fields: { spec: webhookPolicySpec },
    statusIsAll: true,
    status: {
      observedGeneration: 1,
      conditions: [
        {
          type: "StatusUpdate",
          status: "True",
          reason: "E2E",
          message: "m",
          lastTransitionTime: "2026-01-01T00:00:00Z",
        },
      ],
    },
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    resource: "validatingadmissionpolicybindings",
    namespaced: false,
    fields: {
      spec: {
        policyName: "replicalimit-policy.example.com",
        validationActions: ["Deny"],
      },
    },
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    resource: "validatingwebhookconfigurations",
    namespaced: false,
    fields: { webhooks: [] },
  },
  {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    resource: "mutatingwebhookconfigurations",
    namespaced: false,
    fields: { webhooks: [] },
  },
];
