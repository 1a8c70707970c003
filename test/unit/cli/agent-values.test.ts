// Each option of the agent arrives where the agent reads it, from its flag and from its field in a KubeletConfiguration: a
// row for each setting, so that one that is left out, or mixed up with its neighbour, fails here.
import * as fs from "node:fs";
import * as path from "node:path";
import { readAgentOptions } from "../../../cli/agent.ts";
import { agentConfig } from "../../../cli/parts/agent/agent-config.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temp = useTempDirectories();

async function settings(
  flags: readonly string[],
  text = "",
): Promise<Readonly<Record<string, unknown>>> {
  const file = path.join(temp(), "kubelet.yaml");
  fs.writeFileSync(
    file,
    `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${text}\n`,
  );
  const { values } = await readAgentOptions([`--config=${file}`, ...flags]);
  return { ...agentConfig(values) };
}

/** Setting; flag and the field's line in a file, or undefined where there is none; value. */
type Row = [string, string | undefined, string | undefined, unknown];
const rows: Row[] = [
  ["nodeName", "hostname-override=Web", undefined, "web"],
  ["nodeIPs", "node-ip=10.0.0.1,fd00::1", undefined, ["10.0.0.1", "fd00::1"]],
  ["preferredFamily", "node-ip=::", undefined, "IPv6"],
  ["rootDirectory", "root-dir=/r", undefined, "/r"],
  ["resolvConf", "resolv-conf=/etc/r", "resolvConf: /etc/r", "/etc/r"],
  ["manifestsDirectory", "pod-manifest-path=/m", "staticPodPath: /m", "/m"],
  [
    "manifestUrl",
    "manifest-url=http://127.0.0.1/p",
    "staticPodURL: http://127.0.0.1/p",
    "http://127.0.0.1/p",
  ],
  [
    "manifestUrlHeaders",
    "manifest-url-header=A:b",
    'staticPodURLHeader: {A: ["b"]}',
    { A: "b" },
  ],
  [
    "fileCheckFrequencyMs",
    "file-check-frequency=7s",
    "fileCheckFrequency: 7s",
    7000,
  ],
  [
    "httpCheckFrequencyMs",
    "http-check-frequency=8s",
    "httpCheckFrequency: 8s",
    8000,
  ],
  ["syncFrequencyMs", "sync-frequency=9s", "syncFrequency: 9s", 9000],
  [
    "objectChangeDetection",
    undefined,
    "configMapAndSecretChangeDetectionStrategy: Get",
    "Get",
  ],
  ["registerNode", "register-node=false", "registerNode: false", false],
  ["registerSchedulable", "register-schedulable=false", undefined, false],
  [
    "volumeStatsAggPeriodMs",
    "volume-stats-agg-period=11s",
    "volumeStatsAggPeriod: 11s",
    11_000,
  ],
  [
    "enableControllerAttachDetach",
    "enable-controller-attach-detach=false",
    "enableControllerAttachDetach: false",
    false,
  ],
  [
    "registerWithTaints",
    "register-with-taints=a=b:NoSchedule",
    "registerWithTaints: [{key: a, value: b, effect: NoSchedule}]",
    [{ key: "a", value: "b", effect: "NoSchedule" }],
  ],
  ["nodeLabels", "node-labels=a=b", undefined, { a: "b" }],
  ["providerId", "provider-id=x://y", "providerID: x://y", "x://y"],
  [
    "nodeStatusUpdateFrequencyMs",
    "node-status-update-frequency=12s",
    "nodeStatusUpdateFrequency: 12s",
    12_000,
  ],
  [
    "nodeStatusReportFrequencyMs",
    undefined,
    "nodeStatusReportFrequency: 13m",
    780_000,
  ],
  [
    "nodeStatusMaxImages",
    "node-status-max-images=14",
    "nodeStatusMaxImages: 14",
    14,
  ],
  [
    "nodeLeaseDurationSeconds",
    "node-lease-duration-seconds=15",
    "nodeLeaseDurationSeconds: 15",
    15,
  ],
  ["externalCloudProvider", "cloud-provider=external", undefined, true],
  ["maxPods", "max-pods=16", "maxPods: 16", 16],
  ["podsPerCore", "pods-per-core=17", "podsPerCore: 17", 17],
  ["port", "port=18", "port: 18", 18],
  [
    "clusterDns",
    "cluster-dns=10.0.0.9",
    "clusterDNS: [10.0.0.9]",
    ["10.0.0.9"],
  ],
  ["clusterDomain", "cluster-domain=c.d", "clusterDomain: c.d", "c.d"],
  [
    "serializeImagePulls",
    "serialize-image-pulls=false",
    "serializeImagePulls: false",
    false,
  ],
  ["registryQps", "registry-qps=19", "registryPullQPS: 19", 19],
  ["registryBurst", "registry-burst=20", "registryBurst: 20", 20],
  ["eventQps", "event-qps=21", "eventRecordQPS: 21", 21],
  ["eventBurst", "event-burst=22", "eventBurst: 22", 22],
  ["podMaxPids", "pod-max-pids=1023", "podPidsLimit: 1023", 1023],
  ["cpuCfsQuota", "cpu-cfs-quota=false", "cpuCFSQuota: false", false],
  ["seccompDefault", "seccomp-default=true", "seccompDefault: true", true],
  [
    "allowedUnsafeSysctls",
    "allowed-unsafe-sysctls=net.core.somaxconn",
    "allowedUnsafeSysctls: [net.core.somaxconn]",
    ["net.core.somaxconn"],
  ],
  [
    "runtimeRequestTimeoutMs",
    "runtime-request-timeout=23s",
    "runtimeRequestTimeout: 23s",
    23_000,
  ],
  ["cgroupsPerQos", "cgroups-per-qos=false", "cgroupsPerQOS: false", false],
  ["cgroupRoot", "cgroup-root=/a", "cgroupRoot: /a", "/a"],
  ["cgroupDriver", "cgroup-driver=systemd", "cgroupDriver: systemd", "systemd"],
  ["kubeletCgroups", "kubelet-cgroups=/k", "kubeletCgroups: /k", "/k"],
  ["runtimeCgroups", "runtime-cgroups=/c", undefined, "/c"],
  ["systemCgroups", "system-cgroups=/s", "systemCgroups: /s", "/s"],
  [
    "memoryThrottlingFactor",
    "memory-throttling-factor=0.5",
    "memoryThrottlingFactor: 0.5",
    0.5,
  ],
  [
    "swapBehavior",
    "swap-behavior=LimitedSwap",
    "memorySwap: {swapBehavior: LimitedSwap}",
    "LimitedSwap",
  ],
  [
    "singleProcessOomKill",
    "single-process-oom-kill=true",
    "singleProcessOOMKill: true",
    true,
  ],
  [
    "cpuManagerPolicy",
    "cpu-manager-policy=static",
    "cpuManagerPolicy: static",
    "static",
  ],
  [
    "cpuManagerPolicyOptions",
    "cpu-manager-policy-options=full-pcpus-only=true",
    'cpuManagerPolicyOptions: {full-pcpus-only: "true"}',
    { "full-pcpus-only": "true" },
  ],
  [
    "cpuManagerReconcilePeriodMs",
    "cpu-manager-reconcile-period=24s",
    "cpuManagerReconcilePeriod: 24s",
    24_000,
  ],
  ["reservedCpus", "reserved-cpus=0", 'reservedSystemCPUs: "0"', "0"],
  [
    "memoryManagerPolicy",
    "memory-manager-policy=Static",
    "memoryManagerPolicy: Static",
    "Static",
  ],
  [
    "topologyManagerPolicy",
    "topology-manager-policy=restricted",
    "topologyManagerPolicy: restricted",
    "restricted",
  ],
  [
    "topologyManagerPolicyOptions",
    "topology-manager-policy-options=max-allowable-numa-nodes=9",
    'topologyManagerPolicyOptions: {max-allowable-numa-nodes: "9"}',
    { "max-allowable-numa-nodes": "9" },
  ],
  [
    "topologyManagerScope",
    "topology-manager-scope=pod",
    "topologyManagerScope: pod",
    "pod",
  ],
  [
    "kubeReserved",
    "kube-reserved=cpu=1",
    'kubeReserved: {cpu: "1"}',
    { cpu: "1" },
  ],
  [
    "systemReserved",
    "system-reserved=cpu=2",
    'systemReserved: {cpu: "2"}',
    { cpu: "2" },
  ],
  [
    "systemReservedCgroup",
    "system-reserved-cgroup=/sys",
    "systemReservedCgroup: /sys",
    "/sys",
  ],
  [
    "kubeReservedCgroup",
    "kube-reserved-cgroup=/kube",
    "kubeReservedCgroup: /kube",
    "/kube",
  ],
  [
    "enforceNodeAllocatable",
    "enforce-node-allocatable=none",
    "enforceNodeAllocatable: [none]",
    ["none"],
  ],
  [
    "imageGcHighThresholdPercent",
    "image-gc-high-threshold=91",
    "imageGCHighThresholdPercent: 91",
    91,
  ],
  [
    "imageGcLowThresholdPercent",
    "image-gc-low-threshold=71",
    "imageGCLowThresholdPercent: 71",
    71,
  ],
  [
    "minimumImageTtlMs",
    "minimum-image-ttl-duration=25s",
    "imageMinimumGCAge: 25s",
    25_000,
  ],
  ["maximumImageAgeMs", undefined, "imageMaximumGCAge: 26h", 93_600_000],
  ["sandboxImage", "pod-infra-container-image=r/p:1", undefined, "r/p:1"],
  ["maximumDeadContainers", "maximum-dead-containers=27", undefined, 27],
  [
    "maximumDeadContainersPerContainer",
    "maximum-dead-containers-per-container=28",
    undefined,
    28,
  ],
  [
    "minimumContainerTtlMs",
    "minimum-container-ttl-duration=29s",
    undefined,
    29_000,
  ],
  ["podLogsDirectory", undefined, "podLogsDir: /var/log/p", "/var/log/p"],
  [
    "containerLogMaxFiles",
    "container-log-max-files=30",
    "containerLogMaxFiles: 30",
    30,
  ],
  [
    "containerLogMaxSizeBytes",
    "container-log-max-size=31Ki",
    "containerLogMaxSize: 31Ki",
    31_744,
  ],
  [
    "containerLogMaxWorkers",
    "container-log-max-workers=32",
    "containerLogMaxWorkers: 32",
    32,
  ],
  [
    "containerLogMonitorIntervalMs",
    undefined,
    "containerLogMonitorInterval: 33s",
    33_000,
  ],
  ["containerLogBudget", "container-log-budget=34%", undefined, "34%"],
  [
    "evictionHard",
    "eviction-hard=memory.available<35Mi",
    'evictionHard: {memory.available: "35Mi"}',
    { "memory.available": "35Mi" },
  ],
  [
    "evictionMaxPodGraceSeconds",
    "eviction-max-pod-grace-period=36",
    "evictionMaxPodGracePeriod: 36",
    36,
  ],
  [
    "evictionMinimumReclaim",
    "eviction-minimum-reclaim=memory.available=37Mi",
    'evictionMinimumReclaim: {memory.available: "37Mi"}',
    { "memory.available": "37Mi" },
  ],
  [
    "evictionPressureTransitionPeriodMs",
    "eviction-pressure-transition-period=38s",
    "evictionPressureTransitionPeriod: 38s",
    38_000,
  ],
  [
    "localStorageCapacityIsolation",
    "local-storage-capacity-isolation=false",
    "localStorageCapacityIsolation: false",
    false,
  ],
];

/** Settings that want a second option or gate beside them. */
const together: [string, string[], string, unknown][] = [
  [
    "maxParallelImagePulls",
    [],
    "maxParallelImagePulls: 3\nserializeImagePulls: false",
    3,
  ],
  [
    "cpuCfsQuotaPeriodMs",
    ["cpu-cfs-quota-period=50ms", "feature-gates=CustomCPUCFSQuotaPeriod=true"],
    "cpuCFSQuotaPeriod: 50ms\nfeatureGates: {CustomCPUCFSQuotaPeriod: true}",
    50,
  ],
  [
    "maxRestartPeriodMs",
    [],
    "crashLoopBackOff: {maxContainerRestartPeriod: 40s}\nfeatureGates: {KubeletCrashLoopBackOffMax: true}",
    40_000,
  ],
  [
    "qosReserved",
    ["qos-reserved=memory=41%", "feature-gates=QOSReserved=true"],
    'qosReserved: {memory: "41%"}\nfeatureGates: {QOSReserved: true}',
    { memory: "41%" },
  ],
  [
    "reservedMemory",
    ["reserved-memory=0:memory=42Mi", "memory-manager-policy=Static"],
    "memoryManagerPolicy: Static\nreservedMemory: [{numaNode: 0, limits: {memory: 42Mi}}]",
    ["0:memory=42Mi"],
  ],
  [
    "evictionSoft",
    [
      "eviction-soft=memory.available<43Mi",
      "eviction-soft-grace-period=memory.available=44s",
    ],
    'evictionSoft: {memory.available: "43Mi"}\nevictionSoftGracePeriod: {memory.available: 44s}',
    { "memory.available": "43Mi" },
  ],
  [
    "evictionSoftGracePeriod",
    [
      "eviction-soft=memory.available<43Mi",
      "eviction-soft-grace-period=memory.available=44s",
    ],
    'evictionSoft: {memory.available: "43Mi"}\nevictionSoftGracePeriod: {memory.available: 44s}',
    { "memory.available": "44s" },
  ],
];

test.each(rows)(
  "%s from its flag and its field",
  async (key, flag, field, value) => {
    expect(await settings([])).not.toMatchObject({ [key]: value });
    if (flag !== undefined)
      expect(await settings([`--${flag}`])).toHaveProperty(key, value);
    if (field !== undefined)
      expect(await settings([], field)).toHaveProperty(key, value);
  },
);

test.each(together)(
  "%s beside what it needs",
  async (key, flags, text, value) => {
    expect(await settings([])).not.toMatchObject({ [key]: value });
    if (flags.length > 0)
      expect(await settings(flags.map((flag) => `--${flag}`))).toHaveProperty(
        key,
        value,
      );
    expect(await settings([], text)).toHaveProperty(key, value);
  },
);

test("every setting has a row", async () => {
  const elsewhere = ["version", "featureGates", "shutdownPeriods"];
  const tested = [...rows, ...together].map(([key]) => key);
  expect([...new Set([...tested, ...elsewhere])].sort()).toEqual(
    [...new Set([...Object.keys(await settings([])), "cgroupRoot"])].sort(),
  );
});
