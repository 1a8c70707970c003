// What only together makes a problem among the options of the agent that name cgroups.
import type { AgentConfig } from "../../../../agent/config/agent-config.ts";
import type { OptionValues } from "../../../options/parse.ts";

/** Absolute, and none that would take a process out of the hierarchy's mount. */
export function checkSystemCgroups({
  values,
}: {
  values: OptionValues;
}): (string | false)[] {
  const badNames = ["system-cgroups", "runtime-cgroups"].map((option) => {
    const cgroup = values.text(option);
    return (
      cgroup !== "" &&
      (!/^\/[^\s]*$/.test(cgroup) || cgroup.split("/").includes("..")) &&
      `--${option}: ${cgroup} is no absolute name of a cgroup`
    );
  });
  const system = values.text("system-cgroups");
  return [
    ...badNames,
    system !== "" &&
      system.replaceAll("/", "") === "" &&
      '--system-cgroups: system container cannot be root ("/")',
    system !== "" &&
      values.text("cgroup-root") === "" &&
      "systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified",
  ];
}

const option = "enforceNodeAllocatable (--enforce-node-allocatable)";

const reservations = [
  ["system-reserved", "systemReservedCgroup"],
  ["kube-reserved", "kubeReservedCgroup"],
] as const;

/** What is held to its share must be named. */
export function checkAllocatable({
  values,
  config,
}: {
  values: OptionValues;
  config: Pick<AgentConfig, "cgroupsPerQos">;
}): (string | false)[] {
  const enforced = values.list("enforce-node-allocatable");
  const again = enforced.filter((each, at) => enforced.indexOf(each) < at);
  return [
    ...[...new Set(again)].map(
      (each) => `duplicated enforcements "${each}" in ${option}`,
    ),
    enforced.includes("none") &&
      enforced.length > 1 &&
      `${option} may not contain additional enforcements when "none" is specified`,
    ...reservations.flatMap(([name, field]) => {
      const both = [name, `${name}-compressible`];
      const asked = both.filter((each) => enforced.includes(each));
      return [
        asked.length > 1 &&
          `both "${both[0]}" and "${both[1]}" cannot be specified together in ${option}`,
        asked.length > 0 &&
          values.text(`${name}-cgroup`) === "" &&
          `${field} (--${name}-cgroup) must be specified when "${both[0]}" or "${both[1]}" included in ${option}`,
      ];
    }),
    ...(config.cgroupsPerQos ? [] : [...new Set(enforced)])
      .filter((each) => each !== "none")
      .map(
        (each) =>
          `cgroupsPerQOS (--cgroups-per-qos) must be set to true when "${each}" contained in ${option}`,
      ),
  ];
}
