// Makes the resource managers that the settings ask for.
import type { Clock } from "../../api/clock.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import {
  readMachineTopology,
  type MachineTopology,
} from "./machine/machine-topology.ts";
import { ResourceManagers } from "./resource-managers.ts";
import { TopologyManager } from "./topology/topology-manager.ts";
import { parseTopologyOptions } from "./topology/topology-policy.ts";

/** @throws Error that names the option, when the machine or the settings do not fit a policy */
export function wireResources(
  config: AgentConfig,
  clock: Clock,
): ResourceManagers {
  const noMachine: MachineTopology = { cpus: [], nodes: [] };
  const machine =
    config.topologyManagerPolicy === "none" ? noMachine : readMachineTopology();
  return new ResourceManagers({
    topology: new TopologyManager({
      policy: config.topologyManagerPolicy,
      scope: config.topologyManagerScope,
      policyOptions: parseTopologyOptions(config.topologyManagerPolicyOptions),
      nodes: machine.nodes,
      clock,
    }),
  });
}
