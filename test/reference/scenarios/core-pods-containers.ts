// What a pod's containers may say: names, images, ports, environment, mounts, probes, hooks, resources, security.
import type { Scenario } from "../scenario.ts";
import { tryEach } from "../table.ts";

const good = { name: "c", image: "i" };
const long = (length: number): string => "a".repeat(length);
const volumes = [
  { name: "v", emptyDir: {} },
  { name: "claim", persistentVolumeClaim: { claimName: "x" } },
  { name: "img", image: { reference: "r" } },
];
const pod = (spec: object): object => ({
  metadata: { name: "p" },
  spec: { containers: [good], volumes: [volumes[0], volumes[1]], ...spec },
});
const container = (fields: object): object =>
  pod({ containers: [{ ...good, ...fields }] });
const init = (fields: object): object =>
  pod({ initContainers: [{ name: "i", image: "i", ...fields }] });
const env = (...list: object[]): object => container({ env: list });
const from = (valueFrom: object, more: object = {}): object =>
  env({ name: "E", valueFrom, ...more });
const ports = (...list: object[]): object => container({ ports: list });
const mounts = (...list: object[]): object => container({ volumeMounts: list });
const live = (livenessProbe: object): object => container({ livenessProbe });
const http = { httpGet: { port: 80 } };
const security = (securityContext: object): object =>
  container({ securityContext });

const names = {
  "no containers": pod({ containers: [] }),
  "containers missing": { metadata: { name: "p" }, spec: {} },
  "spec missing": { metadata: { name: "p" } },
  "spec null": { metadata: { name: "p" }, spec: null },
  "containers null": pod({ containers: null }),
  "empty container": pod({ containers: [{}] }),
  "name missing": pod({ containers: [{ image: "i" }] }),
  "image missing": pod({ containers: [{ name: "c" }] }),
  "bad name": container({ name: "A_b" }),
  "long name": container({ name: long(64) }),
  "name with a dot": container({ name: "a.b" }),
  "image with spaces": container({ image: " i " }),
  "image empty": container({ image: "" }),
  "image is a space": container({ image: " " }),
  "same name twice": pod({ containers: [good, good] }),
  "same name three times": pod({ containers: [good, good, good] }),
  "init with an app's name": pod({ initContainers: [good] }),
  "init without anything": pod({ initContainers: [{}] }),
  "init twice": pod({
    initContainers: [
      { name: "i", image: "i" },
      { name: "i", image: "i" },
    ],
  }),
  "ephemeral at creation": pod({
    ephemeralContainers: [{ name: "e", image: "i" }],
  }),
  "pull policy": container({ imagePullPolicy: "Sometimes" }),
  "message policy": container({ terminationMessagePolicy: "Never" }),
  "message path empty": container({ terminationMessagePath: "" }),
  "restart policy of an app": container({ restartPolicy: "Always" }),
  "restart policy of an init": init({ restartPolicy: "OnFailure" }),
  "empty restart policy of an init": init({ restartPolicy: "" }),
  "many at once": pod({
    containers: [
      {
        name: "A",
        image: "",
        imagePullPolicy: "x",
        ports: [{ containerPort: 0 }],
        env: [{ name: "" }],
        volumeMounts: [{}],
        resources: { limits: { cpu: "-1" } },
        livenessProbe: {},
        securityContext: { runAsUser: -1 },
      },
      { name: "A", image: "i" },
    ],
    restartPolicy: "x",
    dnsPolicy: "y",
    volumes: [{ name: "" }],
    hostNetwork: true,
    terminationGracePeriodSeconds: -1,
    activeDeadlineSeconds: 0,
  }),
};

const portRows = {
  "no number": ports({}),
  zero: ports({ containerPort: 0 }),
  negative: ports({ containerPort: -1 }),
  "too large": ports({ containerPort: 65536 }),
  "host port too large": ports({ containerPort: 80, hostPort: 65536 }),
  "host port negative": ports({ containerPort: 80, hostPort: -1 }),
  protocol: ports({ containerPort: 80, protocol: "ICMP" }),
  "protocol lower case": ports({ containerPort: 80, protocol: "tcp" }),
  sctp: ports({ containerPort: 80, protocol: "SCTP" }),
  "name too long": ports({ containerPort: 80, name: long(16) }),
  "name of digits": ports({ containerPort: 80, name: "123" }),
  "name upper case": ports({ containerPort: 80, name: "Http" }),
  "name with two dashes": ports({ containerPort: 80, name: "a--b" }),
  "name starting with a dash": ports({ containerPort: 80, name: "-a" }),
  "many name problems": ports({
    containerPort: 80,
    name: "-A--b_____________________",
  }),
  "name twice": ports(
    { containerPort: 80, name: "a" },
    { containerPort: 81, name: "a" },
  ),
  "same port twice": ports({ containerPort: 80 }, { containerPort: 80 }),
  "same port twice, named": ports(
    { containerPort: 80, name: "a" },
    { containerPort: 80, name: "b" },
  ),
  "host port twice": ports(
    { containerPort: 80, hostPort: 80 },
    { containerPort: 81, hostPort: 80 },
  ),
  "host port on two addresses": ports(
    { containerPort: 80, hostPort: 80, hostIP: "1.1.1.1" },
    { containerPort: 81, hostPort: 80, hostIP: "1.1.1.2" },
  ),
  "host ports of two containers": pod({
    containers: [
      { ...good, ports: [{ containerPort: 80, hostPort: 80 }] },
      { name: "d", image: "i", ports: [{ containerPort: 80, hostPort: 80 }] },
    ],
  }),
  "host ip": ports({ containerPort: 80, hostPort: 80, hostIP: "x" }),
  "host network": pod({
    hostNetwork: true,
    containers: [{ ...good, ports: [{ containerPort: 80, hostPort: 81 }] }],
  }),
  "host network fills": pod({
    hostNetwork: true,
    containers: [{ ...good, ports: [{ containerPort: 80 }] }],
  }),
  "init host port": init({
    ports: [
      { containerPort: 80, hostPort: 80 },
      { containerPort: 80, hostPort: 80 },
    ],
  }),
};

const envRows = {
  "no name": env({ value: "x" }),
  "equals sign": env({ name: "a=b" }),
  "digit first": env({ name: "1a", value: "v" }),
  strange: env({ name: "a b!", value: "v" }),
  "not ascii": env({ name: "ü", value: "v" }),
  dot: env({ name: ".", value: "v" }),
  dots: env({ name: "..", value: "v" }),
  twice: env({ name: "A", value: "v" }, { name: "A", value: "w" }),
  "empty source": from({}),
  "source and value": from(
    { fieldRef: { fieldPath: "metadata.name" } },
    { value: "x" },
  ),
  "empty source and value": from({}, { value: "x" }),
  "two sources": from({
    fieldRef: { fieldPath: "metadata.name" },
    secretKeyRef: { name: "a", key: "b" },
  }),
  "field without a path": from({ fieldRef: {} }),
  "field unknown": from({ fieldRef: { fieldPath: "metadata.nothing" } }),
  "field known elsewhere": from({ fieldRef: { fieldPath: "status.phase" } }),
  "field of another version": from({
    fieldRef: { apiVersion: "v2", fieldPath: "metadata.name" },
  }),
  "labels whole": from({ fieldRef: { fieldPath: "metadata.labels" } }),
  label: from({ fieldRef: { fieldPath: "metadata.labels['a']" } }),
  annotation: from({ fieldRef: { fieldPath: "metadata.annotations['A/b']" } }),
  "label with a bad key": from({
    fieldRef: { fieldPath: "metadata.labels['a b']" },
  }),
  "annotation with a bad key": from({
    fieldRef: { fieldPath: "metadata.annotations['a b']" },
  }),
  "subscript of a name": from({
    fieldRef: { fieldPath: "metadata.name['a']" },
  }),
  "every field": env(
    ...[
      "metadata.name",
      "metadata.namespace",
      "metadata.uid",
      "spec.nodeName",
      "spec.serviceAccountName",
      "status.hostIP",
      "status.hostIPs",
      "status.podIP",
      "status.podIPs",
    ].map((fieldPath, index) => ({
      name: `E${index}`,
      valueFrom: { fieldRef: { fieldPath } },
    })),
  ),
  "resource missing": from({ resourceFieldRef: {} }),
  "resource unknown": from({ resourceFieldRef: { resource: "limits.gpu" } }),
  resource: from({ resourceFieldRef: { resource: "limits.cpu" } }),
  "resource hugepages": from({
    resourceFieldRef: { resource: "limits.hugepages-2Mi", divisor: "1Mi" },
  }),
  "resource divisor cpu": from({
    resourceFieldRef: { resource: "limits.cpu", divisor: "2" },
  }),
  "resource divisor memory": from({
    resourceFieldRef: { resource: "requests.memory", divisor: "3Mi" },
  }),
  "resource divisor storage": from({
    resourceFieldRef: { resource: "requests.ephemeral-storage", divisor: "1m" },
  }),
  "resource divisor hugepages": from({
    resourceFieldRef: { resource: "requests.hugepages-1Gi", divisor: "5" },
  }),
  "resource of a container": from({
    resourceFieldRef: {
      containerName: "none",
      resource: "limits.cpu",
      divisor: "1m",
    },
  }),
  "config map key missing": from({ configMapKeyRef: { name: "a" } }),
  "config map name missing": from({ configMapKeyRef: { key: "a" } }),
  "config map empty": from({ configMapKeyRef: {} }),
  "config map bad": from({ configMapKeyRef: { name: "A_", key: "a/b" } }),
  "secret missing": from({ secretKeyRef: {} }),
  "secret bad": from({ secretKeyRef: { name: "A_", key: ".." } }),
  "secret optional": from({
    secretKeyRef: { name: "a", key: "b", optional: true },
  }),
  "from nothing": container({ envFrom: [{}] }),
  "from both": container({
    envFrom: [{ configMapRef: { name: "a" }, secretRef: { name: "b" } }],
  }),
  "from without names": container({
    envFrom: [{ configMapRef: {} }, { secretRef: {} }],
  }),
  "from bad names": container({
    envFrom: [{ configMapRef: { name: "A_" } }, { secretRef: { name: "B_" } }],
  }),
  "from bad prefix": container({
    envFrom: [{ prefix: "a=", configMapRef: { name: "a" } }],
  }),
  "from strange prefix": container({
    envFrom: [{ prefix: "1a b", configMapRef: { name: "a" } }],
  }),
};

const mountRows = {
  empty: mounts({}),
  "no name": mounts({ mountPath: "/a" }),
  "no path": mounts({ name: "v" }),
  "unknown volume": mounts({ name: "w", mountPath: "/a" }),
  "same path twice": mounts(
    { name: "v", mountPath: "/a" },
    { name: "v", mountPath: "/a" },
  ),
  "same volume twice": mounts(
    { name: "v", mountPath: "/a" },
    { name: "v", mountPath: "/b" },
  ),
  colon: mounts({ name: "v", mountPath: "/a:b" }),
  relative: mounts({ name: "v", mountPath: "a/b" }),
  dots: mounts({ name: "v", mountPath: "/a/../b" }),
  "sub path absolute": mounts({ name: "v", mountPath: "/a", subPath: "/b" }),
  "sub path dots": mounts({ name: "v", mountPath: "/a", subPath: "a/../b" }),
  "sub path absolute dots": mounts({
    name: "v",
    mountPath: "/a",
    subPath: "/a/../b",
  }),
  "sub path dots in a name": mounts({
    name: "v",
    mountPath: "/a",
    subPath: "..a",
  }),
  "sub path expression": mounts({
    name: "v",
    mountPath: "/a",
    subPathExpr: "/b",
  }),
  "both sub paths": mounts({
    name: "v",
    mountPath: "/a",
    subPath: "a",
    subPathExpr: "b",
  }),
  propagation: mounts({ name: "v", mountPath: "/a", mountPropagation: "Both" }),
  "propagation lower case": mounts({
    name: "v",
    mountPath: "/a",
    mountPropagation: "none",
  }),
  bidirectional: mounts({
    name: "v",
    mountPath: "/a",
    mountPropagation: "Bidirectional",
  }),
  "bidirectional privileged": container({
    securityContext: { privileged: true },
    volumeMounts: [
      { name: "v", mountPath: "/a", mountPropagation: "Bidirectional" },
    ],
  }),
  recursive: mounts({
    name: "v",
    mountPath: "/a",
    recursiveReadOnly: "Enabled",
  }),
  "recursive read only": mounts({
    name: "v",
    mountPath: "/a",
    readOnly: true,
    recursiveReadOnly: "Enabled",
  }),
  "recursive unknown": mounts({
    name: "v",
    mountPath: "/a",
    readOnly: true,
    recursiveReadOnly: "Yes",
  }),
  "recursive and propagation": mounts({
    name: "v",
    mountPath: "/a",
    readOnly: true,
    recursiveReadOnly: "IfPossible",
    mountPropagation: "HostToContainer",
  }),
  device: container({
    volumeDevices: [{ name: "claim", devicePath: "/dev/x" }],
  }),
  "device of a directory": container({
    volumeDevices: [{ name: "v", devicePath: "/dev/x" }],
  }),
  "device empty": container({ volumeDevices: [{}] }),
  "device unknown": container({
    volumeDevices: [{ name: "x", devicePath: "/dev/x" }],
  }),
  "device twice": container({
    volumeDevices: [
      { name: "claim", devicePath: "/x" },
      { name: "claim", devicePath: "/x" },
    ],
  }),
  "device dots": container({
    volumeDevices: [{ name: "claim", devicePath: "/x/../y" }],
  }),
  "device and mount": container({
    volumeMounts: [{ name: "claim", mountPath: "/x" }],
    volumeDevices: [{ name: "claim", devicePath: "/x" }],
  }),
};

const probeRows = {
  empty: live({}),
  "two handlers": live({ exec: { command: ["a"] }, httpGet: { port: 80 } }),
  "all handlers": live({
    exec: { command: ["a"] },
    httpGet: { port: 80 },
    tcpSocket: { port: 80 },
    grpc: { port: 80 },
  }),
  "exec without a command": live({ exec: {} }),
  exec: live({ exec: { command: ["a"] } }),
  "http without a port": live({ httpGet: {} }),
  http: live({ httpGet: { port: 80 } }),
  "http named port": live({ httpGet: { port: "web" } }),
  "http port zero": live({ httpGet: { port: 0 } }),
  "http port too large": live({ httpGet: { port: 70000 } }),
  "http bad port name": live({ httpGet: { port: "Web_" } }),
  "http port empty name": live({ httpGet: { port: "" } }),
  "http digits": live({ httpGet: { port: "80" } }),
  "http scheme": live({ httpGet: { port: 80, scheme: "FTP" } }),
  "http scheme lower case": live({ httpGet: { port: 80, scheme: "https" } }),
  "http header": live({
    httpGet: { port: 80, httpHeaders: [{ name: "a b", value: "x" }] },
  }),
  "http header empty": live({
    httpGet: { port: 80, httpHeaders: [{ name: "", value: "x" }] },
  }),
  "http path empty": live({ httpGet: { port: 80, path: "" } }),
  "tcp without a port": live({ tcpSocket: {} }),
  tcp: live({ tcpSocket: { port: 80, host: "h" } }),
  "grpc without a port": live({ grpc: {} }),
  grpc: live({ grpc: { port: 80 } }),
  "grpc service": live({ grpc: { port: 80, service: "s" } }),
  "numbers negative": live({
    ...http,
    initialDelaySeconds: -1,
    timeoutSeconds: -1,
    periodSeconds: -1,
    successThreshold: -1,
    failureThreshold: -1,
  }),
  "success threshold": live({ ...http, successThreshold: 2 }),
  "zero numbers": live({
    ...http,
    initialDelaySeconds: 0,
    timeoutSeconds: 0,
    periodSeconds: 0,
    successThreshold: 0,
    failureThreshold: 0,
  }),
  grace: live({ ...http, terminationGracePeriodSeconds: 5 }),
  "grace zero": live({ ...http, terminationGracePeriodSeconds: 0 }),
  "grace negative": live({ ...http, terminationGracePeriodSeconds: -1 }),
  "readiness success threshold": container({
    readinessProbe: { ...http, successThreshold: 2 },
  }),
  "readiness grace": container({
    readinessProbe: { ...http, terminationGracePeriodSeconds: 5 },
  }),
  "readiness empty": container({ readinessProbe: {} }),
  "startup success threshold": container({
    startupProbe: { ...http, successThreshold: 2 },
  }),
  "startup grace zero": container({
    startupProbe: { ...http, terminationGracePeriodSeconds: 0 },
  }),
  "all wrong": container({
    livenessProbe: {},
    readinessProbe: {},
    startupProbe: {},
  }),
  "init probes": init({
    livenessProbe: http,
    readinessProbe: http,
    startupProbe: http,
    lifecycle: {},
  }),
  "init probes and restart": init({
    restartPolicy: "Always",
    livenessProbe: {},
    readinessProbe: {},
    startupProbe: {},
    lifecycle: { preStop: {} },
  }),
  sidecar: init({
    restartPolicy: "Always",
    livenessProbe: http,
    lifecycle: { preStop: { exec: { command: ["a"] } } },
  }),
  "hook empty": container({ lifecycle: { postStart: {}, preStop: {} } }),
  "hook two": container({
    lifecycle: { preStop: { exec: { command: ["a"] }, sleep: { seconds: 1 } } },
  }),
  "hook exec without a command": container({
    lifecycle: { postStart: { exec: {} } },
  }),
  "hook http": container({
    lifecycle: { postStart: { httpGet: { port: 80 } } },
  }),
  "hook tcp": container({
    lifecycle: { postStart: { tcpSocket: { port: 80 } } },
  }),
  sleep: container({ lifecycle: { preStop: { sleep: { seconds: 5 } } } }),
  "sleep zero": container({
    lifecycle: { preStop: { sleep: { seconds: 0 } } },
  }),
  "sleep negative": container({
    lifecycle: { preStop: { sleep: { seconds: -1 } } },
  }),
  "sleep too long": container({
    lifecycle: { preStop: { sleep: { seconds: 31 } } },
  }),
};

const resources = (fields: object): object => container({ resources: fields });
const resourceRows = {
  negative: resources({ limits: { cpu: "-1" } }),
  "negative request": resources({ requests: { memory: "-1" } }),
  "request over limit": resources({
    limits: { cpu: "1" },
    requests: { cpu: "2" },
  }),
  "request over limit memory": resources({
    limits: { memory: "1Gi" },
    requests: { memory: "2Gi" },
  }),
  "unknown name": resources({ limits: { disk: "1" } }),
  "unknown request": resources({ requests: { disk: "1" } }),
  "bad name": resources({ limits: { "a b": "1" } }),
  "bad domain": resources({ limits: { "A_.b/c": "1" } }),
  pods: resources({ limits: { pods: "1" } }),
  storage: resources({ requests: { storage: "1Gi" } }),
  "kubernetes.io": resources({ limits: { "kubernetes.io/x": "1" } }),
  "requests. prefix": resources({ limits: { "requests.example.com/x": "1" } }),
  extended: resources({ limits: { "example.com/gpu": "1" } }),
  "extended request only": resources({ requests: { "example.com/gpu": "1" } }),
  "extended differs": resources({
    limits: { "example.com/gpu": "2" },
    requests: { "example.com/gpu": "1" },
  }),
  hugepages: resources({ limits: { "hugepages-2Mi": "4Mi", cpu: "1" } }),
  "hugepages without cpu": resources({ limits: { "hugepages-2Mi": "4Mi" } }),
  "hugepages differ": resources({
    limits: { "hugepages-2Mi": "4Mi", cpu: "1" },
    requests: { "hugepages-2Mi": "2Mi" },
  }),
  "hugepages odd": resources({ limits: { "hugepages-2Mi": "3Mi", cpu: "1" } }),
  "hugepages bad size": resources({
    limits: { "hugepages-x": "4Mi", cpu: "1" },
  }),
  "hugepages request only": resources({
    requests: { "hugepages-2Mi": "4Mi", cpu: "1" },
  }),
  "fraction of memory": resources({ limits: { memory: "0.5" } }),
  "milli memory": resources({ requests: { memory: "100m" } }),
  "small cpu": resources({ requests: { cpu: "0.0001" } }),
  fine: resources({
    limits: { cpu: 2, memory: "1G", "ephemeral-storage": "1Gi" },
    requests: { cpu: 0.5 },
  }),
  "claims unknown": resources({ claims: [{ name: "x" }] }),
  "claims twice": pod({
    resourceClaims: [{ name: "x", resourceClaimName: "y" }],
    containers: [
      { ...good, resources: { claims: [{ name: "x" }, { name: "x" }] } },
    ],
  }),
  "resize policy": container({
    resizePolicy: [{ resourceName: "cpu", restartPolicy: "NotRequired" }],
  }),
  "resize policy wrong": container({
    resizePolicy: [{ resourceName: "disk", restartPolicy: "Maybe" }],
  }),
  "resize policy twice": container({
    resizePolicy: [
      { resourceName: "cpu", restartPolicy: "NotRequired" },
      { resourceName: "cpu", restartPolicy: "NotRequired" },
    ],
  }),
  "resize policy empty": container({ resizePolicy: [{}] }),
  "pod level": pod({ resources: { limits: { cpu: "1" } } }),
};

const securityRows = {
  "user negative": security({ runAsUser: -1 }),
  "user too large": security({ runAsUser: 2147483648 }),
  "group negative": security({ runAsGroup: -1 }),
  "user and group": security({ runAsUser: -1, runAsGroup: -1 }),
  "sys_admin without escalation": security({
    capabilities: { add: ["SYS_ADMIN"] },
    allowPrivilegeEscalation: false,
  }),
  "proc mount": security({ procMount: "Half" }),
  "proc mount unmasked": security({ procMount: "Unmasked" }),
  "proc mount default": security({ procMount: "Default" }),
  seccomp: security({ seccompProfile: {} }),
  "seccomp type": security({ seccompProfile: { type: "x" } }),
  "seccomp local without a file": security({
    seccompProfile: { type: "Localhost" },
  }),
  "seccomp local absolute": security({
    seccompProfile: { type: "Localhost", localhostProfile: "/a" },
  }),
  "seccomp local dots": security({
    seccompProfile: { type: "Localhost", localhostProfile: "../a" },
  }),
  apparmor: security({ appArmorProfile: {} }),
  "apparmor type": security({ appArmorProfile: { type: "x" } }),
  "apparmor local": security({ appArmorProfile: { type: "Localhost" } }),
  "apparmor local empty": security({
    appArmorProfile: { type: "Localhost", localhostProfile: "" },
  }),
  "apparmor local spaces": security({
    appArmorProfile: { type: "Localhost", localhostProfile: " a" },
  }),
  "apparmor runtime": security({ appArmorProfile: { type: "RuntimeDefault" } }),
  "apparmor runtime with a file": security({
    appArmorProfile: { type: "RuntimeDefault", localhostProfile: "a" },
  }),
  windows: security({
    windowsOptions: {
      gmsaCredentialSpecName: "A_",
      gmsaCredentialSpec: "",
      runAsUserName: "",
    },
  }),
  "windows user": security({ windowsOptions: { runAsUserName: "a\\b\\c" } }),
  "se linux": security({ seLinuxOptions: { level: "s0" } }),
};

const empty = {
  minimal: pod({}),
  "everything empty": container({
    command: [],
    args: [],
    env: [],
    envFrom: [],
    ports: [],
    volumeMounts: [],
    resources: {},
    lifecycle: {},
    securityContext: {},
  }),
};

export const corePodsContainers: Scenario = {
  name: "core-pods-containers",
  async run(server) {
    const path = `/api/v1/namespaces/${server.namespace}/pods`;
    for (const [prefix, rows] of Object.entries({
      name: names,
      port: portRows,
      env: envRows,
      mount: mountRows,
      probe: probeRows,
      resources: resourceRows,
      security: securityRows,
      empty,
    }))
      await tryEach(server, path, prefix, pod({}), rows);
  },
};
