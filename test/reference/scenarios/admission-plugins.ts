// The admission plug-ins that are off by default, their configuration file, and PodSecurity's defaults and exemptions.
import { plain } from "../cases.ts";
import type { Scenario } from "../scenario.ts";
import { tryEach } from "../table.ts";

const configuration = `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: EventRateLimit
  configuration:
    apiVersion: eventratelimit.admission.k8s.io/v1alpha1
    kind: Configuration
    limits:
    - {type: Namespace, qps: 1, burst: 2}
    - {type: SourceAndObject, qps: 1, burst: 1}
- name: PodNodeSelector
  configuration:
    podNodeSelectorPluginConfig:
      clusterDefaultNodeSelector: env=dev
      ref-admission-plugins: env=dev,team=a
- name: PodTolerationRestriction
  configuration:
    apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1
    kind: Configuration
    default: [{key: dflt, operator: Exists, effect: NoSchedule}]
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    defaults: {warn: baseline, warn-version: v1.24}
    exemptions:
      usernames: [nobody]
      namespaces: [ref-exempt]
      runtimeClasses: [exempt]
- name: ResourceQuota
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: ResourceQuotaConfiguration
    limitedResources:
    - resource: persistentvolumeclaims
      matchContains: [gold.storageclass.storage.k8s.io/requests.storage]
    - resource: pods
      matchScopes:
      - {scopeName: PriorityClass, operator: In, values: [ref-limited]}
`;

const plugins = [
  "AlwaysPullImages",
  "DenyServiceExternalIPs",
  "EventRateLimit",
  "ExtendedResourceToleration",
  "LimitPodHardAntiAffinityTopology",
  "NamespaceAutoProvision",
  "NamespaceExists",
  "OwnerReferencesPermissionEnforcement",
  "PodNodeSelector",
  "PodTolerationRestriction",
];

const pod = (
  spec: object = {},
  metadata: object = {},
  container: object = {},
): object => ({
  metadata: { name: "p", ...metadata },
  spec: { containers: [{ name: "c", image: "i", ...container }], ...spec },
});
const antiAffinity = (topologyKey: string): object =>
  pod({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey, labelSelector: { matchLabels: { a: "b" } } },
        ],
      },
    },
  });
const asking = (requests: object): object =>
  pod({}, {}, { resources: { requests, limits: requests } });
const tolerating = (...tolerations: object[]): object => pod({ tolerations });
const merge = { "content-type": "application/merge-patch+json" };

export const admissionPlugins: Scenario = {
  name: "admission-plugins",
  options: [
    `--enable-admission-plugins=${plugins.join(",")}`,
    "--admission-control-config-file=@admission.yaml",
  ],
  files: { "admission.yaml": configuration },
  async run(server) {
    const { call, namespace } = server;
    const core = "/api/v1";
    const ns = `${core}/namespaces/${namespace}`;
    const make = (path: string, body: object): Promise<unknown> =>
      call("", "POST", path, { body, silent: true });
    const newNamespace = (
      name: string,
      annotations: object = {},
      labels: object = {},
    ): Promise<unknown> =>
      make(`${core}/namespaces`, { metadata: { name, annotations, labels } });

    await tryEach(server, `${ns}/pods`, "pods", pod(), {
      pulled: pod({}, {}, { imagePullPolicy: "Never" }),
      "pulled at the start": pod({
        initContainers: [{ name: "i", image: "x", imagePullPolicy: "Never" }],
      }),
      "on another host": antiAffinity("kubernetes.io/hostname"),
      "in another zone": antiAffinity("zone"),
      "another selector": pod({ nodeSelector: { env: "prod" } }),
      "selector that is allowed": pod({ nodeSelector: { team: "a" } }),
      "selector that is not": pod({ nodeSelector: { x: "y" } }),
      devices: asking({ "b.io/d": "1", "a.io/d": "2" }),
      tolerations: tolerating({ key: "dflt", operator: "Exists" }),
      "tolerations and memory": asking({ memory: "1Mi", cpu: "1" }),
    });
    await newNamespace("ref-selecting", {
      "scheduler.alpha.kubernetes.io/node-selector": "a=b, c=d",
      "scheduler.alpha.kubernetes.io/defaultTolerations":
        '[{"key":"a","operator":"Exists","effect":"NoSchedule"}]',
      "scheduler.alpha.kubernetes.io/tolerationsWhitelist":
        '[{"key":"a","operator":"Exists"},{"operator":"Exists","effect":"NoExecute"}]',
    });
    await tryEach(
      server,
      `${core}/namespaces/ref-selecting/pods`,
      "by annotations",
      pod(),
      {
        "another selector": pod({ nodeSelector: { a: "x" } }),
        tolerated: tolerating({
          key: "a",
          operator: "Equal",
          value: "1",
          effect: "NoSchedule",
        }),
        "tolerated too much": tolerating({ key: "b", operator: "Exists" }),
        "tolerating memory": asking({ memory: "1Mi" }),
      },
    );
    for (const [label, key, value] of [
      ["selector", "node-selector", "a"],
      ["label", "node-selector", "a=-"],
      ["key", "node-selector", "-=a"],
      ["empty tolerations", "defaultTolerations", ""],
    ] as const) {
      const name = `ref-bad-${label.replace(" ", "-")}`;
      await newNamespace(name, {
        [`scheduler.alpha.kubernetes.io/${key}`]: value,
      });
      await call(
        `a namespace's ${label}`,
        "POST",
        `${core}/namespaces/${name}/pods?dryRun=All`,
        { body: pod(), ...plain, lean: true },
      );
    }

    const service = (name: string, spec: object): object => ({
      metadata: { name },
      spec: { ports: [{ port: 80 }], ...spec },
    });
    await make(`${ns}/services`, service("plain", {}));
    for (const [label, method, path, body] of [
      [
        "an external address",
        "POST",
        `${ns}/services`,
        service("s", { externalIPs: ["1.1.1.1"] }),
      ],
      [
        "an external address later",
        "PATCH",
        `${ns}/services/plain`,
        { spec: { externalIPs: ["1.1.1.1"] } },
      ],
    ] as const)
      await call(label, method, path, {
        body,
        headers: method === "PATCH" ? merge : {},
        ...plain,
      });

    for (let index = 0; index < 30; index++)
      await make(`${ns}/events`, {
        metadata: { name: `e${index}`, namespace },
        involvedObject: { namespace, name: `o${index}` },
      });
    const late = (name: string): object => ({
      body: {
        metadata: { name, namespace },
        involvedObject: { namespace, name: "o29" },
      },
      ...plain,
    });
    // A second gives each of the two limits one back.
    await call("an event too many", "POST", `${ns}/events`, {
      ...late("many"),
      until: ({ text }) => /type Namespace.*type SourceAndObject/.test(text),
    });
    await call("in a dry run", "POST", `${ns}/events?dryRun=All`, late("late"));

    const first = { body: { metadata: { name: "first" } }, ...plain };
    await call(
      "a dry run in no namespace",
      "POST",
      `${core}/namespaces/ref-made/configmaps?dryRun=All`,
      first,
    );
    await call(
      "an object in no namespace",
      "POST",
      `${core}/namespaces/ref-made/configmaps`,
      first,
    );
    await call("its namespace", "GET", `${core}/namespaces/ref-made`, {
      keep: (body) => (body as { spec?: unknown }).spec,
    });
    await call(
      "a deletion in no namespace",
      "DELETE",
      `${core}/namespaces/ref-none/configmaps/x`,
      plain,
    );

    await owners(server, ns);
    await podSecurity(server);
    await limitedResources(server, ns);
  },
};

async function owners(
  { call, namespace }: Parameters<Scenario["run"]>[0],
  ns: string,
): Promise<void> {
  const make = (path: string, body: object): Promise<unknown> =>
    call("", "POST", path, { body, silent: true });
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const rights = [
    {
      apiGroups: [""],
      resources: ["configmaps"],
      verbs: ["create", "update", "patch", "get"],
    },
  ];
  await make(`${rbac}/roles`, { metadata: { name: "writer" }, rules: rights });
  await make(`${rbac}/rolebindings`, {
    metadata: { name: "writer" },
    subjects: [
      { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "alice" },
    ],
    roleRef: {
      apiGroup: "rbac.authorization.k8s.io",
      kind: "Role",
      name: "writer",
    },
  });
  const owner = (extra: object = {}): object => ({
    ...{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "r", uid: "1" },
    ...extra,
  });
  const owned = (name: string, ...ownerReferences: object[]): object => ({
    metadata: { name, ownerReferences },
  });
  const alice = { authorization: "Bearer alice" };
  const blocking = { blockOwnerDeletion: true };
  for (const [label, body] of [
    ["an owner", owned("owned", owner())],
    ["an owner to wait for", owned("x", owner(blocking))],
    [
      "a cluster's owner to wait for",
      owned("x", owner({ ...blocking, apiVersion: "v1", kind: "Node" })),
    ],
    [
      "an owner of an unknown kind",
      owned("x", owner({ ...blocking, kind: "Nothing" })),
    ],
    [
      "an owner of an unknown group",
      owned("x", owner({ ...blocking, apiVersion: "none.io/v1" })),
    ],
  ] as const)
    await call(label, "POST", `${ns}/configmaps`, {
      body,
      headers: alice,
      ...plain,
    });
  await call("an owner taken away", "PATCH", `${ns}/configmaps/owned`, {
    body: { metadata: { ownerReferences: null } },
    headers: { ...alice, ...merge },
    ...plain,
  });
  await call("the admin's owner", "POST", `${ns}/configmaps`, {
    body: owned("admins", owner(blocking)),
    ...plain,
  });
}

async function podSecurity(
  server: Parameters<Scenario["run"]>[0],
): Promise<void> {
  const { call } = server;
  const namespaces = "/api/v1/namespaces";
  const label = (name: string): string => `pod-security.kubernetes.io/${name}`;
  const labelled = (name: string, labels: Record<string, string>): object => ({
    metadata: {
      name,
      labels: Object.fromEntries(
        Object.entries(labels).map(([key, value]) => [label(key), value]),
      ),
    },
  });
  await tryEach(server, namespaces, "labels", labelled("ref-ps", {}), {
    good: labelled("ref-ps", { enforce: "baseline", "audit-version": "v1.2" }),
    bad: labelled("ref-ps", {
      enforce: "x",
      "enforce-version": "1",
      audit: "y",
      "warn-version": "v2.0",
    }),
    exempt: labelled("ref-exempt", { enforce: "restricted" }),
  });
  for (const name of ["ref-ps", "ref-exempt"])
    await call("", "POST", namespaces, {
      body: labelled(name, {}),
      silent: true,
    });
  for (const [name, spec] of [
    ["host", { hostNetwork: true }],
    ["host2", { hostNetwork: true }],
    ["ids", { hostPID: true, hostIPC: true }],
    ["plain", {}],
  ] as const)
    for (const at of ["ref-ps", "ref-exempt"])
      await call(
        at === "ref-ps" ? `pod ${name} with warnings` : `pod ${name} exempt`,
        "POST",
        `${namespaces}/${at}/pods`,
        { body: pod(spec, { name }), lean: true, keep: () => undefined },
      );
  for (const [what, at, labels] of [
    ["a stricter level", "ref-ps", { enforce: "baseline" }],
    ["an old version", "ref-ps", { "enforce-version": "v1.0" }],
    ["restricted", "ref-ps", { enforce: "restricted" }],
    ["a laxer level", "ref-ps", { enforce: "baseline" }],
    ["a bad level", "ref-ps", { enforce: "x" }],
    ["an exempt namespace", "ref-exempt", { enforce: "baseline" }],
  ] as const)
    await call(what, "PATCH", `${namespaces}/${at}`, {
      body: labelled(at, labels),
      headers: merge,
      keep: (body) =>
        (body as { kind?: string }).kind === "Status"
          ? (body as { message: unknown }).message
          : undefined,
      lean: true,
    });
}

async function limitedResources(
  server: Parameters<Scenario["run"]>[0],
  ns: string,
): Promise<void> {
  const { call } = server;
  const classes = [
    [
      "/apis/scheduling.k8s.io/v1/priorityclasses",
      { value: 10 },
      "ref-limited",
    ],
    ["/apis/storage.k8s.io/v1/storageclasses", { provisioner: "p" }, "gold"],
  ] as const;
  for (const [path, fields, name] of classes)
    await call("", "POST", path, {
      body: { metadata: { name }, ...fields },
      silent: true,
    });
  const claim = (storageClassName?: string): object => ({
    metadata: { name: "c" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
      ...(storageClassName ? { storageClassName } : {}),
    },
  });
  await tryEach(
    server,
    `${ns}/persistentvolumeclaims`,
    "limited claims",
    claim("other"),
    { gold: claim("gold") },
  );
  await tryEach(server, `${ns}/pods`, "limited pods", pod(), {
    priority: pod({ priorityClassName: "ref-limited" }),
  });
}
