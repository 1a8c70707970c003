// What only together makes a problem among the agent's options: the reference's texts, all at once.
import { readAgentOptions } from "../../../cli/agent.ts";
import { checkAgentOptions } from "../../../cli/parts/agent/checks/agent-checks.ts";

async function problems(
  flags: string,
  unifiedCgroups = true,
): Promise<readonly string[]> {
  const { values } = await readAgentOptions(flags.split(" ").filter(Boolean));
  try {
    checkAgentOptions(values, unifiedCgroups);
    return [];
  } catch (error) {
    return (error as Error).message.split("\n");
  }
}

const enforce = "enforceNodeAllocatable (--enforce-node-allocatable)";

test.each([
  [
    "--image-gc-low-threshold=90 --image-gc-high-threshold=80",
    "imageGCLowThresholdPercent (--image-gc-low-threshold) 90 must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) 80",
  ],
  [
    "--cpu-cfs-quota-period=50ms",
    "cpuCFSQuotaPeriod (--cpu-cfs-quota-period) 50ms requires feature gate CustomCPUCFSQuotaPeriod",
  ],
  [
    "--enforce-node-allocatable=pods,pods",
    `duplicated enforcements "pods" in ${enforce}`,
  ],
  [
    "--enforce-node-allocatable=none,pods",
    `${enforce} may not contain additional enforcements when "none" is specified`,
  ],
  [
    "--enforce-node-allocatable=system-reserved --system-reserved-cgroup=/s --cgroups-per-qos=false",
    `cgroupsPerQOS (--cgroups-per-qos) must be set to true when "system-reserved" contained in ${enforce}`,
  ],
  [
    "--enforce-node-allocatable=kube-reserved,kube-reserved-compressible --kube-reserved-cgroup=/k",
    `both "kube-reserved" and "kube-reserved-compressible" cannot be specified together in ${enforce}`,
  ],
  [
    "--enforce-node-allocatable=kube-reserved",
    `kubeReservedCgroup (--kube-reserved-cgroup) must be specified when "kube-reserved" or "kube-reserved-compressible" included in ${enforce}`,
  ],
  [
    "--reserved-cpus=0 --system-reserved-cgroup=/s",
    "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)",
  ],
  [
    "--feature-gates=NodeSwap=false --swap-behavior=NoSwap",
    "memorySwap.swapBehavior (--swap-behavior) cannot be set when NodeSwap feature flag is disabled",
  ],
  [
    "--show-hidden-metrics-for-version=1.30",
    "--show-hidden-metrics-for-version must be omitted or have the value '1.31'. Only the previous minor version is allowed",
  ],
  [
    "--allowed-unsafe-sysctls=net.*,vm.swappiness",
    'allowedUnsafeSysctls (--allowed-unsafe-sysctls): the sysctls "vm.swappiness" are not known to be namespaced',
  ],
  [
    "--register-with-taints=a~b:NoSchedule",
    expect.stringMatching(
      /^invalid argument "a~b:NoSchedule" for "--register-with-taints" \(registerWithTaints\): name part must consist of/,
    ),
  ],
])("%s", async (flags, expected) => {
  expect(await problems(flags)).toEqual([expected]);
});

test.each([
  "--image-gc-low-threshold=79 --image-gc-high-threshold=80",
  "--cpu-cfs-quota-period=50ms --feature-gates=CustomCPUCFSQuotaPeriod=true",
  "--cpu-cfs-quota-period=100ms",
  "--enforce-node-allocatable=none --cgroups-per-qos=false",
  "--enforce-node-allocatable=pods,kube-reserved-compressible --kube-reserved-cgroup=/k",
  "--swap-behavior=LimitedSwap --single-process-oom-kill=false",
  "--show-hidden-metrics-for-version=1.31",
  "--allowed-unsafe-sysctls=kernel.shm*,kernel.msg*,kernel.sem,net.core.somaxconn,net.*,net/ipv4/conf/eth0.1/rp_filter,fs.mqueue.*",
  "--register-with-taints=example.com/a=b:NoSchedule",
  "--container-log-max-size=1Ti",
])("%s is taken", async (flags) => {
  expect(await problems(flags)).toEqual([]);
});

test.each(["vm.*", "kernel.shma*", "", "net. *", "net.-x", "*", "kernel"])(
  "no sysctls of pods: %j",
  async (text) => {
    const { values } = await readAgentOptions([]);
    const named = values.underTexts(
      new Map([["allowed-unsafe-sysctls", `net.*,${text},net.ipv4.*`]]),
    );
    expect(() => checkAgentOptions(named, true)).toThrow(
      /allowedUnsafeSysctls/,
    );
  },
);

test("on cgroup v1 nothing is swapped in part, and one process alone is always killed", async () => {
  expect(await problems("", false)).toEqual([]);
  expect(
    await problems(
      "--swap-behavior=LimitedSwap --single-process-oom-kill=false",
      false,
    ),
  ).toEqual([
    "swap feature is enabled and LimitedSwap (memorySwap.swapBehavior, --swap-behavior) but it is only supported with cgroupv2",
    "singleProcessOOMKill (--single-process-oom-kill) must not be explicitly set to false when using cgroup v1",
  ]);
});

test("all problems are named at once", async () => {
  expect(
    await problems(
      "--cpu-cfs-quota-period=50ms --enforce-node-allocatable=pods --cgroups-per-qos=false --allowed-unsafe-sysctls=vm.*",
    ),
  ).toHaveLength(3);
});
