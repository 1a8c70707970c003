// Options of `orbit agent` (orbitlet). Those with a `file` path may stand in the KubeletConfiguration of --config; flags
// win. Defaults are the specification's.
import { group, markUnused, option } from "./build-table.ts";
import { apiClientOptions } from "./controller-manager.ts";
import {
  gateOptions,
  loggingOptions,
  metricsOptions,
  profilingOptions,
} from "./shared.ts";
import type { OptionTable } from "./table.ts";

const percent = { min: 0, max: 100 };

const table: OptionTable = [
  group(
    "Node",
    option(
      "config",
      "string",
      "",
      "KubeletConfiguration file (kubelet.config.k8s.io/v1beta1).",
    ),
    option(
      "config-dir",
      "string",
      "",
      "Directory of .conf files merged over --config.",
    ),
    option(
      "hostname-override",
      "string",
      "",
      "Name of the node; the host's name when unset.",
    ),
    option(
      "node-ip",
      "string",
      "",
      "Address of the node (or one of each family, comma-separated).",
    ),
    option("node-labels", "map", "", "Labels the node registers with."),
    option("register-node", "bool", "true", "Register with the API server.", {
      file: "registerNode",
    }),
    option("register-schedulable", "bool", "true", "Register as schedulable."),
    option(
      "register-with-taints",
      "strings",
      "",
      "Taints key=value:effect the node registers with.",
    ),
    option("provider-id", "string", "", "Identity given by the provider.", {
      file: "providerID",
    }),
    option("cloud-provider", "string", "", "Cloud provider."),
    option(
      "node-status-update-frequency",
      "duration",
      "10s",
      "Between reports of the node's status.",
      { min: 1, file: "nodeStatusUpdateFrequency" },
    ),
    option(
      "node-status-max-images",
      "int",
      "50",
      "Images in the node's status; -1: all.",
      { min: -1, file: "nodeStatusMaxImages" },
    ),
    option(
      "node-lease-duration-seconds",
      "int",
      "40",
      "Validity of the node's lease.",
      { min: 1, file: "nodeLeaseDurationSeconds" },
    ),
    option(
      "root-dir",
      "string",
      "/var/lib/orbitlet",
      "Directory of pods' volumes and the agent's state.",
    ),
    option(
      "resolv-conf",
      "string",
      "/etc/resolv.conf",
      "Resolver configuration pods start from.",
      { file: "resolvConf" },
    ),
    option("cluster-dns", "strings", "", "Addresses of DNS servers for pods.", {
      file: "clusterDNS",
    }),
    option("cluster-domain", "string", "", "Domain of the cluster.", {
      file: "clusterDomain",
    }),
    option("max-pods", "int", "110", "Pods that may run.", {
      min: 0,
      file: "maxPods",
    }),
    option("pods-per-core", "int", "0", "Pods a core; 0: no limit.", {
      min: 0,
      file: "podsPerCore",
    }),
    option("pod-max-pids", "int", "-1", "Processes a pod; -1: no limit.", {
      min: -1,
      file: "podPidsLimit",
    }),
    option("max-open-files", "int", "1000000", "Open files of the agent.", {
      min: 0,
      file: "maxOpenFiles",
    }),
    option("oom-score-adj", "int", "-999", "oom_score_adj of the agent.", {
      min: -1000,
      max: 1000,
      file: "oomScoreAdj",
    }),
    option(
      "pod-cidr",
      "string",
      "",
      "Range of pod addresses of a node without cluster.",
      { file: "podCIDR" },
    ),
  ),
  group(
    "Pod sources",
    option(
      "pod-manifest-path",
      "string",
      "",
      "Directory or file of static pods.",
      { aliases: ["manifests"], file: "staticPodPath" },
    ),
    option("manifest-url", "string", "", "URL of static pods.", {
      file: "staticPodURL",
    }),
    option(
      "manifest-url-header",
      "repeated",
      "",
      "Header name:value of requests to --manifest-url; repeatable.",
    ),
    option(
      "file-check-frequency",
      "duration",
      "20s",
      "Between full looks at the directory.",
      { min: 1, file: "fileCheckFrequency" },
    ),
    option(
      "http-check-frequency",
      "duration",
      "20s",
      "Between requests to --manifest-url.",
      { min: 1, file: "httpCheckFrequency" },
    ),
    option(
      "sync-frequency",
      "duration",
      "1m0s",
      "Between full syncs of a pod.",
      { min: 1, file: "syncFrequency" },
    ),
  ),
  group(
    "Serving",
    option("address", "string", "0.0.0.0", "Address of the ports.", {
      file: "address",
    }),
    option("port", "int", "10250", "HTTPS port.", {
      min: 1,
      max: 65535,
      file: "port",
    }),
    option(
      "read-only-port",
      "int",
      "10255",
      "HTTP port without authentication; 0 disables.",
      { min: 0, max: 65535, file: "readOnlyPort" },
    ),
    option("healthz-port", "int", "10248", "Health port; 0 disables.", {
      min: 0,
      max: 65535,
      file: "healthzPort",
    }),
    option(
      "healthz-bind-address",
      "string",
      "127.0.0.1",
      "Address of the health port.",
      { file: "healthzBindAddress" },
    ),
    option("enable-server", "bool", "true", "Serve at all.", {
      file: "enableServer",
    }),
    option(
      "enable-debugging-handlers",
      "bool",
      "true",
      "Serve logs, exec, attach, port-forward.",
      { file: "enableDebuggingHandlers" },
    ),
    option(
      "streaming-connection-idle-timeout",
      "duration",
      "4h0m0s",
      "Idle time of a stream; at most 4 hours.",
      { min: 0, max: 14_400_000, file: "streamingConnectionIdleTimeout" },
    ),
    option(
      "cert-dir",
      "string",
      "/var/lib/orbitlet/pki",
      "Directory of the agent's certificates.",
    ),
    option("tls-cert-file", "string", "", "Serving certificate.", {
      file: "tlsCertFile",
    }),
    option("tls-private-key-file", "string", "", "Its key.", {
      file: "tlsPrivateKeyFile",
    }),
    option("tls-min-version", "string", "", "Lowest TLS version.", {
      file: "tlsMinVersion",
    }),
    option("tls-cipher-suites", "strings", "", "Cipher suites.", {
      file: "tlsCipherSuites",
    }),
    option(
      "tls-sni-cert-key",
      "repeated",
      "",
      "certificate,key[:pattern,…] of further names.",
    ),
  ),
  group(
    "Authentication and authorization",
    option("anonymous-auth", "bool", "true", "Allow anonymous requests.", {
      file: "authentication.anonymous.enabled",
    }),
    option(
      "authentication-token-webhook",
      "bool",
      "false",
      "Check tokens at the API server.",
      { file: "authentication.webhook.enabled" },
    ),
    option(
      "authentication-token-webhook-cache-ttl",
      "duration",
      "2m0s",
      "How long its answers are kept.",
      { file: "authentication.webhook.cacheTTL" },
    ),
    option("authorization-mode", "string", "AlwaysAllow", "Who may do what.", {
      values: ["AlwaysAllow", "Webhook"],
      file: "authorization.mode",
    }),
    option(
      "authorization-webhook-cache-authorized-ttl",
      "duration",
      "5m0s",
      "How long allowed answers are kept.",
      { file: "authorization.webhook.cacheAuthorizedTTL" },
    ),
    option(
      "authorization-webhook-cache-unauthorized-ttl",
      "duration",
      "30s",
      "How long denied answers are kept.",
      { file: "authorization.webhook.cacheUnauthorizedTTL" },
    ),
    option(
      "client-ca-file",
      "string",
      "",
      "CA bundle of client certificates.",
      { file: "authentication.x509.clientCAFile" },
    ),
    option(
      "bootstrap-kubeconfig",
      "string",
      "",
      "Kubeconfig that asks for the first client certificate.",
    ),
    option(
      "rotate-certificates",
      "bool",
      "false",
      "Renew the client certificate.",
      { file: "rotateCertificates" },
    ),
    option(
      "rotate-server-certificates",
      "bool",
      "false",
      "Renew the serving certificate by request.",
      { file: "serverTLSBootstrap" },
    ),
  ),
  apiClientOptions("50", "100"),
  group(
    "Events and registries",
    option("event-qps", "int", "50", "Events a second; 0: no limit.", {
      min: 0,
      file: "eventRecordQPS",
    }),
    option("event-burst", "int", "100", "Events at once.", {
      min: 0,
      file: "eventBurst",
    }),
    option("registry-qps", "int", "5", "Image pulls a second; 0: no limit.", {
      min: 0,
      file: "registryPullQPS",
    }),
    option("registry-burst", "int", "10", "Image pulls at once.", {
      min: 0,
      file: "registryBurst",
    }),
    option("serialize-image-pulls", "bool", "true", "One pull at a time.", {
      file: "serializeImagePulls",
    }),
    option(
      "image-credential-provider-bin-dir",
      "string",
      "",
      "Directory of credential provider programs.",
    ),
    option(
      "image-credential-provider-config",
      "string",
      "",
      "Their configuration.",
    ),
  ),
  group(
    "Runtime",
    option(
      "container-runtime-endpoint",
      "string",
      "unix:///run/containerd/containerd.sock",
      "Socket of the runtime.",
      { file: "containerRuntimeEndpoint" },
    ),
    option(
      "image-service-endpoint",
      "string",
      "",
      "Socket of the image service; the runtime's when unset.",
      { file: "imageServiceEndpoint" },
    ),
    option(
      "runtime-request-timeout",
      "duration",
      "2m0s",
      "Timeout of runtime calls.",
      { min: 1, file: "runtimeRequestTimeout" },
    ),
    option("cgroup-driver", "string", "cgroupfs", "Who makes cgroups.", {
      values: ["cgroupfs", "systemd"],
      file: "cgroupDriver",
    }),
    option("cgroup-root", "string", "", "Root of the pods' cgroups.", {
      file: "cgroupRoot",
    }),
    option(
      "cgroups-per-qos",
      "bool",
      "true",
      "Cgroups for QoS classes and pods.",
      { file: "cgroupsPerQOS" },
    ),
    option("runtime-cgroups", "string", "", "Cgroup of the runtime."),
    option("kubelet-cgroups", "string", "", "Cgroup of the agent.", {
      file: "kubeletCgroups",
    }),
    option("system-cgroups", "string", "", "Cgroup for other processes.", {
      file: "systemCgroups",
    }),
    option(
      "hairpin-mode",
      "string",
      "promiscuous-bridge",
      "How a pod reaches itself by its service.",
      {
        values: ["promiscuous-bridge", "hairpin-veth", "none"],
        file: "hairpinMode",
      },
    ),
    option(
      "make-iptables-util-chains",
      "bool",
      "true",
      "Make the utility firewall chains.",
      { file: "makeIPTablesUtilChains" },
    ),
    option(
      "seccomp-default",
      "bool",
      "false",
      "RuntimeDefault as the default seccomp profile.",
      { file: "seccompDefault" },
    ),
    option("fail-swap-on", "bool", "true", "Refuse to start with swap on.", {
      file: "failSwapOn",
    }),
    option("fail-cgroupv1", "bool", "true", "Refuse to start on cgroup v1.", {
      file: "failCgroupV1",
    }),
    option("container-log-max-files", "int", "5", "Log files a container.", {
      min: 2,
      file: "containerLogMaxFiles",
    }),
    option(
      "container-log-max-size",
      "quantity",
      "10Mi",
      "Size at which a log is rotated.",
      { file: "containerLogMaxSize" },
    ),
    option(
      "allowed-unsafe-sysctls",
      "strings",
      "",
      "Unsafe sysctls pods may set.",
      { file: "allowedUnsafeSysctls" },
    ),
    option(
      "volume-plugin-dir",
      "string",
      "/usr/libexec/orbit/orbitlet-plugins/volume/exec/",
      "Directory of flex volume plugins.",
      { file: "volumePluginDir" },
    ),
    option(
      "volume-stats-agg-period",
      "duration",
      "1m0s",
      "Between looks at volumes' usage.",
      { file: "volumeStatsAggPeriod" },
    ),
    option(
      "enable-controller-attach-detach",
      "bool",
      "true",
      "Leave attaching to the controllers.",
      { file: "enableControllerAttachDetach" },
    ),
  ),
  group(
    "Resources",
    option("cpu-cfs-quota", "bool", "true", "Enforce CPU limits.", {
      file: "cpuCFSQuota",
    }),
    option(
      "cpu-cfs-quota-period",
      "duration",
      "100ms",
      "Period of CPU limits.",
      { min: 1, max: 1000, file: "cpuCFSQuotaPeriod" },
    ),
    option("cpu-manager-policy", "string", "none", "Exclusive CPUs.", {
      values: ["none", "static"],
      file: "cpuManagerPolicy",
    }),
    option("cpu-manager-policy-options", "map", "", "Options of the policy.", {
      file: "cpuManagerPolicyOptions",
    }),
    option(
      "cpu-manager-reconcile-period",
      "duration",
      "10s",
      "Between reconciles.",
      { file: "cpuManagerReconcilePeriod" },
    ),
    option("memory-manager-policy", "string", "None", "Pinned memory.", {
      values: ["None", "Static"],
      file: "memoryManagerPolicy",
    }),
    option(
      "topology-manager-policy",
      "string",
      "none",
      "Alignment of resources.",
      {
        values: ["none", "best-effort", "restricted", "single-numa-node"],
        file: "topologyManagerPolicy",
      },
    ),
    option(
      "topology-manager-policy-options",
      "map",
      "",
      "Options of the policy.",
      { file: "topologyManagerPolicyOptions" },
    ),
    option(
      "topology-manager-scope",
      "string",
      "container",
      "Unit of alignment.",
      { values: ["container", "pod"], file: "topologyManagerScope" },
    ),
    option(
      "enforce-node-allocatable",
      "strings",
      "pods",
      "What is held to its share.",
      {
        values: ["none", "pods", "system-reserved", "kube-reserved"],
        file: "enforceNodeAllocatable",
      },
    ),
    option(
      "kube-reserved",
      "map",
      "",
      "Resources kept for the agent and runtime.",
      { file: "kubeReserved" },
    ),
    option("kube-reserved-cgroup", "string", "", "Their cgroup.", {
      file: "kubeReservedCgroup",
    }),
    option("system-reserved", "map", "", "Resources kept for the system.", {
      file: "systemReserved",
    }),
    option("system-reserved-cgroup", "string", "", "Its cgroup.", {
      file: "systemReservedCgroup",
    }),
    option("reserved-cpus", "string", "", "CPUs kept for system and agent.", {
      file: "reservedSystemCPUs",
    }),
    option("reserved-memory", "repeated", "", "Memory kept a NUMA node."),
    option(
      "qos-reserved",
      "map",
      "",
      "Share of requests kept for guaranteed pods.",
      { file: "qosReserved" },
    ),
    option(
      "local-storage-capacity-isolation",
      "bool",
      "true",
      "Hold pods to their local storage.",
      { file: "localStorageCapacityIsolation" },
    ),
  ),
  group(
    "Eviction and garbage collection",
    option(
      "eviction-hard",
      "map",
      "imagefs.available<15%,memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%",
      "Thresholds that evict at once.",
      { file: "evictionHard" },
    ),
    option("eviction-soft", "map", "", "Thresholds with a grace period.", {
      file: "evictionSoft",
    }),
    option("eviction-soft-grace-period", "map", "", "Their grace periods.", {
      file: "evictionSoftGracePeriod",
    }),
    option(
      "eviction-max-pod-grace-period",
      "int",
      "0",
      "Longest grace of a soft eviction, in seconds.",
      { min: 0, file: "evictionMaxPodGracePeriod" },
    ),
    option(
      "eviction-minimum-reclaim",
      "map",
      "",
      "Least that an eviction frees.",
      { file: "evictionMinimumReclaim" },
    ),
    option(
      "eviction-pressure-transition-period",
      "duration",
      "5m0s",
      "Time before pressure is over.",
      { min: 0, file: "evictionPressureTransitionPeriod" },
    ),
    option(
      "image-gc-high-threshold",
      "int",
      "85",
      "Disk use in percent at which images are removed.",
      { ...percent, file: "imageGCHighThresholdPercent" },
    ),
    option(
      "image-gc-low-threshold",
      "int",
      "80",
      "Disk use in percent down to which they are removed.",
      { ...percent, file: "imageGCLowThresholdPercent" },
    ),
    option(
      "minimum-image-ttl-duration",
      "duration",
      "2m0s",
      "Least age of an unused image that is removed.",
      { min: 0, file: "imageMinimumGCAge" },
    ),
    option(
      "maximum-dead-containers",
      "int",
      "-1",
      "Dead containers kept; -1: no limit.",
    ),
    option(
      "maximum-dead-containers-per-container",
      "int",
      "1",
      "Dead instances kept a container.",
    ),
  ),
  profilingOptions,
  loggingOptions,
  metricsOptions,
  gateOptions,
];

export const usedAgentOptions: readonly string[] = [
  "logging-format",
  "v",
  "log-flush-frequency",
  "config",
];

export const agentOptions: OptionTable = markUnused(table, usedAgentOptions);
