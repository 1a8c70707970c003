// What the kernel holds a cgroup to, read from its files: of a pod, and of a container whose runtime does not report it
// (containerd before 1.7). The runtime makes a container's cgroup below its pod's, named by its id, or with the driver
// systemd as a scope that is named by the runtime, too.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { LinuxResources } from "../../../cri/runtime.ts";

export interface CgroupFiles {
  /** Where the cgroup file systems are mounted. */
  readonly mount: string;
}

/** undefined: there is no such cgroup, or it can't be read. */
export async function readLimits(
  { mount }: CgroupFiles,
  path: string,
): Promise<LinuxResources | undefined> {
  return (await readVersion1(mount, path)) ?? (await readVersion2(mount, path));
}

/** Of a container below its pod's cgroup. */
export async function readContainerLimits(
  files: CgroupFiles,
  podPath: string,
  id: string,
): Promise<LinuxResources | undefined> {
  return (
    (await readLimits(files, `${podPath}/${id}`)) ??
    (await readLimits(files, `${podPath}/cri-containerd-${id}.scope`))
  );
}

/** With the pages of files that the kernel could drop, as it counts against the limit. */
export async function readMemoryUsage(
  { mount }: CgroupFiles,
  path: string,
): Promise<number | undefined> {
  return (
    (await number(join(mount, "memory", path, "memory.usage_in_bytes"))) ??
    (await number(join(mount, path, "memory.current")))
  );
}

async function text(file: string): Promise<string | undefined> {
  return await readFile(file, "utf8").then(
    (content) => content.trim(),
    () => undefined,
  );
}

async function number(file: string): Promise<number | undefined> {
  const content = await text(file);
  return content !== undefined && /^-?\d+$/.test(content)
    ? Number(content)
    : undefined;
}

async function readVersion1(
  mount: string,
  path: string,
): Promise<LinuxResources | undefined> {
  const [cpuShares, cpuQuota, cpuPeriod, memoryLimitBytes] = await Promise.all([
    number(join(mount, "cpu", path, "cpu.shares")),
    number(join(mount, "cpu", path, "cpu.cfs_quota_us")),
    number(join(mount, "cpu", path, "cpu.cfs_period_us")),
    number(join(mount, "memory", path, "memory.limit_in_bytes")),
  ]);
  if (cpuShares === undefined || memoryLimitBytes === undefined)
    return undefined;
  return {
    cpuShares,
    memoryLimitBytes,
    ...(cpuQuota === undefined ? {} : { cpuQuota }),
    ...(cpuPeriod === undefined ? {} : { cpuPeriod }),
  };
}

async function readVersion2(
  mount: string,
  path: string,
): Promise<LinuxResources | undefined> {
  const [weight, max, memoryLimitBytes] = await Promise.all([
    number(join(mount, path, "cpu.weight")),
    text(join(mount, path, "cpu.max")),
    number(join(mount, path, "memory.max")),
  ]);
  if (weight === undefined) return undefined;
  const [quota, period] = (max ?? "").split(" ");
  return {
    // The least shares that runtimes turn into this weight: written back they must not lower it.
    cpuShares: 2 + Math.ceil(((weight - 1) * 262_142) / 9999),
    ...(quota !== undefined && /^\d+$/.test(quota)
      ? { cpuQuota: Number(quota), cpuPeriod: Number(period) }
      : {}),
    ...(memoryLimitBytes === undefined ? {} : { memoryLimitBytes }),
    unified: { "cpu.weight": String(weight) },
  };
}
