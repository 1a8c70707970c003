// What a cluster needs so that nodes can join it by token: the ConfigMap cluster-info, which everybody may read, and the
// permissions of joining nodes and of the parts of their network. Made by `orbit token create`; objects that are there stay.
import { isAlreadyExists, isNotFound } from "../../api/errors.ts";
import type { ConfigMap } from "../../api/types/core-v1.ts";
import type { PolicyRule, Subject } from "../../api/types/rbac-v1.ts";
import type { Client } from "../../client/client.ts";
import {
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  roleBindings,
  roles,
} from "../../client/resources.ts";

/** Tokens' extra group: what it may do is bound to it here. */
export const joiningGroup = "system:bootstrappers:orbit:default-node-token";

const rbac = "rbac.authorization.k8s.io";
const publicNamespace = "kube-public";
const systemNamespace = "kube-system";
const infoName = "cluster-info";

const group = (name: string): Subject => ({
  apiGroup: rbac,
  kind: "Group",
  name,
});
const read = ["get", "list", "watch"];

/** What the service proxy, the DNS server, routes and network policies follow. */
const networkRules: readonly PolicyRule[] = [
  {
    apiGroups: [""],
    resources: ["services", "nodes", "namespaces", "pods"],
    verbs: read,
  },
  {
    apiGroups: ["discovery.k8s.io"],
    resources: ["endpointslices"],
    verbs: read,
  },
  {
    apiGroups: ["networking.k8s.io"],
    resources: ["networkpolicies"],
    verbs: read,
  },
];

/** What the ingress follows and writes. Not bound: it lets a node read all Secrets. */
const ingressRules: readonly PolicyRule[] = [
  {
    apiGroups: [""],
    resources: ["services", "nodes", "namespaces", "secrets", "configmaps"],
    verbs: read,
  },
  { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
  {
    apiGroups: ["discovery.k8s.io"],
    resources: ["endpointslices"],
    verbs: read,
  },
  {
    apiGroups: ["networking.k8s.io"],
    resources: ["ingresses", "ingressclasses"],
    verbs: read,
  },
  {
    apiGroups: ["networking.k8s.io"],
    resources: ["ingressclasses"],
    verbs: ["create"],
  },
  {
    apiGroups: ["networking.k8s.io"],
    resources: ["ingresses/status"],
    verbs: ["patch"],
  },
  {
    apiGroups: ["apiextensions.k8s.io"],
    resources: ["customresourcedefinitions"],
    verbs: read,
  },
  {
    apiGroups: ["gateway.networking.k8s.io"],
    resources: ["gatewayclasses", "gateways", "httproutes", "referencegrants"],
    verbs: read,
  },
  {
    apiGroups: ["gateway.networking.k8s.io"],
    resources: ["gatewayclasses"],
    verbs: ["create"],
  },
  {
    apiGroups: ["gateway.networking.k8s.io"],
    resources: [
      "gatewayclasses/status",
      "gateways/status",
      "httproutes/status",
    ],
    verbs: ["update"],
  },
];

interface Grant {
  readonly name: string;
  /** Undefined: for the whole cluster. */
  readonly namespace?: string;
  /** Undefined: a role of that name exists. */
  readonly rules?: readonly PolicyRule[];
  readonly role?: string;
  readonly subject: Subject;
}

const grants: readonly Grant[] = [
  {
    name: "orbit:cluster-info",
    namespace: publicNamespace,
    rules: [
      {
        apiGroups: [""],
        resources: ["configmaps"],
        resourceNames: [infoName],
        verbs: ["get"],
      },
    ],
    subject: { apiGroup: rbac, kind: "User", name: "system:anonymous" },
  },
  {
    name: "orbit:joining-nodes",
    role: "system:node-bootstrapper",
    subject: group(joiningGroup),
  },
  {
    name: "orbit:joining-nodes-certificates",
    role: "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
    subject: group(joiningGroup),
  },
  {
    name: "orbit:joining-nodes-names",
    rules: [{ apiGroups: [""], resources: ["nodes"], verbs: ["get"] }],
    subject: group(joiningGroup),
  },
  {
    name: "orbit:nodes-renew-certificates",
    role: "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
    subject: group("system:nodes"),
  },
  {
    name: "orbit:node-network",
    rules: networkRules,
    subject: group("system:nodes"),
  },
  {
    name: "orbit:node-dns",
    namespace: systemNamespace,
    rules: [
      {
        apiGroups: [""],
        resources: ["configmaps"],
        resourceNames: ["kube-dns"],
        verbs: read,
      },
    ],
    subject: group("system:nodes"),
  },
];

async function unlessThere(create: Promise<unknown>): Promise<void> {
  await create.catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

async function ensureGrant(client: Client, grant: Grant): Promise<void> {
  const { name, namespace, rules, role, subject } = grant;
  const metadata = { name, ...(namespace ? { namespace } : {}) };
  if (rules)
    await unlessThere(
      client
        .resource(namespace ? roles : clusterRoles)
        .create({ metadata, rules: [...rules] }),
    );
  await unlessThere(
    client.resource(namespace ? roleBindings : clusterRoleBindings).create({
      metadata,
      roleRef: {
        apiGroup: rbac,
        kind: namespace ? "Role" : "ClusterRole",
        name: role ?? name,
      },
      subjects: [subject],
    }),
  );
}

/** As kubeadm writes it: a cluster without credentials. */
function infoKubeconfig(server: string, authority: string): string {
  return [
    "apiVersion: v1",
    "clusters:",
    "- cluster:",
    `    certificate-authority-data: ${Buffer.from(authority).toString("base64")}`,
    `    server: ${server}`,
    '  name: ""',
    "contexts: null",
    'current-context: ""',
    "kind: Config",
    "preferences: {}",
    "users: null",
    "",
  ].join("\n");
}

async function ensureInfo(
  client: Client,
  server: string,
  authority: string,
): Promise<void> {
  const maps = client.resource(configMaps);
  const kubeconfig = infoKubeconfig(server, authority);
  const found = await maps
    .get(infoName, publicNamespace)
    .catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
  if (!found)
    await maps.create({
      metadata: { name: infoName, namespace: publicNamespace },
      data: { kubeconfig },
    });
  // Another authority: a signature over the old one is worth nothing to a node that joins now.
  else if (
    !found.data?.["kubeconfig"]?.includes(
      Buffer.from(authority).toString("base64"),
    )
  )
    await maps.update({
      ...found,
      data: { ...found.data, kubeconfig },
    } as ConfigMap);
}

/** @param server URL of the API server, and @param authority its authority (PEM), as joining nodes see them */
export async function ensureJoinObjects(
  client: Client,
  server: string,
  authority: string,
): Promise<void> {
  await ensureInfo(client, server, authority);
  for (const grant of grants) await ensureGrant(client, grant);
  await unlessThere(
    client.resource(clusterRoles).create({
      metadata: { name: "orbit:ingress" },
      rules: [...ingressRules],
    }),
  );
}
