// --config and the drop-ins of --config-dir: what wins, how maps and lists are merged, and that a problem names its file.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { readAgentOptions } from "../../../cli/agent.ts";
import { checkAgentOptions } from "../../../cli/parts/agent/checks/agent-checks.ts";
import { shownConfiguration } from "../../../cli/parts/agent/shown-configuration.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temp = useTempDirectories();
const head =
  "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

/** The options of an agent started with these files; a name without `conf.d/` is --config. */
async function read(
  files: Readonly<Record<string, string>>,
  ...flags: string[]
) {
  const directory = temp();
  fs.mkdirSync(path.join(directory, "conf.d"));
  for (const [name, body] of Object.entries(files)) {
    const file = path.join(directory, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, body);
  }
  const config = Object.keys(files).find((name) => !name.includes("/"));
  const { values } = await readAgentOptions([
    ...(config ? [`--config=${path.join(directory, config)}`] : []),
    `--config-dir=${path.join(directory, "conf.d")}`,
    ...flags,
  ]);
  return values;
}

test("flags win over drop-ins, later ones over earlier ones, these over the file, that over the defaults", async () => {
  const values = await read(
    {
      "kubelet.yaml": `${head}maxPods: 10\npodsPerCore: 10\nport: 11250\nhealthzPort: 11248\n`,
      "conf.d/20-last.conf": `${head}maxPods: 30\nport: 13250\n`,
      "conf.d/10-first.conf": `${head}maxPods: 20\npodsPerCore: 20\n`,
    },
    "--port=14250",
  );
  expect(values.number("max-pods")).toBe(30);
  expect(values.number("pods-per-core")).toBe(20);
  expect(values.number("port")).toBe(14250);
  expect(values.number("healthz-port")).toBe(11248);
  expect(values.number("node-status-max-images")).toBe(50);
});

test("only *.conf counts, at any depth, each directory in its place", async () => {
  const values = await read({
    "conf.d/10.conf": `${head}maxPods: 1\n`,
    "conf.d/20/b.conf": `${head}maxPods: 2\npodsPerCore: 2\n`,
    "conf.d/30.conf": `${head}maxPods: 3\n`,
    "conf.d/90.yaml": "not a configuration",
  });
  expect(values.number("max-pods")).toBe(3);
  expect(values.number("pods-per-core")).toBe(2);
});

test("maps are merged by key, lists replaced, and null takes a field back", async () => {
  const values = await read({
    "kubelet.yaml": `${head}evictionHard: {memory.available: 1Gi, nodefs.available: 9%}\nclusterDNS: [10.0.0.1]\nmaxPods: 5\n`,
    "conf.d/1.conf": `${head}evictionHard: {memory.available: 2Gi, nodefs.available: null}\nclusterDNS: [10.0.0.2, 10.0.0.3]\nmaxPods: null\n`,
  });
  expect(values.map("eviction-hard")).toEqual({ "memory.available": "<2Gi" });
  expect(values.list("cluster-dns")).toEqual(["10.0.0.2", "10.0.0.3"]);
  expect(values.number("max-pods")).toBe(110);
});

test("gates of flags, drop-ins and the file are put together; other maps of flags replace the file's", async () => {
  const values = await read(
    {
      "kubelet.yaml": `${head}featureGates: {NodeLogQuery: true, QOSReserved: true}\nsystemReserved: {cpu: 1, memory: 1Gi}\n`,
      "conf.d/1.conf": `${head}featureGates: {ImageVolume: true}\n`,
    },
    "--feature-gates=QOSReserved=false,MemoryQoS=true",
    "--system-reserved=cpu=2",
  );
  expect(values.map("feature-gates")).toEqual({
    NodeLogQuery: "true",
    QOSReserved: "false",
    ImageVolume: "true",
    MemoryQoS: "true",
  });
  expect(values.map("system-reserved")).toEqual({ cpu: "2" });
});

test("a section that is null is none, and takes back what was said", async () => {
  const values = await read({
    "kubelet.yaml": `${head}memorySwap: null\nlogging: {verbosity: 7, format: json}\nauthentication: {webhook: {cacheTTL: 5s}}\n`,
    "conf.d/1.conf": `${head}logging: null\nauthentication: {webhook: null}\n`,
  });
  expect(values.number("v")).toBe(0);
  expect(values.text("logging-format")).toBe("text");
  expect(values.number("authentication-token-webhook-cache-ttl")).toBe(120_000);
  expect(values.text("swap-behavior")).toBe("NoSwap");
});

test("a drop-in's thresholds are merged with the defaults when no file says any", async () => {
  const values = await read({
    "conf.d/1.conf": `${head}evictionHard: {memory.available: 2Gi}\n`,
  });
  expect(values.map("eviction-hard")).toMatchObject({
    "memory.available": "<2Gi",
    "nodefs.available": "<10%",
  });
});

test("a file closes the ports, as at the reference; drop-ins alone leave the flags' defaults", async () => {
  const alone = await read({ "conf.d/1.conf": `${head}maxPods: 5\n` });
  expect(alone.flag("anonymous-auth")).toBe(true);
  const withFile = await read({ "kubelet.yaml": head });
  expect(withFile.flag("anonymous-auth")).toBe(false);
  expect(withFile.text("authorization-mode")).toBe("Webhook");
});

test.each([
  [`${head}maxPods: many\n`, /1\.conf:3: maxPods: must be a number$/],
  [
    `${head}maxPods: 3000000000\n`,
    /1\.conf:3: maxPods: 3000000000 does not fit into 32 bits$/,
  ],
  [`${head}maxpods: 1\n`, /1\.conf:3: maxpods: unknown field$/],
  ["kind: Pod\n", /1\.conf:1: kind: must be KubeletConfiguration/],
  ["[", /1\.conf:1: /],
  ["", /1\.conf: not a KubeletConfiguration/],
])("a bad drop-in %#", async (body, message) => {
  await expect(
    read({ "kubelet.yaml": head, "conf.d/1.conf": body }),
  ).rejects.toThrow(message);
});

test.each<[string, string, readonly unknown[]]>([
  ["nothing of it", "maxPods: 5\n", [true, false, "AlwaysAllow"]],
  ["no section", "authentication: null\nauthorization: null\n", closed()],
  [
    "no value",
    'authentication: {anonymous: {enabled: null}, webhook: null}\nauthorization: {mode: ""}\n',
    closed(),
  ],
])(
  "drop-ins without a file that say %s about who may ask",
  async (_what, body, wanted) => {
    const of = async (...flags: string[]) => {
      const values = await read({ "conf.d/1.conf": head + body }, ...flags);
      return [
        values.flag("anonymous-auth"),
        values.flag("authentication-token-webhook"),
        values.text("authorization-mode"),
      ];
    };
    expect(await of()).toEqual(wanted);
    expect(await of("--anonymous-auth=true")).toEqual([
      true,
      ...wanted.slice(1),
    ]);
  },
);

function closed(): readonly unknown[] {
  return [false, true, "Webhook"];
}

test("what has no end and what waits for another end is refused by its option", async () => {
  const directory = temp();
  execFileSync("mkfifo", [path.join(directory, "10.conf")]);
  await expect(readAgentOptions([`--config-dir=${directory}`])).rejects.toThrow(
    /--config-dir: .*10\.conf is not a regular file/,
  );
  await expect(readAgentOptions(["--config=/dev/zero"])).rejects.toThrow(
    "--config: /dev/zero is more than 10485760 bytes",
  );
});

test("a directory that does not exist is refused by the option's name", async () => {
  await expect(
    readAgentOptions(["--config-dir=/nonexistent/conf.d"]),
  ).rejects.toThrow(/^--config-dir: ENOENT/);
});

test("the directory of pods' logs", async () => {
  const of = async (body: string): Promise<string> => {
    const values = await read({ "conf.d/1.conf": head + body });
    checkAgentOptions(values);
    return values.text("pod-logs-dir");
  };
  expect(await of("")).toBe("/var/log/pods");
  expect(await of("podLogsDir: /srv/logs\n")).toBe("/srv/logs");
  for (const [value, fault] of [
    ["logs", "must be an absolute path"],
    ["/srv/../logs", "must be a normalized path"],
    ["/srv/logs/", "must be a normalized path"],
    ["/srv/lögs", "may contain only printable ASCII characters"],
  ] as const)
    await expect(of(`podLogsDir: ${value}\n`)).rejects.toThrow(
      `podLogsDir "${value}" ${fault}`,
    );
});

test("what is in force reads as a KubeletConfiguration, without secrets", async () => {
  const values = await read(
    {
      "kubelet.yaml": `${head}maxPods: 10
staticPodURLHeader: {Authorization: [Bearer secret]}
registerWithTaints: [{key: a, value: b, effect: NoSchedule}, {key: c.d/e, effect: NoExecute}]
shutdownGracePeriodByPodPriority: [{priority: 1000, shutdownGracePeriodSeconds: 30}]
reservedMemory: [{numaNode: 1, limits: {memory: 1Gi, hugepages-2Mi: 2Mi}}]
featureGates: {KubeletPodResourcesGet: true, AllAlpha: false}
evictionHard: {memory.available: 5%}
imageMaximumGCAge: 90s
authentication: {x509: {clientCAFile: /ca.crt}, webhook: {cacheTTL: 1m30s}}
logging: {verbosity: 3}
`,
    },
    "--address=192.0.2.1",
  );
  const shown = (inCluster: boolean) =>
    shownConfiguration({
      ...{ values, inCluster, address: "127.0.0.1" },
      runtimeEndpoint: "unix:///run/found.sock",
      settings: { kind: "KubeletConfiguration", maxPods: 11 },
    });
  expect(shown(false)).toMatchObject({
    kind: "KubeletConfiguration",
    maxPods: 11,
    address: "127.0.0.1",
    containerRuntimeEndpoint: "unix:///run/found.sock",
    healthzPort: 10248,
    syncFrequency: "1m0s",
    imageMaximumGCAge: "1m30s",
    containerLogMaxSize: "10Mi",
    enforceNodeAllocatable: ["pods"],
    evictionHard: { "memory.available": "5%" },
    featureGates: { KubeletPodResourcesGet: true, AllAlpha: false },
    shutdownGracePeriod: "0s",
    shutdownGracePeriodByPodPriority: [
      { priority: 1000, shutdownGracePeriodSeconds: 30 },
    ],
    registerWithTaints: [
      { key: "a", value: "b", effect: "NoSchedule" },
      { key: "c.d/e", effect: "NoExecute" },
    ],
    reservedMemory: [
      { numaNode: 1, limits: { memory: "1Gi", "hugepages-2Mi": "2Mi" } },
    ],
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true, cacheTTL: "1m30s" },
      x509: { clientCAFile: "/ca.crt" },
    },
    authorization: { mode: "Webhook" },
    logging: { verbosity: 3, flushFrequency: "5s" },
  });
  expect(JSON.stringify(shown(false))).not.toContain("secret");
  expect(shown(false)).not.toHaveProperty("tracing");
  expect(shown(true)).toMatchObject({
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true, cacheTTL: "1m30s" },
    },
    authorization: { mode: "Webhook" },
  });
});

test("in a cluster the port is closed, whatever the options say", async () => {
  const values = await read({});
  const shown = (inCluster: boolean) =>
    shownConfiguration({
      ...{ values, inCluster, address: "::", settings: {} },
      runtimeEndpoint: undefined,
    });
  expect(shown(false)).toMatchObject({
    authentication: { anonymous: { enabled: true } },
    authorization: { mode: "AlwaysAllow" },
  });
  expect(shown(true)).toMatchObject({
    authentication: { anonymous: { enabled: false } },
    authorization: { mode: "Webhook" },
  });
});

test("a whole configuration as kubeadm writes it: a zero is none", async () => {
  const values = await read({
    "kubelet.yaml": `${head}authentication:
  anonymous: {enabled: false}
  webhook: {cacheTTL: 0s, enabled: true}
  x509: {clientCAFile: /etc/kubernetes/pki/ca.crt}
authorization:
  mode: Webhook
  webhook: {cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 0s}
cgroupDriver: ""
containerRuntimeEndpoint: ""
cpuManagerReconcilePeriod: 0s
crashLoopBackOff: {}
evictionPressureTransitionPeriod: 0s
fileCheckFrequency: 0s
healthzPort: 10248
httpCheckFrequency: 0s
imageMaximumGCAge: 0s
imageMinimumGCAge: 0s
logging:
  flushFrequency: 0
  options: {json: {infoBufferSize: "0"}, text: {infoBufferSize: "0"}}
  verbosity: 0
maxPods: 0
memorySwap: {}
nodeLeaseDurationSeconds: 0
nodeStatusReportFrequency: 0s
nodeStatusUpdateFrequency: 0s
podPidsLimit: -7
port: 0
rotateCertificates: true
runtimeRequestTimeout: 0s
shutdownGracePeriod: 0s
shutdownGracePeriodCriticalPods: 0s
streamingConnectionIdleTimeout: 0s
syncFrequency: 0s
tlsMinVersion: ""
volumeStatsAggPeriod: 0s
`,
  });
  checkAgentOptions(values);
  expect(values.text("authorization-mode")).toBe("Webhook");
  expect(values.text("cgroup-driver")).toBe("cgroupfs");
  expect(values.number("file-check-frequency")).toBe(20_000);
  expect(values.number("node-status-report-frequency")).toBe(300_000);
  expect(values.number("node-status-update-frequency")).toBe(10_000);
  expect(values.number("max-pods")).toBe(110);
  expect(values.number("pod-max-pids")).toBe(-1);
  expect(values.number("port")).toBe(10250);
  expect(values.number("streaming-connection-idle-timeout")).toBe(14_400_000);
  expect(values.isSet("container-runtime-endpoint")).toBe(false);
});

test("a taint without an effect is refused as it is written", async () => {
  const values = await read({
    "kubelet.yaml": `${head}registerWithTaints: [{key: k}]\n`,
  });
  expect(() => checkAgentOptions(values)).toThrow('invalid argument "k:"');
});

test("a taint is given once", async () => {
  const twice = await read(
    {},
    "--register-with-taints=k=a:NoSchedule,k:NoSchedule",
  );
  expect(() => checkAgentOptions(twice)).toThrow(
    "duplicated taints with the same key and effect",
  );
  checkAgentOptions(
    await read({}, "--register-with-taints=k:NoSchedule,k:NoExecute"),
  );
});

test("a zero that says something stays", async () => {
  const values = await read({
    "kubelet.yaml": `${head}healthzPort: 0\npodsPerCore: 0\neventRecordQPS: 0\nregistryPullQPS: 0\nresolvConf: ""\nnodeStatusMaxImages: 0\nevictionHard: {}\n`,
  });
  expect(values.number("healthz-port")).toBe(0);
  expect(values.number("event-qps")).toBe(0);
  expect(values.number("registry-qps")).toBe(0);
  expect(values.number("node-status-max-images")).toBe(0);
  expect(values.text("resolv-conf")).toBe("");
  expect(values.map("eviction-hard")).toEqual({});
});

test("a drop-in's zero takes a number of the file back to the default", async () => {
  const values = await read({
    "kubelet.yaml": `${head}maxPods: 5\n`,
    "conf.d/1.conf": `${head}maxPods: 0\n`,
  });
  expect(values.number("max-pods")).toBe(110);
});

test("paths of the file begin at its directory, those of drop-ins where they are used", async () => {
  const values = await read({
    "kubelet.yaml": `${head}staticPodPath: manifests\ntlsCertFile: pki/../s.crt\nauthentication: {x509: {clientCAFile: /ca.crt}}\n`,
    "conf.d/1.conf": `${head}tlsPrivateKeyFile: s.key\n`,
  });
  const directory = path.dirname(values.text("config"));
  expect(values.text("pod-manifest-path")).toBe(`${directory}/manifests`);
  expect(values.text("tls-cert-file")).toBe(`${directory}/s.crt`);
  expect(values.text("client-ca-file")).toBe("/ca.crt");
  expect(values.text("tls-private-key-file")).toBe("s.key");
});

test("the file's update frequency is its report frequency, and parallel pulls are not serialized", async () => {
  const fileOnly = await read({
    "kubelet.yaml": `${head}nodeStatusUpdateFrequency: 20s\nmaxParallelImagePulls: 5\n`,
  });
  checkAgentOptions(fileOnly);
  expect(fileOnly.number("node-status-report-frequency")).toBe(20_000);
  expect(fileOnly.flag("serialize-image-pulls")).toBe(false);
  const others = await read(
    {
      "kubelet.yaml": `${head}nodeStatusUpdateFrequency: 20s\nnodeStatusReportFrequency: 1m\nmaxParallelImagePulls: 1\n`,
      "conf.d/1.conf": `${head}nodeStatusUpdateFrequency: 30s\n`,
    },
    "--node-status-update-frequency=15s",
  );
  expect(others.number("node-status-update-frequency")).toBe(15_000);
  expect(others.number("node-status-report-frequency")).toBe(60_000);
  expect(others.flag("serialize-image-pulls")).toBe(true);
  const dropIn = await read({
    "kubelet.yaml": head,
    "conf.d/1.conf": `${head}nodeStatusUpdateFrequency: 30s\n`,
  });
  expect(dropIn.number("node-status-report-frequency")).toBe(300_000);
});

test.each([
  ["systemReserved: {foo: 1}", /systemReserved: .*cannot reserve "foo"/],
  ["kubeReserved: {memory: much}", /kubeReserved: .*memory=much/],
  ["kubeReserved: {memory: -1Gi}", /cannot be negative/],
  ["iptablesDropBit: 32", /iptablesDropBit: 32 must be between 0 and 31/],
  ["runOnce: true", /runOnce: Runonce mode has been deprecated/],
  [
    "logging: {options: {text: {splitStream: true}}}",
    /logging.options.text.splitStream: Forbidden: Feature LoggingAlphaOptions/,
  ],
  ["userNamespaces: {}", /:3: userNamespaces: unknown field/],
  [
    'registerWithTaints: [{key: a, effect: NoSchedule, timeAdded: "2026-01-01T00:00:00Z"}]',
    /registerWithTaints: taint.TimeAdded is not nil/,
  ],
  [
    "logging: {options: {xml: {}, json: {size: 1}}}",
    /json.size: unknown field/,
  ],
])("a field that is refused: %s", async (body, message) => {
  await expect(read({ "kubelet.yaml": `${head}${body}\n` })).rejects.toThrow(
    message,
  );
});

test("what is read and written back asks for nothing that was not asked for", async () => {
  const shown = async (body: string): Promise<object> =>
    shownConfiguration({
      values: await read({ "kubelet.yaml": `${head}${body}` }),
      ...{
        inCluster: false,
        address: "::",
        settings: {},
        runtimeEndpoint: undefined,
      },
    });
  // By default cgroup v1 is warned of; true would refuse the next start on it.
  expect(await shown("")).toMatchObject({ failCgroupV1: false });
  expect(await shown("failCgroupV1: true\n")).toMatchObject({
    failCgroupV1: true,
  });
  // A false that is said is refused there, too.
  expect(await shown("")).not.toHaveProperty("singleProcessOOMKill");
  expect(await shown("singleProcessOOMKill: true\n")).toMatchObject({
    singleProcessOOMKill: true,
  });
});
