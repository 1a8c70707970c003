// What one cgroup has used and may use, read from the files of either version of cgroups, in the units that cAdvisor
// reports. What a kernel or a controller does not say is left out; nothing is guessed.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CgroupFigures, DiskFigures } from "../../../api/contracts.ts";
import { workingSet } from "../../cgroups/usage-files.ts";
import { deviceName } from "./devices.ts";

type Reader = (controller: string, file: string) => Promise<string>;

/** Version 1 reports "no limit" as its largest number of pages. */
const unlimitedBytes = 2 ** 62;

/** @param path below each hierarchy's root; undefined: there is no such cgroup, or it accounts for nothing */
export async function readCgroupFigures(
  mount: string,
  path: string,
): Promise<CgroupFigures | undefined> {
  const unified = await text(join(mount, path, "cpu.stat"));
  if (unified !== "") return await readVersion2(join(mount, path), unified);
  const read: Reader = (controller, file) =>
    text(join(mount, controller, path, file));
  const usage = amount(await read("cpuacct", "cpuacct.usage"));
  return usage === undefined ? undefined : await readVersion1(read, usage);
}

/** The processes of a cgroup, those of cgroups below it left out. */
export async function cgroupProcesses(
  mount: string,
  path: string,
): Promise<number[]> {
  const found =
    (await text(join(mount, "memory", path, "cgroup.procs"))) ||
    (await text(join(mount, path, "cgroup.procs")));
  return found.split("\n").flatMap((line) => (line ? [Number(line)] : []));
}

/** Names of the cgroups below one. */
export async function cgroupChildren(
  mount: string,
  path: string,
): Promise<string[]> {
  for (const directory of [join(mount, "memory", path), join(mount, path)]) {
    const entries = await readdir(directory, { withFileTypes: true }).catch(
      () => [],
    );
    if (entries.length > 0)
      return entries.filter((entry) => entry.isDirectory()).map(nameOf);
  }
  return [];
}

const nameOf = ({ name }: { readonly name: string }): string => name;

async function readVersion1(
  read: Reader,
  usageNanoseconds: number,
): Promise<CgroupFigures> {
  const [times, throttling, memory, oom, disks] = await Promise.all([
    read("cpuacct", "cpuacct.stat"),
    read("cpu", "cpu.stat"),
    read("memory", "memory.stat"),
    read("memory", "memory.oom_control"),
    disksOfVersion1(read),
  ]);
  const of = async (controller: string, file: string) =>
    amount(await read(controller, `${controller}.${file}`));
  const [cpu, stat, throttled] = [times, memory, throttling].map(fields);
  const usageBytes = await of("memory", "usage_in_bytes");
  const quota = await of("cpu", "cfs_quota_us");
  const withSwap = await of("memory", "memsw.limit_in_bytes");
  const limitBytes = await of("memory", "limit_in_bytes");
  return present({
    cpuSeconds: usageNanoseconds / 1e9,
    cpuUserSeconds: scaled(cpu!.get("user"), 100),
    cpuSystemSeconds: scaled(cpu!.get("system"), 100),
    cfsPeriods: throttled!.get("nr_periods"),
    cfsThrottledPeriods: throttled!.get("nr_throttled"),
    cfsThrottledSeconds: scaled(throttled!.get("throttled_time"), 1e9),
    memoryUsageBytes: usageBytes,
    memoryMaxUsageBytes: await of("memory", "max_usage_in_bytes"),
    memoryWorkingSetBytes: workingSet(usageBytes, memory, "total_inactive_file")
      .workingSetBytes,
    memoryActiveFileBytes: stat!.get("total_active_file"),
    memoryInactiveFileBytes: stat!.get("total_inactive_file"),
    memoryRssBytes: stat!.get("total_rss"),
    memoryCacheBytes: stat!.get("total_cache"),
    memorySwapBytes: stat!.get("total_swap"),
    memoryMappedFileBytes: stat!.get("total_mapped_file"),
    memoryKernelBytes: await of("memory", "kmem.usage_in_bytes"),
    memoryFailures: await of("memory", "failcnt"),
    pageFaults: stat!.get("pgfault"),
    majorPageFaults: stat!.get("pgmajfault"),
    treePageFaults: stat!.get("total_pgfault"),
    treeMajorPageFaults: stat!.get("total_pgmajfault"),
    oomKills: fields(oom).get("oom_kill"),
    threads: await of("pids", "current"),
    threadsMax: most(await read("pids", "pids.max")),
    processes: countProcesses(await read("memory", "cgroup.procs")),
    specCpuShares: await of("cpu", "shares"),
    specCpuPeriod: await of("cpu", "cfs_period_us"),
    specCpuQuota: quota !== undefined && quota > 0 ? quota : undefined,
    specMemoryBytes: limit(limitBytes),
    specMemoryReservationBytes: limit(
      await of("memory", "soft_limit_in_bytes"),
    ),
    specMemorySwapBytes: limit(withSwap),
    swapLimitBytes: limit(withSwap) || undefined,
    disks,
  });
}

async function readVersion2(
  directory: string,
  cpuText: string,
): Promise<CgroupFigures> {
  const read = (file: string): Promise<string> => text(join(directory, file));
  const [memory, events, io, cpuMax, procs] = await Promise.all([
    read("memory.stat"),
    read("memory.events"),
    read("io.stat"),
    read("cpu.max"),
    read("cgroup.procs"),
  ]);
  const of = async (file: string) => amount(await read(file));
  const [cpu, stat, counts] = [cpuText, memory, events].map(fields);
  const current = await of("memory.current");
  const usageBytes = current ?? rootUsage(stat!);
  const hasLimits = (await read("memory.max")) !== "";
  const [quota = "max", period = ""] = cpuMax.trim().split(" ");
  const weight = await of("cpu.weight");
  return present({
    cpuSeconds: scaled(cpu!.get("usage_usec"), 1e6),
    cpuUserSeconds: scaled(cpu!.get("user_usec"), 1e6),
    cpuSystemSeconds: scaled(cpu!.get("system_usec"), 1e6),
    cfsPeriods: cpu!.get("nr_periods"),
    cfsThrottledPeriods: cpu!.get("nr_throttled"),
    cfsThrottledSeconds: scaled(cpu!.get("throttled_usec"), 1e6),
    memoryUsageBytes: usageBytes,
    memoryMaxUsageBytes: await of("memory.peak"),
    memoryWorkingSetBytes: workingSet(usageBytes, memory, "inactive_file")
      .workingSetBytes,
    memoryActiveFileBytes: stat!.get("active_file"),
    memoryInactiveFileBytes: stat!.get("inactive_file"),
    memoryRssBytes: stat!.get("anon"),
    memoryCacheBytes: stat!.get("file"),
    // A kernel without swap has no file for it.
    memorySwapBytes:
      (await of("memory.swap.current")) ??
      (current === undefined ? undefined : 0),
    swapLimitBytes: await of("memory.swap.max"),
    memoryMappedFileBytes: stat!.get("file_mapped"),
    memoryKernelBytes: stat!.get("kernel"),
    memoryFailures: counts!.get("max"),
    pageFaults: stat!.get("pgfault"),
    majorPageFaults: stat!.get("pgmajfault"),
    treePageFaults: stat!.get("pgfault"),
    treeMajorPageFaults: stat!.get("pgmajfault"),
    oomKills: counts!.get("oom_kill"),
    threads: await of("pids.current"),
    threadsMax: most(await read("pids.max")),
    processes: countProcesses(procs),
    // The other way round than runtimes turn shares into weights, which are coarser.
    specCpuShares: weight && 2 + Math.floor(((weight - 1) * 262_142) / 9999),
    specCpuPeriod: amount(period),
    specCpuQuota: amount(quota),
    ...(hasLimits
      ? {
          specMemoryBytes: (await of("memory.max")) ?? 0,
          specMemoryReservationBytes: (await of("memory.min")) ?? 0,
          specMemorySwapBytes: (await of("memory.swap.max")) ?? 0,
        }
      : {}),
    disks: await disksOfVersion2(io),
  });
}

/** The root's own file does not exist: what it has of processes and of files, as version 1 counts it. */
function rootUsage(stat: ReadonlyMap<string, number>): number | undefined {
  const [processes, files] = [stat.get("anon"), stat.get("file")];
  return processes === undefined || files === undefined
    ? undefined
    : processes + files;
}

/**
 * Who counts on version 1 depends on the kernel and on the devices' schedulers: the first that has counted anything is
 * taken, as runtimes do. Newer kernels count for throttling only where a limit is set: then there are no figures.
 */
const countersOfVersion1 = [
  ["bfq.io_service_bytes_recursive", "bfq.io_serviced_recursive"],
  ["io_service_bytes_recursive", "io_serviced_recursive"],
  ["throttle.io_service_bytes_recursive", "throttle.io_serviced_recursive"],
  ["throttle.io_service_bytes", "throttle.io_serviced"],
] as const;

async function disksOfVersion1(read: Reader): Promise<DiskFigures[]> {
  for (const files of countersOfVersion1) {
    const [bytes = "", operations = ""] = await Promise.all(
      files.map((file) => read("blkio", `blkio.${file}`)),
    );
    const devices = new Map<string, Record<string, number>>();
    for (const [source, what] of [
      [bytes, "Bytes"],
      [operations, "Operations"],
    ] as const)
      for (const [, device, kind, value] of source.matchAll(
        /^(\d+:\d+) (Read|Write) (\d+)$/gm,
      )) {
        const known = devices.get(device!) ?? {};
        known[`${kind!.toLowerCase()}${what}`] = Number(value);
        devices.set(device!, known);
      }
    if (devices.size > 0) return await named(devices);
  }
  return [];
}

async function disksOfVersion2(io: string): Promise<DiskFigures[]> {
  const devices = new Map<string, Record<string, number>>();
  for (const [, device, values] of io.matchAll(/^(\d+:\d+) (.*)$/gm)) {
    const counts = new Map(
      values!.split(" ").map((each) => {
        const [name = "", count] = each.split("=");
        return [name, Number(count)] as const;
      }),
    );
    // Of a device that it has not counted the kernel may write the numbers alone.
    if (!counts.has("rbytes")) continue;
    const of = (name: string): number => counts.get(name) ?? 0;
    devices.set(device!, {
      readBytes: of("rbytes"),
      writeBytes: of("wbytes"),
      readOperations: of("rios"),
      writeOperations: of("wios"),
    });
  }
  return await named(devices);
}

async function named(
  devices: ReadonlyMap<string, Readonly<Record<string, number>>>,
): Promise<DiskFigures[]> {
  return await Promise.all(
    [...devices].map(async ([device, known]) => ({
      device: await deviceName(device),
      numbers: device,
      readBytes: known["readBytes"] ?? 0,
      writeBytes: known["writeBytes"] ?? 0,
      readOperations: known["readOperations"] ?? 0,
      writeOperations: known["writeOperations"] ?? 0,
    })),
  );
}

/** Without what is not known. */
function present(figures: {
  [Name in keyof CgroupFigures]: CgroupFigures[Name] | undefined;
}): CgroupFigures {
  return Object.fromEntries(
    Object.entries(figures).filter(([, value]) => value !== undefined),
  ) as unknown as CgroupFigures;
}

const text = (file: string): Promise<string> =>
  readFile(file, "utf8").catch(() => "");

/** Undefined for "max" and for what is not there. */
const amount = (content: string): number | undefined =>
  /^-?\d+$/.test(content.trim()) ? Number(content) : undefined;

/** None in a cgroup whose processes are all in those below it, as a pod's. */
const countProcesses = (procs: string): number =>
  procs.match(/^\d+$/gm)?.length ?? 0;

/** 0: none, as cAdvisor says it. */
const most = (content: string): number | undefined =>
  content.trim() === "max" ? 0 : amount(content);

const scaled = (value: number | undefined, by: number): number | undefined =>
  value === undefined ? undefined : value / by;

/** 0: none, as cAdvisor says it. */
const limit = (bytes: number | undefined): number | undefined =>
  bytes !== undefined && bytes > unlimitedBytes ? 0 : bytes;

/** Lines of a name and a number. */
function fields(content: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [, name, value] of content.matchAll(/^(\w+) (\d+)$/gm))
    found.set(name!, Number(value));
  return found;
}
