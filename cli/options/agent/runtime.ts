// Options of the agent about events, images, the container runtime and what pods are started with.
import { group, option } from "../build-table.ts";
import type { OptionTable } from "../table.ts";

export const agentRuntimeOptions: OptionTable = [
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
    option(
      "serialize-image-pulls",
      "bool",
      "true",
      "One pull at a time; one that takes more than a minute goes on beside the next.",
      { file: "serializeImagePulls" },
    ),
    option(
      "image-credential-provider-bin-dir",
      "string",
      "",
      "Directory of the programs that --image-credential-provider-config names.",
    ),
    option(
      "image-credential-provider-config",
      "string",
      "",
      "CredentialProviderConfig file: programs that give credentials for images.",
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
      "pod-infra-container-image",
      "string",
      "",
      "Image of sandboxes, kept from garbage collection where the runtime does not say that it is in use.",
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
    option(
      "lock-file",
      "string",
      "",
      "File whose lock is waited for and then held: one agent at a time.",
    ),
    option(
      "exit-on-lock-contention",
      "bool",
      "false",
      "Stop when another waits for the lock of --lock-file; pods keep running.",
    ),
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
    option(
      "fail-swap-on",
      "bool",
      "true",
      "Refuse to start with swap on; `orbit server` only when given.",
      {
        file: "failSwapOn",
      },
    ),
    option(
      "fail-cgroupv1",
      "bool",
      "true",
      "Refuse to start on cgroup v1 when given; else warn.",
      {
        file: "failCgroupV1",
      },
    ),
    option(
      "protect-kernel-defaults",
      "bool",
      "false",
      "Refuse to start where the kernel is not set as pods want it (vm.overcommit_memory and the like); nothing is set here.",
      { file: "protectKernelDefaults" },
    ),
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
];
