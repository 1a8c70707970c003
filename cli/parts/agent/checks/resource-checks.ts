// What only together makes a problem among the options of the CPU, memory and topology managers. Messages name the
// options.
import {
  isGateOn,
  type AgentGate,
} from "../../../../agent/config/feature-gates.ts";
import { parseCpuPolicyOptions } from "../../../../agent/resources/cpu/cpu-policy.ts";
import {
  formatCpuList,
  parseCpuList,
} from "../../../../agent/resources/machine/cpu-list.ts";
import { without } from "../../../../agent/resources/machine/id-set.ts";
import { readMachineTopology } from "../../../../agent/resources/machine/machine-topology.ts";
import { parseReservedMemory } from "../../../../agent/resources/memory/reserved-memory.ts";
import { parseTopologyOptions } from "../../../../agent/resources/topology/topology-policy.ts";
import type { AgentConfig } from "../../../../agent/config/agent-config.ts";
import { UsageError } from "../../../options/table.ts";

export function checkResourceManagers(config: AgentConfig): void {
  const isOn = (gate: AgentGate): boolean => isGateOn(config, gate);
  named("topology-manager-policy-options", () =>
    parseTopologyOptions(config.topologyManagerPolicyOptions, isOn),
  );
  named("cpu-manager-policy-options", () =>
    parseCpuPolicyOptions(config.cpuManagerPolicyOptions, isOn),
  );
  named("reserved-memory", () => parseReservedMemory(config.reservedMemory));
  checkMemory(config);
  named("reserved-cpus", () => checkReservedCpus(config.reservedCpus));
  if (
    config.reservedCpus !== "" &&
    (config.systemReservedCgroup !== "" || config.kubeReservedCgroup !== "")
  )
    throw new UsageError(
      "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)",
    );
  if (
    config.cpuManagerPolicy === "none" &&
    Object.keys(config.cpuManagerPolicyOptions).length > 0
  )
    throw new UsageError(
      "--cpu-manager-policy-options: the none policy has no options",
    );
}

/** The machine is read only where there is something to compare. */
function checkReservedCpus(text: string): void {
  const reserved = parseCpuList(text);
  if (reserved.length === 0) return;
  const online = readMachineTopology().cpus.map(({ id }) => id);
  if (without(reserved, online).length > 0)
    throw new Error(
      `${text} is not a subset of online-cpus: ${formatCpuList(online)}`,
    );
}

function checkMemory(config: AgentConfig): void {
  const refuse = (why: string): never => {
    throw new UsageError(why);
  };
  for (const [name, text] of Object.entries(config.qosReserved)) {
    if (!isGateOn(config, "QOSReserved"))
      refuse("--qos-reserved needs --feature-gates=QOSReserved=true");
    if (name !== "memory")
      refuse(`--qos-reserved: only memory is supported, not ${name}`);
    if (!/^(100|\d{1,2})%$/.test(text))
      refuse(
        `--qos-reserved: failed to parse ${name}=${text}: must be a percentage of 0% to 100%`,
      );
  }
  if (config.memoryThrottlingFactor <= 0)
    refuse("--memory-throttling-factor must be greater than 0");
}

function named(option: string, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    throw new UsageError(`--${option}: ${(error as Error).message}`);
  }
}
