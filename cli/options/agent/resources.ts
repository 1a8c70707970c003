// Options of the agent about the resources of the node and how pods share them.
import { group, option } from "../build-table.ts";
import { areReservations } from "../values/checks.ts";
import type { OptionTable } from "../table.ts";

export const agentResourceOptions: OptionTable = [
  group(
    "Resources",
    option("cpu-cfs-quota", "bool", "true", "Enforce CPU limits.", {
      file: "cpuCFSQuota",
    }),
    option(
      "cpu-cfs-quota-period",
      "duration",
      "100ms",
      "Period of CPU limits; another one needs the gate CustomCPUCFSQuotaPeriod.",
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
      { min: 0, file: "cpuManagerReconcilePeriod" },
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
        values: [
          "none",
          "pods",
          "system-reserved",
          "system-reserved-compressible",
          "kube-reserved",
          "kube-reserved-compressible",
        ],
        file: "enforceNodeAllocatable",
      },
    ),
    option(
      "kube-reserved",
      "map",
      "",
      "Resources kept for the agent and runtime.",
      { check: areReservations, file: "kubeReserved" },
    ),
    option("kube-reserved-cgroup", "string", "", "Their cgroup.", {
      file: "kubeReservedCgroup",
    }),
    option("system-reserved", "map", "", "Resources kept for the system.", {
      check: areReservations,
      file: "systemReserved",
    }),
    option("system-reserved-cgroup", "string", "", "Its cgroup.", {
      file: "systemReservedCgroup",
    }),
    option("reserved-cpus", "string", "", "CPUs kept for system and agent.", {
      file: "reservedSystemCPUs",
    }),
    option("reserved-memory", "repeated", "", "Memory kept a NUMA node.", {
      file: "reservedMemory",
    }),
    option(
      "qos-reserved",
      "map",
      "",
      "Share of requests kept for guaranteed pods.",
      { file: "qosReserved" },
    ),
    option(
      "swap-behavior",
      "string",
      "NoSwap",
      "What of pods may be swapped out.",
      {
        values: ["NoSwap", "LimitedSwap"],
        file: "memorySwap.swapBehavior",
      },
    ),
    option(
      "memory-throttling-factor",
      "float",
      "0.9",
      "Part of the way from request to limit from which on memory is slowed down (gate MemoryQoS); above 0.",
      { min: 0, max: 1, file: "memoryThrottlingFactor" },
    ),
    option(
      "single-process-oom-kill",
      "bool",
      "false",
      "Kill one process that is out of memory, not its whole container; always so on cgroup v1.",
      { file: "singleProcessOOMKill" },
    ),
    option(
      "local-storage-capacity-isolation",
      "bool",
      "true",
      "Hold pods to their local storage.",
      { file: "localStorageCapacityIsolation" },
    ),
  ),
];
