// Which cgroup version the machine has mounted, and who makes cgroups there.
import type { AgentConfig } from "../config/agent-config.ts";
import type { CgroupDriver } from "./cgroup-driver.ts";
import { openSystemdBus } from "./systemd/systemd-bus.ts";
import { SystemdDriver } from "./systemd/systemd-driver.ts";
import { CgroupV1 } from "./v1.ts";
import { CgroupV2, isUnified } from "./v2.ts";

/** @throws Error when the driver systemd is asked for where systemd does not run */
export async function chooseCgroupDriver({
  cgroupMount,
  cgroupDriver,
}: Pick<AgentConfig, "cgroupMount" | "cgroupDriver">): Promise<CgroupDriver> {
  const files = (await isUnified(cgroupMount))
    ? new CgroupV2(cgroupMount)
    : new CgroupV1(cgroupMount);
  return cgroupDriver === "systemd"
    ? new SystemdDriver(files, await openSystemdBus())
    : files;
}
