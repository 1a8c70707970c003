// Which cgroup version the machine has mounted.
import type { CgroupDriver } from "./cgroup-manager.ts";
import { CgroupV1 } from "./v1.ts";
import { CgroupV2, isUnified } from "./v2.ts";

export async function chooseCgroupDriver(mount: string): Promise<CgroupDriver> {
  return (await isUnified(mount)) ? new CgroupV2(mount) : new CgroupV1(mount);
}
