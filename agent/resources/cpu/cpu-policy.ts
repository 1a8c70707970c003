// The options of the static CPU policy, and what the machine must be like for them.
import type { AgentGate } from "../../config/feature-gates.ts";
import type { TopologyPolicy } from "../../config/resource-policies.ts";
import { policyBoolean } from "../policy-boolean.ts";
import type { CpuPlaces } from "./cpu-places.ts";

export interface CpuPolicyOptions {
  /** Whole cores only: no core is shared with another container. */
  readonly fullCores: boolean;
  /** Where one NUMA node is too small, evenly over several. */
  readonly distributeAcrossNodes: boolean;
  /** Threads of different cores before threads of one. */
  readonly distributeAcrossCores: boolean;
  /** Nodes of one socket count as near as one node. */
  readonly alignBySocket: boolean;
  /** Pods without CPUs of their own do not run on reserved ones either. */
  readonly strictReservation: boolean;
  /** CPUs that share a cache of level 3 before others. */
  readonly alignByCache: boolean;
}

const names: Readonly<Record<string, keyof CpuPolicyOptions>> = {
  "full-pcpus-only": "fullCores",
  "distribute-cpus-across-numa": "distributeAcrossNodes",
  "distribute-cpus-across-cores": "distributeAcrossCores",
  "align-by-socket": "alignBySocket",
  "strict-cpu-reservation": "strictReservation",
  "prefer-align-cpus-by-uncorecache": "alignByCache",
};

/** In the reference's order, which its texts have as well. */
const excluding = [
  ["full-pcpus-only", "distribute-cpus-across-cores"],
  ["distribute-cpus-across-numa", "distribute-cpus-across-cores"],
  ["prefer-align-cpus-by-uncorecache", "distribute-cpus-across-cores"],
  ["prefer-align-cpus-by-uncorecache", "distribute-cpus-across-numa"],
] as const;

/** The one whose gate is on by default. */
const betaOption = "full-pcpus-only";

/** @throws Error that names the option; texts are the reference's */
export function parseCpuPolicyOptions(
  given: Readonly<Record<string, string>>,
  isOn: (gate: AgentGate) => boolean,
): CpuPolicyOptions {
  const options: Record<keyof CpuPolicyOptions, boolean> = {
    fullCores: false,
    distributeAcrossNodes: false,
    distributeAcrossCores: false,
    alignBySocket: false,
    strictReservation: false,
    alignByCache: false,
  };
  for (const [name, text] of Object.entries(given)) {
    const key = Object.hasOwn(names, name) ? names[name] : undefined;
    if (!key)
      throw new Error(
        `unknown CPU Manager Policy option: ${JSON.stringify(name)}`,
      );
    const stage = name === betaOption ? "Beta" : "Alpha";
    if (!isOn(`CPUManagerPolicy${stage}Options`))
      throw new Error(
        `CPU Manager Policy ${stage}-level Options not enabled, but option "${name}" provided`,
      );
    options[key] = policyBoolean(name, text);
  }
  for (const [one, other] of excluding)
    if (options[names[one]!] && options[names[other]!])
      throw new Error(
        `static policy options ${one} and ${other} can not be used at the same time`,
      );
  return options;
}

/** @throws Error when the options do not fit the machine or the topology manager's policy */
export function checkCpuPolicy(
  { alignBySocket }: CpuPolicyOptions,
  places: CpuPlaces,
  topologyPolicy: TopologyPolicy,
): void {
  if (!alignBySocket) return;
  if (topologyPolicy === "single-numa-node")
    throw new Error(
      "Topology manager single-numa-node policy is incompatible with CPUManager align-by-socket policy option",
    );
  if (places.sockets > places.nodeIds.length)
    throw new Error(
      "Align by socket is not compatible with hardware where number of sockets are more than number of NUMA",
    );
}
