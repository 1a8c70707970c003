// Who makes the cgroups of a node's pods and containers: as the runtime says of itself, where it does, else as the option says.
import { existsSync } from "node:fs";
import type { Logger } from "pino";
import type { AgentConfig } from "../../../agent/config/agent-config.ts";
import type { Runtime } from "../../../cri/runtime.ts";
import { DependencyError, UsageError } from "../../options/table.ts";
import { readCgroupDriver, writeCgroupDriver } from "./runtime-endpoint.ts";

export type CgroupDriver = AgentConfig["cgroupDriver"];

export interface DriverChoice {
  dataDirectory: string;
  /** systemd makes the cgroups of pods, as the option says: a private containerd leaves it those of containers. */
  systemdCgroup: boolean;
  /** The word of a runtime that is not ours counts more than the option; else it has to be the same. */
  driverFromRuntime: boolean;
  /** Whether systemd is process 1; default: as it is. */
  systemdRuns?: boolean;
  logger: Logger;
}

/** A runtime that is late has said it before, or says nothing. */
async function reportedDriver(
  { dataDirectory, logger }: DriverChoice,
  runtime: Runtime,
): Promise<CgroupDriver | undefined> {
  try {
    const { cgroupDriver } = await runtime.configuration();
    if (cgroupDriver) await writeCgroupDriver(dataDirectory, cgroupDriver);
    return cgroupDriver;
  } catch (err) {
    logger.warn(
      { err },
      "the runtime does not say who makes the cgroups of containers",
    );
    return readCgroupDriver(dataDirectory);
  }
}

/**
 * What the runtime is configured with counts: with another driver no pod would start.
 * @param runtime one that is not ours
 * @throws UsageError, DependencyError where systemd would have to make cgroups and does not run; UsageError where the
 * runtime's word does not count and is another than the option
 */
export async function cgroupDriver(
  choice: DriverChoice,
  runtime: Runtime | undefined,
): Promise<CgroupDriver> {
  const option = choice.systemdCgroup ? "systemd" : "cgroupfs";
  const { systemdRuns = existsSync("/run/systemd/system") } = choice;
  const reported =
    runtime && choice.driverFromRuntime
      ? await reportedDriver(choice, runtime)
      : undefined;
  const problem = "systemd does not run as this machine's process 1";
  if (reported === "systemd" && !systemdRuns)
    throw new DependencyError(
      `the container runtime is configured to have systemd make cgroups (SystemdCgroup = true), and ${problem}: set it to false and restart the runtime`,
    );
  if (!reported && option === "systemd" && !systemdRuns)
    throw new UsageError(`--cgroup-driver=systemd: ${problem}`);
  if (runtime && !choice.driverFromRuntime)
    await refuseAnother(runtime, option);
  if (reported && reported !== option)
    choice.logger.warn(
      { runtime: reported, option },
      "the runtime's cgroup driver is used, not --cgroup-driver",
    );
  return reported ?? option;
}

/** With another driver than the runtime's no pod would start. One that is late, or says nothing, is believed to agree. */
async function refuseAnother(
  runtime: Runtime,
  option: CgroupDriver,
): Promise<void> {
  const { cgroupDriver: said = option } = await runtime
    .configuration()
    .catch((): { cgroupDriver?: CgroupDriver } => ({}));
  if (said !== option)
    throw new UsageError(
      `--cgroup-driver=${option}: the container runtime is configured with the driver ${said}, no pod would start: set the option to ${said}, or turn the gate KubeletCgroupDriverFromCRI on`,
    );
}
