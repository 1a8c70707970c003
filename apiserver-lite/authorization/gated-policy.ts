// Roles that every cluster has while a feature gate is on, as at the reference. Pure.
import type { PolicyRule } from "../../api/types/rbac-v1.ts";

interface GatedPolicy {
  readonly gate: string;
  /** More rules of roles that are there whatever the gate. */
  readonly rules: Readonly<Record<string, readonly PolicyRule[]>>;
  /** Roles of controllers, and the service accounts of kube-system that are bound to them. */
  readonly controllers: Readonly<Record<string, readonly PolicyRule[]>>;
}

const read = ["get", "list", "watch"];
const readUpdate = ["get", "list", "patch", "update", "watch"];
const core = [""];
const resource = ["resource.k8s.io"];
const writeEvents: PolicyRule = {
  apiGroups: ["", "events.k8s.io"],
  resources: ["events"],
  verbs: ["create", "patch", "update"],
};

/** What monitoring may read while the gate is on. */
const readPath = (gate: string, path: string): GatedPolicy => ({
  gate,
  rules: { "system:monitoring": [{ nonResourceURLs: [path], verbs: ["get"] }] },
  controllers: {},
});

export const gatedPolicies: readonly GatedPolicy[] = [
  readPath("ComponentFlagz", "/flagz"),
  readPath("ComponentStatusz", "/statusz"),
  {
    gate: "KubeletFineGrainedAuthz",
    rules: {
      "system:kubelet-api-admin": [
        {
          apiGroups: core,
          resources: ["nodes/configz", "nodes/healthz", "nodes/pods"],
          verbs: ["*"],
        },
      ],
    },
    controllers: {},
  },
  {
    gate: "DynamicResourceAllocation",
    rules: {
      "system:kube-scheduler": [
        { apiGroups: resource, resources: ["deviceclasses"], verbs: read },
        {
          apiGroups: resource,
          resources: ["resourceclaims"],
          verbs: readUpdate,
        },
        {
          apiGroups: resource,
          resources: ["resourceclaims/status"],
          verbs: readUpdate,
        },
        { apiGroups: core, resources: ["pods/finalizers"], verbs: readUpdate },
        { apiGroups: resource, resources: ["resourceslices"], verbs: read },
      ],
    },
    controllers: {
      "resource-claim-controller": [
        { apiGroups: core, resources: ["pods"], verbs: read },
        { apiGroups: core, resources: ["pods/finalizers"], verbs: ["update"] },
        {
          apiGroups: resource,
          resources: ["resourceclaims"],
          verbs: ["create", "delete", ...read],
        },
        {
          apiGroups: resource,
          resources: ["resourceclaims", "resourceclaims/status"],
          verbs: ["patch", "update"],
        },
        {
          apiGroups: core,
          resources: ["pods/status"],
          verbs: ["patch", "update"],
        },
        writeEvents,
      ],
    },
  },
  {
    gate: "ClusterTrustBundle",
    rules: {},
    controllers: {
      "kube-apiserver-serving-clustertrustbundle-publisher": [
        {
          apiGroups: ["certificates.k8s.io"],
          resources: ["signers"],
          resourceNames: ["kubernetes.io/kube-apiserver-serving"],
          verbs: ["attest"],
        },
        {
          apiGroups: ["certificates.k8s.io"],
          resources: ["clustertrustbundles"],
          verbs: ["create", "delete", "list", "update", "watch"],
        },
        writeEvents,
      ],
    },
  },
];
