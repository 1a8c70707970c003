// What the conformance tests of sig-node, sig-storage and sig-auth ask of a running pod, all at once on one node: each
// case is a pod that runs to its end, and what it must have written or become.
import { busyboxImageTar } from "../support/busybox-image.ts";
import { eventually } from "../support/eventually.ts";
import { startOrbit, type RunningOrbit } from "../support/start-orbit.ts";

/** Tests look into answers freely. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

let orbit: RunningOrbit;
let state = new Map<string, Json>();

const container = (script: string, extra: Json = {}): Json => ({
  name: "main",
  image: "busybox",
  imagePullPolicy: "IfNotPresent",
  command: ["sh", "-c", script],
  ...extra,
});
const pod = (
  name: string,
  main: Json,
  spec: Json = {},
  metadata: Json = {},
): Json => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...metadata },
  spec: {
    restartPolicy: "Never",
    terminationGracePeriodSeconds: 1,
    containers: [main],
    ...spec,
  },
});
const field = (fieldPath: string): Json => ({
  valueFrom: { fieldRef: { fieldPath } },
});
const resourceField = (resource: string): Json => ({
  valueFrom: { resourceFieldRef: { resource } },
});
const mount = (name: string, mountPath = "/v", extra: Json = {}): Json => ({
  volumeMounts: [{ name, mountPath, ...extra }],
});
const resources = {
  requests: { cpu: "250m", memory: "32Mi" },
  limits: { cpu: "1250m", memory: "64Mi" },
};
const user = { securityContext: { runAsUser: 1000 } };
const modeOf = (path: string): string => `stat -L -c %a ${path}`;

/** The pod, and what its log must match. */
type Case = [pod: Json, log: string | RegExp];

const configVolume = (source: Json = {}): Json => ({
  volumes: [{ name: "v", configMap: { name: "cm", ...source } }],
});
const secretVolume = (source: Json = {}): Json => ({
  volumes: [{ name: "v", secret: { secretName: "s", ...source } }],
});
const downwardItems = (...items: Json[]): Json => ({
  volumes: [{ name: "v", downwardAPI: { items } }],
});
const emptyDir = (medium?: string): Json => ({
  volumes: [{ name: "v", emptyDir: medium ? { medium } : {} }],
});

const cases: Record<string, Case> = {
  "ConfigMap via environment variable": [
    pod(
      "cm-env",
      container("echo $K", {
        env: [
          {
            name: "K",
            valueFrom: { configMapKeyRef: { name: "cm", key: "data-1" } },
          },
        ],
      }),
    ),
    "value-1\n",
  ],
  "ConfigMap via the environment": [
    pod(
      "cm-envfrom",
      container("env | grep ^P_ | sort", {
        envFrom: [{ prefix: "P_", configMapRef: { name: "env" } }],
      }),
    ),
    "P_a=1\nP_b=2\n",
  ],
  "Secret in env vars": [
    pod(
      "s-env",
      container("echo $K", {
        env: [
          {
            name: "K",
            valueFrom: { secretKeyRef: { name: "s", key: "data-1" } },
          },
        ],
      }),
    ),
    "value-1\n",
  ],
  "Secret via the environment": [
    pod(
      "s-envfrom",
      container("env | grep ^P_ | sort", {
        envFrom: [{ prefix: "P_", secretRef: { name: "s-env" } }],
      }),
    ),
    "P_a=1\n",
  ],
  "ConfigMap in volume with mappings and item mode": [
    pod(
      "cm-items",
      container(
        `cat /v/path/to/data-2; ls -a /v | grep data-1; ${modeOf("/v/path/to/data-2")}`,
        mount("v"),
      ),
      configVolume({
        items: [{ key: "data-2", path: "path/to/data-2", mode: 0o400 }],
      }),
    ),
    "value-2400\n",
  ],
  "ConfigMap in volume with defaultMode, as non-root": [
    pod(
      "cm-mode",
      container(`cat /v/data-1; ${modeOf("/v/data-1")}`, mount("v")),
      { ...configVolume({ defaultMode: 0o444 }), ...user },
    ),
    "value-1444\n",
  ],
  "ConfigMap binary data": [
    pod(
      "cm-binary",
      container("hexdump -C /v/dump.bin | head -1", mount("v")),
      configVolume(),
    ),
    /de ca fe ba d0 fe ff/,
  ],
  "Secret with defaultMode and fsGroup as non-root": [
    pod(
      "s-group",
      container(
        `cat /v/data-1; ${modeOf("/v/data-1")}; stat -L -c %g /v/data-1`,
        mount("v"),
      ),
      {
        ...secretVolume({ defaultMode: 0o440 }),
        securityContext: { runAsUser: 1000, fsGroup: 1001 },
      },
    ),
    "value-1440\n1001\n",
  ],
  "Downward API env: name, namespace, addresses, uid": [
    pod(
      "d-env",
      container("echo $N $NS $IP $HIP $HIPS $U", {
        env: [
          { name: "N", ...field("metadata.name") },
          { name: "NS", ...field("metadata.namespace") },
          { name: "IP", ...field("status.podIP") },
          { name: "HIP", ...field("status.hostIP") },
          { name: "HIPS", ...field("status.hostIPs") },
          { name: "U", ...field("metadata.uid") },
        ],
      }),
    ),
    /^d-env default \d+\.\d+\.\d+\.\d+ \d+\.\d+\.\d+\.\d+ \d+\.\d+\.\d+\.\d+ [0-9a-f-]{36}\n$/,
  ],
  "Downward API env: limits and requests": [
    pod(
      "d-res",
      container("echo $A $B $C $D", {
        resources,
        env: [
          { name: "A", ...resourceField("limits.cpu") },
          { name: "B", ...resourceField("limits.memory") },
          { name: "C", ...resourceField("requests.cpu") },
          { name: "D", ...resourceField("requests.memory") },
        ],
      }),
    ),
    "2 67108864 1 33554432\n",
  ],
  "Downward API env: node allocatable by default": [
    pod(
      "d-alloc",
      container("echo $A $B", {
        env: [
          { name: "A", ...resourceField("limits.cpu") },
          { name: "B", ...resourceField("limits.memory") },
        ],
      }),
    ),
    /^[1-9]\d* \d{8,}\n$/,
  ],
  "Downward API volume": [
    pod(
      "d-vol",
      container(
        `cat /v/name; echo; cat /v/labels; echo; cat /v/cpu; echo; cat /v/mem; echo; ${modeOf("/v/name")}`,
        { ...mount("v"), resources },
      ),
      downwardItems(
        { path: "name", mode: 0o400, fieldRef: { fieldPath: "metadata.name" } },
        { path: "labels", fieldRef: { fieldPath: "metadata.labels" } },
        {
          path: "cpu",
          resourceFieldRef: { containerName: "main", resource: "limits.cpu" },
        },
        {
          path: "mem",
          resourceFieldRef: {
            containerName: "main",
            resource: "requests.memory",
          },
        },
      ),
      { labels: { key1: "value1", key2: "value2" } },
    ),
    'd-vol\nkey1="value1"\nkey2="value2"\n2\n33554432\n400\n',
  ],
  "Projected: all components": [
    pod(
      "proj",
      container(
        `cat /v/podname /v/cm /v/secret; ${modeOf("/v/cm")}`,
        mount("v"),
      ),
      {
        volumes: [
          {
            name: "v",
            projected: {
              defaultMode: 0o400,
              sources: [
                {
                  downwardAPI: {
                    items: [
                      {
                        path: "podname",
                        fieldRef: { fieldPath: "metadata.name" },
                      },
                    ],
                  },
                },
                {
                  secret: {
                    name: "s",
                    items: [{ key: "data-1", path: "secret" }],
                  },
                },
                {
                  configMap: {
                    name: "cm",
                    items: [{ key: "data-1", path: "cm", mode: 0o440 }],
                  },
                },
              ],
            },
          },
        ],
      },
    ),
    "projvalue-1value-1440\n",
  ],
  "Optional sources may be missing": [
    pod(
      "optional",
      container("ls /v | wc -l; echo ${K:-none}", {
        ...mount("v"),
        env: [
          {
            name: "K",
            valueFrom: {
              configMapKeyRef: { name: "absent", key: "x", optional: true },
            },
          },
        ],
      }),
      configVolume({ name: "absent", optional: true }),
    ),
    "0\nnone\n",
  ],
  "EmptyDir: mode on the default medium": [
    pod(
      "ed-mode",
      container(
        `${modeOf("/v")}; echo x > /v/f; chmod 644 /v/f; ${modeOf("/v/f")}`,
        mount("v"),
      ),
      { ...emptyDir(), ...user },
    ),
    "777\n644\n",
  ],
  "EmptyDir: tmpfs": [
    pod(
      "ed-tmpfs",
      container(
        `${modeOf("/v")}; grep ' /v ' /proc/mounts | cut -d' ' -f3; echo hi > /v/f && cat /v/f`,
        mount("v"),
      ),
      { ...emptyDir("Memory"), ...user },
    ),
    "777\ntmpfs\nhi\n",
  ],
  "Variable expansion in env, command and args": [
    pod("expand", {
      ...container(""),
      command: [
        "sh",
        "-c",
        "echo $(FOO) '$(FOOBAR)' $0 $1 '$(UNKNOWN)' '$$(FOO)'",
        "$(FOO)",
      ],
      args: ["$(BAR)"],
      env: [
        { name: "FOO", value: "foo-value" },
        { name: "BAR", value: "bar-value" },
        { name: "FOOBAR", value: "$(FOO);;$(BAR)" },
      ],
    }),
    "foo-value foo-value;;bar-value foo-value bar-value $(UNKNOWN) $(FOO)\n",
  ],
  "Variable expansion in a subpath": [
    pod(
      "subexpr",
      container("test -d /v/subexpr && echo yes", {
        env: [{ name: "POD_NAME", ...field("metadata.name") }],
        volumeMounts: [
          { name: "v", mountPath: "/logs", subPathExpr: "$(POD_NAME)" },
          { name: "v", mountPath: "/v" },
        ],
      }),
      emptyDir(),
    ),
    "yes\n",
  ],
  "Subpath of a config map over an existing file": [
    pod(
      "subfile",
      container("cat /etc/resolv-copy /etc/passwd-copy", {
        volumeMounts: [
          { name: "v", mountPath: "/etc/passwd-copy", subPath: "data-1" },
          { name: "v", mountPath: "/etc/resolv-copy", subPath: "data-2" },
        ],
      }),
      configVolume(),
    ),
    "value-2value-1",
  ],
  "Host aliases and the managed hosts file": [
    pod("hosts", container("cat /etc/hosts"), {
      hostAliases: [{ ip: "123.45.67.89", hostnames: ["foo", "bar"] }],
    }),
    /# Kubernetes-managed hosts file[\s\S]*123\.45\.67\.89\s+foo\s+bar/,
  ],
  "A hosts file someone mounts is not managed": [
    pod(
      "hosts-own",
      container(
        "cat /etc/hosts",
        mount("v", "/etc/hosts", { subPath: "data-1" }),
      ),
      configVolume(),
    ),
    "value-1",
  ],
  "Host name and subdomain": [
    pod(
      "hostname",
      container(
        "hostname; hostname -f 2>/dev/null || grep -o 'my-host.sub.*' /etc/hosts",
      ),
      { hostname: "my-host", subdomain: "sub" },
    ),
    /^my-host\nmy-host\.sub\.default\.svc\.cluster\.local/,
  ],
  "DNS config of its own": [
    pod("dns", container("cat /etc/resolv.conf"), {
      dnsPolicy: "None",
      dnsConfig: {
        nameservers: ["1.1.1.1"],
        searches: ["resolv.conf.local"],
        options: [{ name: "ndots", value: "3" }],
      },
    }),
    /nameserver 1\.1\.1\.1[\s\S]*resolv\.conf\.local|resolv\.conf\.local[\s\S]*1\.1\.1\.1/,
  ],
  "Read-only root": [
    pod(
      "readonly",
      container("echo x > /file || echo refused", {
        securityContext: { readOnlyRootFilesystem: true },
      }),
    ),
    /refused/,
  ],
  "Writable root": [
    pod(
      "writable",
      container("echo x > /file && cat /file", {
        securityContext: { readOnlyRootFilesystem: false },
      }),
    ),
    "x\n",
  ],
  "User and group": [
    pod(
      "ids",
      container("id -u; id -g", {
        securityContext: { runAsUser: 1001, runAsGroup: 2002 },
      }),
    ),
    "1001\n2002\n",
  ],
  "User and group of the pod": [
    pod("pod-ids", container("id -u; id -g; id -G"), {
      securityContext: {
        runAsUser: 65534,
        runAsGroup: 2002,
        supplementalGroups: [3003],
      },
    }),
    /^65534\n2002\n.*3003/,
  ],
  "No privilege escalation": [
    pod(
      "nnp",
      container("grep NoNewPrivs /proc/self/status", {
        securityContext: { allowPrivilegeEscalation: false },
      }),
    ),
    /NoNewPrivs:\s+1/,
  ],
  "Unprivileged when privileged is false": [
    pod(
      "unpriv",
      container("ip link add dummy0 type dummy 2>&1 || echo refused", {
        securityContext: { privileged: false },
      }),
    ),
    /refused/,
  ],
  Sysctls: [
    pod("sysctl", container("cat /proc/sys/kernel/shm_rmid_forced"), {
      securityContext: {
        sysctls: [{ name: "kernel.shm_rmid_forced", value: "1" }],
      },
    }),
    "1\n",
  ],
  "Service account token": [
    pod(
      "token",
      container(
        "cd /var/run/secrets/kubernetes.io/serviceaccount && ls && cat namespace && test -s token && test -s ca.crt && echo ok",
      ),
    ),
    "ca.crt\nnamespace\ntoken\ndefaultok\n",
  ],
  "Projected token with mode and fsGroup": [
    pod(
      "ptoken",
      container(
        `${modeOf("/v/token")}; stat -L -c %g /v/token; cut -d. -f2 /v/token | wc -l`,
        mount("v"),
      ),
      {
        securityContext: { runAsUser: 1000, fsGroup: 10000 },
        volumes: [
          {
            name: "v",
            projected: {
              sources: [
                {
                  serviceAccountToken: {
                    path: "token",
                    expirationSeconds: 3600,
                  },
                },
              ],
            },
          },
        ],
      },
    ),
    "640\n10000\n1\n",
  ],
  "No token for those who opt out": [
    pod(
      "no-token",
      container("ls /var/run/secrets/kubernetes.io 2>/dev/null | wc -l"),
      { automountServiceAccountToken: false },
    ),
    "0\n",
  ],
  "Environment variables for services": [
    pod(
      "service-env",
      container(
        "env | grep ^FOOSERVICE_ | sort | cut -d= -f1; echo $KUBERNETES_SERVICE_PORT",
      ),
    ),
    "FOOSERVICE_PORT\nFOOSERVICE_PORT_8765_TCP\nFOOSERVICE_PORT_8765_TCP_ADDR\nFOOSERVICE_PORT_8765_TCP_PORT\nFOOSERVICE_PORT_8765_TCP_PROTO\nFOOSERVICE_SERVICE_HOST\nFOOSERVICE_SERVICE_PORT\n443\n",
  ],
  "Init containers, never restarted": [
    pod("init-never", container("cat /v/log", mount("v")), {
      ...emptyDir(),
      initContainers: [
        { ...container("echo one >> /v/log", mount("v")), name: "init1" },
        { ...container("echo two >> /v/log", mount("v")), name: "init2" },
      ],
    }),
    "one\ntwo\n",
  ],
  "A volume shared by containers": [
    pod(
      "shared",
      container("until test -f /v/f; do sleep 0.2; done; cat /v/f", mount("v")),
      {
        ...emptyDir(),
        containers: [
          container(
            "until test -f /v/f; do sleep 0.2; done; cat /v/f",
            mount("v"),
          ),
          { ...container("echo from-other > /v/f", mount("v")), name: "other" },
        ],
      },
    ),
    "from-other\n",
  ],
};

/** Pods that end without a log to look at, or go on. */
const others: Json[] = [
  pod(
    "term-file",
    container("printf OK > /dev/termination-log", {
      terminationMessagePolicy: "FallbackToLogsOnError",
    }),
  ),
  pod(
    "term-log",
    container("printf DONE; exit 1", {
      terminationMessagePolicy: "FallbackToLogsOnError",
    }),
  ),
  pod(
    "term-empty",
    container("printf DONE", {
      terminationMessagePolicy: "FallbackToLogsOnError",
    }),
  ),
  pod(
    "term-path",
    container("printf DONE > /dev/termination-custom-log", {
      terminationMessagePath: "/dev/termination-custom-log",
      securityContext: { runAsUser: 1000 },
    }),
  ),
  pod("init-fails", container("true"), {
    initContainers: [{ ...container("false"), name: "init1" }],
  }),
  pod("init-fails-always", container("true"), {
    restartPolicy: "Always",
    initContainers: [{ ...container("false"), name: "init1" }],
  }),
  pod("init-always", container("exec sleep 3600"), {
    restartPolicy: "Always",
    initContainers: [{ ...container("true"), name: "init1" }],
  }),
  pod("rpa", container("sleep 1; exit 1"), { restartPolicy: "Always" }),
  pod(
    "rpof",
    container("test -f /v/once && exit 0; touch /v/once; exit 1", mount("v")),
    { restartPolicy: "OnFailure", ...emptyDir() },
  ),
  pod("rpn", container("exit 3")),
  pod("deadline", container("exec sleep 3600"), { activeDeadlineSeconds: 300 }),
  pod(
    "live",
    container(
      "echo ok > /tmp/health; sleep 2; rm /tmp/health; exec sleep 600",
      {
        livenessProbe: {
          exec: { command: ["cat", "/tmp/health"] },
          initialDelaySeconds: 1,
          periodSeconds: 1,
          failureThreshold: 1,
        },
      },
    ),
    { restartPolicy: "Always" },
  ),
  pod(
    "ready-later",
    container("exec sleep 600", {
      readinessProbe: {
        exec: { command: ["true"] },
        initialDelaySeconds: 4,
        periodSeconds: 1,
      },
    }),
    { restartPolicy: "Always" },
  ),
  pod(
    "ready-never",
    container("exec sleep 600", {
      readinessProbe: { exec: { command: ["false"] }, periodSeconds: 1 },
    }),
    { restartPolicy: "Always" },
  ),
  pod(
    "bad-subpath",
    container("exec sleep 600", {
      env: [{ name: "A", value: ".." }],
      ...mount("v", "/logs", { subPathExpr: "$(A)" }),
    }),
    { ...emptyDir(), restartPolicy: "Always" },
  ),
  pod(
    "abs-subpath",
    container("exec sleep 600", {
      env: [{ name: "A", value: "/tmp" }],
      ...mount("v", "/logs", { subPathExpr: "$(A)" }),
    }),
    { ...emptyDir(), restartPolicy: "Always" },
  ),
  pod(
    "fix-subpath",
    container("exec sleep 600", {
      env: [
        {
          name: "A",
          valueFrom: {
            fieldRef: { fieldPath: "metadata.annotations['mysubpath']" },
          },
        },
      ],
      ...mount("v", "/logs", { subPathExpr: "$(A)" }),
    }),
    { ...emptyDir(), restartPolicy: "Always" },
    { annotations: { mysubpath: "/absolute" } },
  ),
  pod(
    "updates",
    container("while true; do cat /v/data-1 /d/annotations; sleep 0.5; done", {
      volumeMounts: [
        { name: "v", mountPath: "/v" },
        { name: "d", mountPath: "/d" },
      ],
    }),
    {
      volumes: [
        { name: "v", configMap: { name: "changing" } },
        {
          name: "d",
          downwardAPI: {
            items: [
              {
                path: "annotations",
                fieldRef: { fieldPath: "metadata.annotations" },
              },
            ],
          },
        },
      ],
    },
    { annotations: { builder: "bar" } },
  ),
  pod(
    "hooks",
    container("until test -s /v/hook; do sleep 0.1; done; cat /v/hook", {
      ...mount("v"),
      lifecycle: {
        postStart: {
          exec: { command: ["sh", "-c", "echo started > /v/hook"] },
        },
      },
    }),
    emptyDir(),
  ),
  pod("debugged", container("exec sleep 600"), { restartPolicy: "Always" }),
  pod(
    "guaranteed",
    container("exec sleep 600", {
      resources: {
        requests: { cpu: "10m", memory: "16Mi" },
        limits: { cpu: "10m", memory: "16Mi" },
      },
    }),
  ),
  pod("overhead", container("exec sleep 600"), {
    runtimeClassName: "with-overhead",
  }),
];

const list = (items: Json[]): string =>
  JSON.stringify({ apiVersion: "v1", kind: "List", items });

async function apply(items: Json[]): Promise<void> {
  const { code, stderr } = await orbit.kubectl("create -f -", {
    stdin: list(items),
  });
  if (code !== 0) throw new Error(stderr);
}

const config = (name: string, data: Json, extra: Json = {}): Json => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
  ...extra,
});

async function refresh(): Promise<void> {
  const { stdout } = await orbit.kubectl("get pods -o json");
  state = new Map(
    JSON.parse(stdout).items.map((each: Json) => [each.metadata.name, each]),
  );
}

async function until(
  name: string,
  accept: (status: Json) => boolean,
  timeoutMs = 60_000,
): Promise<Json> {
  await eventually(
    async () => {
      if (accept(state.get(name)?.status ?? {})) return true;
      await refresh();
      return accept(state.get(name)?.status ?? {});
    },
    {
      timeoutMs,
      intervalMs: 300,
      what: `${name} (${JSON.stringify(state.get(name)?.status)})`,
    },
  );
  return state.get(name).status;
}
const ended = (status: Json): boolean =>
  ["Succeeded", "Failed"].includes(status.phase);

beforeAll(async () => {
  const tar = await busyboxImageTar();
  orbit = await startOrbit();
  await orbit.orbit([
    "image",
    "load",
    `--data-dir=${orbit.directory}/data`,
    tar,
  ]);
  await apply([
    config(
      "cm",
      { "data-1": "value-1", "data-2": "value-2" },
      { binaryData: { "dump.bin": "3sr+utD+/w==" } },
    ),
    config("env", { a: "1", b: "2" }),
    config("changing", { "data-1": "old-value\n" }),
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s" },
      stringData: { "data-1": "value-1" },
    },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s-env" },
      stringData: { a: "1" },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "fooservice" },
      spec: { ports: [{ port: 8765 }] },
    },
    {
      apiVersion: "node.k8s.io/v1",
      kind: "RuntimeClass",
      metadata: { name: "with-overhead" },
      handler: "runc",
      overhead: { podFixed: { cpu: "10m", memory: "1Mi" } },
    },
  ]);
  await eventually(
    async () => (await orbit.kubectl("get sa default")).code === 0,
  );
  await apply([...others, ...Object.values(cases).map(([each]) => each)]);
});

afterAll(async () => {
  await orbit?.clean();
});

test.each(Object.entries(cases))("%s", async (_, [{ metadata }, wanted]) => {
  const status = await until(metadata.name, ended, 60_000);
  const { stdout } = await orbit.kubectl(["logs", metadata.name, "-c", "main"]);
  expect({ log: stdout, phase: status.phase }).toEqual({
    log: typeof wanted === "string" ? wanted : expect.stringMatching(wanted),
    phase: "Succeeded",
  });
});

test("termination messages", async () => {
  const message = async (name: string): Promise<string> =>
    (await until(name, ended)).containerStatuses[0].state.terminated.message ??
    "";
  expect(await message("term-file")).toBe("OK");
  expect(await message("term-log")).toBe("DONE");
  expect(await message("term-empty")).toBe("");
  expect(await message("term-path")).toBe("DONE");
});

test("init containers", async () => {
  const failed = await until("init-fails", ended);
  expect(failed.phase).toBe("Failed");
  expect(failed.containerStatuses[0].state.waiting.reason).toBe(
    "PodInitializing",
  );
  const again = await until(
    "init-fails-always",
    (status) => status.initContainerStatuses?.[0].restartCount >= 1,
    30_000,
  );
  expect(again.phase).toBe("Pending");
  expect(again.conditions).toContainEqual(
    expect.objectContaining({
      type: "Initialized",
      status: "False",
      reason: "ContainersNotInitialized",
    }),
  );
  const runs = await until(
    "init-always",
    (status) => status.phase === "Running",
  );
  expect(runs.conditions).toContainEqual(
    expect.objectContaining({ type: "Initialized", status: "True" }),
  );
});

test("expected status of containers that exit", async () => {
  await until(
    "rpa",
    (status) => status.containerStatuses?.[0].restartCount >= 2,
    60_000,
  );
  const once = await until("rpof", ended, 60_000);
  expect([once.phase, once.containerStatuses[0].restartCount]).toEqual([
    "Succeeded",
    1,
  ]);
  const never = await until("rpn", ended);
  expect([
    never.phase,
    never.containerStatuses[0].state.terminated.exitCode,
  ]).toEqual(["Failed", 3]);
});

test("activeDeadlineSeconds may be lowered", async () => {
  await until("deadline", (status) => status.phase === "Running");
  await orbit.kubectl([
    "patch",
    "pod",
    "deadline",
    "-p",
    '{"spec":{"activeDeadlineSeconds":2}}',
  ]);
  expect(await until("deadline", ended)).toMatchObject({
    phase: "Failed",
    reason: "DeadlineExceeded",
  });
});

test("probes", async () => {
  await until(
    "live",
    (status) => status.containerStatuses?.[0].restartCount >= 1,
    30_000,
  );
  const later = await until(
    "ready-later",
    (status) => status.containerStatuses?.[0].ready,
    30_000,
  );
  const started = Date.parse(
    later.containerStatuses[0].state.running.startedAt,
  );
  const ready = Date.parse(
    later.conditions.find(({ type }: Json) => type === "Ready")
      .lastTransitionTime,
  );
  expect(ready - started).toBeGreaterThanOrEqual(3000);
  expect(later.containerStatuses[0].restartCount).toBe(0);
  const never = await until(
    "ready-never",
    (status) => status.phase === "Running",
  );
  expect(never.containerStatuses[0]).toMatchObject({
    ready: false,
    restartCount: 0,
  });
});

test("subpaths that lead elsewhere keep a pod from starting, until they are mended", async () => {
  for (const name of ["bad-subpath", "abs-subpath", "fix-subpath"])
    await until(
      name,
      (status) =>
        status.containerStatuses?.[0].state.waiting?.reason ===
          "CreateContainerConfigError" ||
        status.containerStatuses?.[0].state.waiting?.reason ===
          "CreateContainerError",
      30_000,
    );
  await orbit.kubectl([
    "annotate",
    "--overwrite",
    "pod",
    "fix-subpath",
    "mysubpath=mypath",
  ]);
  await until("fix-subpath", (status) => status.phase === "Running", 60_000);
});

test("updates of config maps and annotations reach the volume", async () => {
  await until("updates", (status) => status.phase === "Running");
  const logs = async (): Promise<string> =>
    (await orbit.kubectl(["logs", "updates"])).stdout;
  await eventually(async () => (await logs()).includes("old-value"), {
    timeoutMs: 30_000,
    what: "old",
  });
  await orbit.kubectl([
    "patch",
    "cm",
    "changing",
    "-p",
    '{"data":{"data-1":"new-value\\n"}}',
  ]);
  await orbit.kubectl([
    "annotate",
    "--overwrite",
    "pod",
    "updates",
    "builder=foo",
  ]);
  await eventually(
    async () => {
      const text = await logs();
      return text.includes("new-value") && text.includes('builder="foo"');
    },
    // Long before the volumes of all pods are compared with the API.
    { timeoutMs: 60_000, what: "the new values" },
  );
});

test("a post-start hook runs", async () => {
  await until("hooks", ended);
  expect((await orbit.kubectl(["logs", "hooks"])).stdout).toBe("started\n");
});

test("an ephemeral container starts in a running pod", async () => {
  await until("debugged", (status) => status.phase === "Running");
  const debug = await orbit.kubectl([
    "debug",
    "debugged",
    "--image=busybox",
    "--image-pull-policy=IfNotPresent",
    "--profile=general",
    "-c",
    "eph",
    "--",
    "sh",
    "-c",
    "echo polo; sleep 600",
  ]);
  expect(debug).toMatchObject({ code: 0 });
  await until(
    "debugged",
    (status) =>
      status.ephemeralContainerStatuses?.[0].state.running !== undefined,
    30_000,
  );
  await eventually(
    async () =>
      (await orbit.kubectl(["logs", "debugged", "-c", "eph"])).stdout ===
      "polo\n",
  );
});

test("QoS class and the overhead of a runtime class", async () => {
  expect(
    (await until("guaranteed", (status) => status.phase === "Running"))
      .qosClass,
  ).toBe("Guaranteed");
  await until("overhead", (status) => status.phase === "Running");
  expect(state.get("overhead").spec.overhead).toEqual({
    cpu: "10m",
    memory: "1Mi",
  });
  const unknown = await orbit.kubectl("create -f -", {
    stdin: list([pod("rc", container("true"), { runtimeClassName: "absent" })]),
  });
  expect(unknown.stderr).toMatch(/RuntimeClass "absent" not found/);
});

test("sysctls that are none are refused", async () => {
  const { stderr } = await orbit.kubectl("create -f -", {
    stdin: list([
      pod("bad", container("true"), {
        securityContext: {
          sysctls: [
            { name: "foo-", value: "bar" },
            { name: "kernel.shmmax", value: "100000000" },
            { name: "safe-and-unsafe", value: "100000000" },
            { name: "bar..", value: "42" },
          ],
        },
      }),
    ]),
  });
  expect(stderr).toMatch(/Invalid value: "foo-"/);
  expect(stderr).toMatch(/Invalid value: "bar\.\."/);
  expect(stderr).not.toMatch(/Invalid value: "kernel\.shmmax"/);
});
