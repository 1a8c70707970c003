// What only together makes a problem among the options of the CPU, memory and topology managers. Messages name the
// options.
import { resolveAgentConfig } from "../../../agent/config/agent-config.ts";
import {
  isGateOn,
  type AgentGate,
} from "../../../agent/config/feature-gates.ts";
import { parseCpuPolicyOptions } from "../../../agent/resources/cpu/cpu-policy.ts";
import { parseCpuList } from "../../../agent/resources/machine/cpu-list.ts";
import { parseReservedMemory } from "../../../agent/resources/memory/reserved-memory.ts";
import { parseTopologyOptions } from "../../../agent/resources/topology/topology-policy.ts";
import type { AgentConfig } from "../../../agent/config/agent-config.ts";
import { UsageError } from "../../options/table.ts";

export function checkResourceManagers(
  given: Partial<AgentConfig> & { nodeName: string },
): void {
  const config = resolveAgentConfig(given);
  const isOn = (gate: AgentGate): boolean => isGateOn(config, gate);
  named("topology-manager-policy-options", () =>
    parseTopologyOptions(config.topologyManagerPolicyOptions, isOn),
  );
  named("cpu-manager-policy-options", () =>
    parseCpuPolicyOptions(config.cpuManagerPolicyOptions, isOn),
  );
  named("reserved-memory", () => parseReservedMemory(config.reservedMemory));
  named("reserved-cpus", () => parseCpuList(config.reservedCpus));
  if (
    config.reservedCpus !== "" &&
    (config.systemReservedCgroup !== "" || config.kubeReservedCgroup !== "")
  )
    throw new UsageError(
      "can't use --reserved-cpus with --system-reserved-cgroup or --kube-reserved-cgroup",
    );
  if (
    config.cpuManagerPolicy === "none" &&
    Object.keys(config.cpuManagerPolicyOptions).length > 0
  )
    throw new UsageError(
      "--cpu-manager-policy-options: the none policy has no options",
    );
}

function named(option: string, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    throw new UsageError(`--${option}: ${(error as Error).message}`);
  }
}
