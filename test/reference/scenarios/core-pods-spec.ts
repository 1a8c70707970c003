// What a pod says of itself beside containers and volumes: restarts, DNS, names, security, where it may run; and what is
// warned of.
import type { Scenario } from "../scenario.ts";
import { tryEach } from "../table.ts";

const good = { name: "c", image: "i" };
const pod = (spec: object, metadata: object = {}): object => ({
  metadata: { name: "p", ...metadata },
  spec: { containers: [good], ...spec },
});
const long = (length: number): string => "a".repeat(length);
const security = (securityContext: object): object => pod({ securityContext });
const dns = (dnsConfig: object, dnsPolicy = "None"): object =>
  pod({ dnsConfig, dnsPolicy });
const tolerate = (...tolerations: object[]): object => pod({ tolerations });
const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
const nodeTerms = (...nodeSelectorTerms: unknown[]): object =>
  pod({ affinity: { nodeAffinity: { [required]: { nodeSelectorTerms } } } });
const expressions = (...matchExpressions: unknown[]): object =>
  nodeTerms({ matchExpressions });
const podTerm = (term: object): object =>
  pod({ affinity: { podAffinity: { [required]: [term] } } });
const spread = (...topologySpreadConstraints: object[]): object =>
  pod({ topologySpreadConstraints });
const constraint = {
  maxSkew: 1,
  topologyKey: "zone",
  whenUnsatisfiable: "DoNotSchedule",
};

const plain = {
  "restart policy": pod({ restartPolicy: "Sometimes" }),
  "empty restart policy": pod({ restartPolicy: "" }),
  "grace negative": pod({ terminationGracePeriodSeconds: -5 }),
  "grace zero": pod({ terminationGracePeriodSeconds: 0 }),
  "deadline zero": pod({ activeDeadlineSeconds: 0 }),
  "deadline negative": pod({ activeDeadlineSeconds: -1 }),
  "deadline too large": pod({ activeDeadlineSeconds: 2147483648 }),
  hostname: pod({ hostname: "A.b" }),
  "hostname long": pod({ hostname: long(64) }),
  subdomain: pod({ subdomain: "a.b" }),
  "service account": pod({ serviceAccountName: "A_" }),
  "service account by the old name": pod({ serviceAccount: "x" }),
  "service accounts differ": pod({
    serviceAccount: "x",
    serviceAccountName: "y",
  }),
  "node name": pod({ nodeName: "A_" }),
  "node name fine": pod({ nodeName: "n" }),
  "priority class": pod({ priorityClassName: "A_" }),
  "priority class unknown": pod({ priorityClassName: "none" }),
  "priority class system": pod({ priorityClassName: "system-node-critical" }),
  "priority given": pod({ priority: 5 }),
  "preemption policy": pod({ preemptionPolicy: "Never" }),
  "preemption policy wrong": pod({ preemptionPolicy: "Maybe" }),
  "runtime class": pod({ runtimeClassName: "A_" }),
  "runtime class unknown": pod({ runtimeClassName: "none" }),
  "scheduler name": pod({ schedulerName: "A_" }),
  "scheduler empty": pod({ schedulerName: "" }),
  "pull secrets": pod({
    imagePullSecrets: [{}, { name: "" }, { name: "a" }, { name: "a" }],
  }),
  "pull secrets strange": pod({ imagePullSecrets: [{ name: "A_" }] }),
  "host aliases": pod({
    hostAliases: [
      { ip: "x", hostnames: ["A_"] },
      {},
      { ip: "1.1.1.1", hostnames: ["a.b"] },
    ],
  }),
  "host aliases without names": pod({ hostAliases: [{ ip: "1.1.1.1" }] }),
  "readiness gates": pod({
    readinessGates: [{ conditionType: "a b" }, {}, { conditionType: "a/b" }],
  }),
  "scheduling gates": pod({
    schedulingGates: [{ name: "a b" }, { name: "x" }, { name: "x" }, {}],
  }),
  "scheduling gates and a node": pod({
    schedulingGates: [{ name: "x" }],
    nodeName: "n",
  }),
  "scheduling gates fine": pod({
    schedulingGates: [{ name: "example.com/x" }],
  }),
  overhead: pod({ overhead: { cpu: "1" } }),
  os: pod({ os: {} }),
  "os unknown": pod({ os: { name: "beos" } }),
  "os linux": pod({ os: { name: "linux" } }),
  "os linux with windows options": pod({
    os: { name: "linux" },
    securityContext: { windowsOptions: { runAsUserName: "a" } },
  }),
  "os windows with linux options": pod({
    os: { name: "windows" },
    hostPID: true,
    hostIPC: true,
    hostNetwork: false,
    shareProcessNamespace: true,
    securityContext: {
      runAsUser: 1,
      fsGroup: 1,
      runAsGroup: 1,
      supplementalGroups: [1],
      seLinuxOptions: {},
      seccompProfile: { type: "Unconfined" },
      sysctls: [{ name: "a", value: "b" }],
      fsGroupChangePolicy: "Always",
    },
    containers: [
      {
        ...good,
        securityContext: {
          capabilities: {},
          readOnlyRootFilesystem: true,
          privileged: false,
          allowPrivilegeEscalation: true,
          runAsUser: 1,
        },
      },
    ],
  }),
  "host pid and shared": pod({ hostPID: true, shareProcessNamespace: true }),
  "host users": pod({
    hostUsers: false,
    hostNetwork: true,
    hostPID: true,
    hostIPC: true,
  }),
  "host users alone": pod({ hostUsers: false }),
  "host users true": pod({ hostUsers: true }),
  "node selector": pod({ nodeSelector: { "a b": "c d" } }),
  "node selector empty": pod({ nodeSelector: {} }),
  "set hostname as FQDN": pod({
    setHostnameAsFQDN: true,
    hostname: "h",
    subdomain: "s",
  }),
  "service links": pod({ enableServiceLinks: false }),
  "resource claims": pod({
    resourceClaims: [
      { name: "A_" },
      {},
      { name: "x", resourceClaimName: "a" },
      { name: "x", resourceClaimName: "a" },
    ],
  }),
  "ephemeral null": pod({
    ephemeralContainers: null,
    initContainers: null,
    volumes: null,
    tolerations: null,
    affinity: null,
  }),
};

const dnsRows = {
  policy: pod({ dnsPolicy: "Always" }),
  "policy empty": pod({ dnsPolicy: "" }),
  "none without config": pod({ dnsPolicy: "None" }),
  "none without servers": dns({}),
  servers: dns({ nameservers: ["x", "1.1.1.1", "2.2.2.2", "3.3.3.3"] }),
  searches: dns({
    nameservers: ["1.1.1.1"],
    searches: ["A_", "a.", ".", "", "_a.b"],
  }),
  "many searches": dns({
    nameservers: ["1.1.1.1"],
    searches: Array.from({ length: 33 }, (_, index) => `a${index}`),
  }),
  options: dns({
    nameservers: ["1.1.1.1"],
    options: [{}, { name: "a" }, { name: "ndots", value: "5" }],
  }),
  "beside a policy": dns({ searches: ["a"] }, "ClusterFirst"),
  "empty config": dns({}, "Default"),
};

const securityRows = {
  ids: security({
    runAsUser: -1,
    runAsGroup: -1,
    fsGroup: -1,
    supplementalGroups: [1, -1, 2147483648],
  }),
  "group policy": security({ fsGroupChangePolicy: "x" }),
  "groups policy": security({ supplementalGroupsPolicy: "x" }),
  sysctls: security({
    sysctls: [
      { name: "A" },
      { name: "" },
      { name: "net.a", value: "1" },
      { name: "net/a", value: "1" },
    ],
  }),
  "sysctl of the host": pod({
    hostNetwork: true,
    hostIPC: true,
    securityContext: {
      sysctls: [
        { name: "net.a", value: "1" },
        { name: "kernel.shmmax", value: "1" },
      ],
    },
  }),
  "seccomp local": security({
    seccompProfile: { type: "Localhost", localhostProfile: "y" },
  }),
  apparmor: security({ appArmorProfile: { type: "x", localhostProfile: "y" } }),
  "apparmor beside an annotation": pod(
    { securityContext: { appArmorProfile: { type: "RuntimeDefault" } } },
    {
      annotations: {
        "container.apparmor.security.beta.kubernetes.io/c": "unconfined",
      },
    },
  ),
  windows: security({ windowsOptions: { hostProcess: true } }),
  "windows host process": pod({
    hostNetwork: true,
    securityContext: { windowsOptions: { hostProcess: true } },
  }),
  "windows user": security({
    windowsOptions: { runAsUserName: `${long(65)}\\${long(21)}` },
  }),
  "windows user forms": security({ windowsOptions: { runAsUserName: "\\a" } }),
};

const scheduling = {
  "toleration empty": tolerate({}),
  "toleration value without a key": tolerate({ value: "x" }),
  "toleration all": tolerate({ operator: "Exists" }),
  "toleration exists with a value": tolerate({
    key: "a",
    operator: "Exists",
    value: "b",
  }),
  "toleration operator": tolerate({ key: "a", operator: "In" }),
  "toleration effect": tolerate({ key: "a", effect: "Never" }),
  "toleration seconds": tolerate({
    key: "a",
    tolerationSeconds: 5,
    effect: "NoSchedule",
  }),
  "toleration key": tolerate({ key: "a b", value: "c d" }),
  "toleration value long": tolerate({ key: "a", value: `-${long(64)}` }),
  "toleration twice": tolerate({ key: "a" }, { key: "a" }),
  "node terms none": nodeTerms(),
  "node term empty": nodeTerms({}),
  "node operators": expressions(
    { key: "a", operator: "In" },
    { key: "a", operator: "Exists", values: ["x"] },
    { key: "a", operator: "Gt", values: ["1", "2"] },
    { key: "a", operator: "Gt", values: ["x"] },
    { key: "a", operator: "Is" },
    {},
    { key: "a b", operator: "Exists" },
    { key: "a", operator: "In", values: ["c d"] },
  ),
  "node fields": nodeTerms({
    matchFields: [
      { key: "metadata.name", operator: "In", values: ["a", "b"] },
      { key: "x", operator: "In", values: ["a"] },
      { key: "metadata.name", operator: "Exists" },
      { key: "metadata.name", operator: "NotIn", values: ["A_"] },
    ],
  }),
  "node preferred": pod({
    affinity: {
      nodeAffinity: {
        [preferred]: [
          { weight: 0, preference: {} },
          {
            weight: 101,
            preference: { matchExpressions: [{ key: "a", operator: "In" }] },
          },
        ],
      },
    },
  }),
  "pod term empty": podTerm({}),
  "pod term": podTerm({ topologyKey: "zone" }),
  "pod term selector": podTerm({
    topologyKey: "a b",
    namespaces: ["A_"],
    labelSelector: {
      matchLabels: { "a b": "c d" },
      matchExpressions: [{ key: "a", operator: "Gt" }],
    },
    namespaceSelector: { matchExpressions: [{ key: "a", operator: "In" }] },
  }),
  "pod term keys": podTerm({
    topologyKey: "zone",
    matchLabelKeys: ["a", "a b"],
    mismatchLabelKeys: ["a"],
    labelSelector: { matchLabels: { a: "b" } },
  }),
  "pod term keys without a selector": podTerm({
    topologyKey: "zone",
    matchLabelKeys: ["a"],
  }),
  "pod preferred": pod({
    affinity: {
      podAntiAffinity: { [preferred]: [{ weight: 0, podAffinityTerm: {} }] },
    },
  }),
  "spread empty": spread({}),
  spread: spread(constraint),
  "spread wrong": spread({
    maxSkew: -1,
    topologyKey: "a b",
    whenUnsatisfiable: "x",
  }),
  "spread twice": spread(constraint, constraint),
  "spread minimum": spread({ ...constraint, minDomains: 0 }),
  "spread minimum anyway": spread({
    ...constraint,
    whenUnsatisfiable: "ScheduleAnyway",
    minDomains: 2,
  }),
  "spread policies": spread({
    ...constraint,
    nodeAffinityPolicy: "x",
    nodeTaintsPolicy: "y",
  }),
  "spread keys": spread({
    ...constraint,
    matchLabelKeys: ["a", "a b"],
    labelSelector: { matchLabels: { a: "b" } },
  }),
  "spread keys without a selector": spread({
    ...constraint,
    matchLabelKeys: ["a"],
  }),
  "spread selector": spread({
    ...constraint,
    labelSelector: { matchExpressions: [{ key: "a", operator: "x" }] },
  }),
};

const warned = {
  "node label": pod({ nodeSelector: { "beta.kubernetes.io/os": "linux" } }),
  "zone label": pod({
    nodeSelector: { "failure-domain.beta.kubernetes.io/zone": "x" },
  }),
  "node affinity labels": expressions({
    key: "beta.kubernetes.io/arch",
    operator: "Exists",
  }),
  "topology key": spread({
    ...constraint,
    topologyKey: "failure-domain.beta.kubernetes.io/region",
  }),
  "seccomp annotations": pod(
    {},
    {
      annotations: {
        "seccomp.security.alpha.kubernetes.io/pod": "runtime/default",
        "container.seccomp.security.alpha.kubernetes.io/c": "unconfined",
      },
    },
  ),
  "apparmor annotations": pod(
    {},
    {
      annotations: {
        "container.apparmor.security.beta.kubernetes.io/c": "runtime/default",
      },
    },
  ),
  "apparmor annotation wrong": pod(
    {},
    {
      annotations: { "container.apparmor.security.beta.kubernetes.io/c": "x" },
    },
  ),
  "apparmor annotation of no container": pod(
    {},
    {
      annotations: {
        "container.apparmor.security.beta.kubernetes.io/d": "unconfined",
      },
    },
  ),
  "aliases twice": pod({
    hostAliases: [
      { ip: "1.1.1.1", hostnames: ["a"] },
      { ip: "1.1.1.1", hostnames: ["b"] },
    ],
  }),
  "grace negative": pod({ terminationGracePeriodSeconds: -1 }),
  "deletion cost": pod(
    {},
    { annotations: { "controller.kubernetes.io/pod-deletion-cost": "x" } },
  ),
  "deletion cost plus": pod(
    {},
    { annotations: { "controller.kubernetes.io/pod-deletion-cost": "+1" } },
  ),
  "mirror annotation": pod(
    {},
    { annotations: { "kubernetes.io/config.mirror": "x" } },
  ),
  "tolerations annotation": pod(
    {},
    { annotations: { "scheduler.alpha.kubernetes.io/tolerations": "x" } },
  ),
  "critical annotation": pod(
    {},
    { annotations: { "scheduler.alpha.kubernetes.io/critical-pod": "" } },
  ),
  "overlapping mounts": pod({
    volumes: [
      {
        name: "v",
        projected: {
          sources: [
            { secret: { name: "a" } },
            { secret: { name: "a" } },
            { configMap: { name: "a" } },
            { configMap: { name: "a" } },
          ],
        },
      },
    ],
  }),
  "empty names": pod({
    imagePullSecrets: [{}],
    volumes: [{ name: "v", secret: { secretName: "a" } }],
  }),
};

/** With version and kind: what is said of a body without them is another scenario's. */
const kinds = Object.fromEntries(
  Object.entries({
    "spec is a list": { metadata: { name: "p" }, spec: [] },
    "spec is a text": { metadata: { name: "p" }, spec: "x" },
    "containers is an object": pod({ containers: {} }),
    "container is a text": pod({ containers: ["x"] }),
    "container is null": pod({ containers: [null] }),
    "name is a number": pod({ containers: [{ name: 1, image: "i" }] }),
    "port is a text": pod({
      containers: [{ ...good, ports: [{ containerPort: "80" }] }],
    }),
    "port is a fraction": pod({
      containers: [{ ...good, ports: [{ containerPort: 80.5 }] }],
    }),
    "port is huge": pod({
      containers: [{ ...good, ports: [{ containerPort: 4294967296 }] }],
    }),
    "flag is a text": pod({ hostNetwork: "true" }),
    "flag is a number": pod({ hostNetwork: 1 }),
    "env value is a number": pod({
      containers: [{ ...good, env: [{ name: "a", value: 5 }] }],
    }),
    "labels is a list": pod({}, { labels: [] }),
    "label is a number": pod({}, { labels: { a: 1 } }),
    "label is null": pod({}, { labels: { a: null } }),
    "annotation is an object": pod({}, { annotations: { a: {} } }),
    "grace is a text": pod({ terminationGracePeriodSeconds: "30" }),
    "grace is a fraction": pod({ terminationGracePeriodSeconds: 1.5 }),
    "cpu is a list": pod({
      containers: [{ ...good, resources: { limits: { cpu: [] } } }],
    }),
    "cpu is null": pod({
      containers: [{ ...good, resources: { limits: { cpu: null } } }],
    }),
    "time is a text": pod({}, { creationTimestamp: "yesterday" }),
    "unknown fields": {
      ...pod({ hostNetwerk: true, containers: [{ ...good, imag: "x" }] }),
      extra: 1,
    },
    "unknown metadata": pod({}, { nam: "x" }),
    "field in another case": pod({ HostNetwork: true, Containers: [] }),
  }).map(([label, body]) => [
    label,
    { apiVersion: "v1", kind: "Pod", ...body },
  ]),
);

export const corePodsSpec: Scenario = {
  name: "core-pods-spec",
  async run(server) {
    const path = `/api/v1/namespaces/${server.namespace}/pods`;
    for (const [prefix, rows] of Object.entries({
      plain,
      dns: dnsRows,
      security: securityRows,
      scheduling,
      warned,
      kinds,
    }))
      await tryEach(server, path, prefix, pod({}), rows);
  },
};
