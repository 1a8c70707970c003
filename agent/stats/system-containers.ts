// `systemContainers` of the stats summary: what the agent itself (`kubelet`), the container runtime (`runtime`), other
// processes of the system (`misc`) and all pods together (`pods`) use, read from their cgroups of either version. A cgroup
// that is not there, or that accounts for neither CPU nor memory, is left out.
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { readAmount, workingSet } from "../cgroups/usage-files.ts";

type SystemContainerName = "kubelet" | "runtime" | "misc" | "pods";

export interface SystemContainersOptions {
  /** Where the cgroup file systems are mounted. */
  readonly mount: string;
  /** Absolute below each hierarchy's root; "": not reported, but of the agent its present one. */
  readonly cgroups: Readonly<Record<SystemContainerName, string>>;
  /** When the agent began. */
  readonly startedAtMs: number;
}

interface Reading {
  readonly cpuNanoseconds: number | undefined;
  readonly memory: object | undefined;
}

/** Nanocores since the reading before; undefined at the first one. */
type Rate = (
  key: string,
  nanoseconds: number,
  atMs: number,
) => number | undefined;

export async function systemContainers(
  options: SystemContainersOptions,
  rate: Rate,
): Promise<object[]> {
  const { mount, cgroups, startedAtMs } = options;
  const nowMs = Date.now();
  const time = seconds(nowMs);
  const described = await Promise.all(
    Object.entries(cgroups).map(async ([name, given]): Promise<object[]> => {
      const cgroup =
        given === "" && name === "kubelet" ? await ownCgroup() : given;
      if (!cgroup) return [];
      const { cpuNanoseconds, memory } = await readCgroup(mount, cgroup);
      if (cpuNanoseconds === undefined && !memory) return [];
      const nanoCores =
        cpuNanoseconds === undefined
          ? undefined
          : rate(`system:${name}`, cpuNanoseconds, nowMs);
      const startTime =
        name === "kubelet" ? startedAtMs : await madeAtMs(mount, cgroup);
      return [
        {
          name,
          startTime: startTime === undefined ? null : seconds(startTime),
          cpu: {
            time,
            ...(nanoCores === undefined ? {} : { usageNanoCores: nanoCores }),
            ...(cpuNanoseconds === undefined
              ? {}
              : { usageCoreNanoSeconds: cpuNanoseconds }),
          },
          ...(memory ? { memory: { time, ...memory } } : {}),
        },
      ];
    }),
  );
  return described.flat();
}

/** Of this process: as the hierarchy of memory has it, or the one of version 2; undefined in the root. */
async function ownCgroup(): Promise<string | undefined> {
  const text = await readFile("/proc/self/cgroup", "utf8").catch(() => "");
  const found =
    /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(\/.*)$/m.exec(text) ??
    /^0::(\/.*)$/m.exec(text);
  return found?.[1] === "/" ? undefined : found?.[1];
}

async function readCgroup(mount: string, cgroup: string): Promise<Reading> {
  const v2 = await readFile(join(mount, cgroup, "cpu.stat"), "utf8").catch(
    () => undefined,
  );
  if (v2 !== undefined) {
    const microseconds = statValue(v2, "usage_usec");
    return {
      cpuNanoseconds:
        microseconds === undefined ? undefined : microseconds * 1000,
      memory: await readMemory(join(mount, cgroup), {
        used: "memory.current",
        limit: "memory.max",
        inactive: "inactive_file",
        rss: "anon",
        faults: "pgfault",
        majorFaults: "pgmajfault",
      }),
    };
  }
  return {
    cpuNanoseconds: await readAmount(
      join(mount, "cpuacct", cgroup, "cpuacct.usage"),
    ),
    memory: await readMemory(join(mount, "memory", cgroup), {
      used: "memory.usage_in_bytes",
      limit: "memory.limit_in_bytes",
      inactive: "total_inactive_file",
      rss: "total_rss",
      faults: "total_pgfault",
      majorFaults: "total_pgmajfault",
    }),
  };
}

interface MemoryNames {
  readonly used: string;
  readonly limit: string;
  readonly inactive: string;
  readonly rss: string;
  readonly faults: string;
  readonly majorFaults: string;
}

async function readMemory(
  directory: string,
  names: MemoryNames,
): Promise<object | undefined> {
  const [usageBytes, limit, text] = await Promise.all([
    readAmount(join(directory, names.used)),
    readAmount(join(directory, names.limit)),
    readFile(join(directory, "memory.stat"), "utf8").catch(() => ""),
  ]);
  if (usageBytes === undefined) return undefined;
  const { workingSetBytes = 0 } = workingSet(usageBytes, text, names.inactive);
  const amounts = {
    rssBytes: statValue(text, names.rss),
    pageFaults: statValue(text, names.faults),
    majorPageFaults: statValue(text, names.majorFaults),
  };
  return {
    // Without a limit version 1 reports its largest number of pages.
    ...(limit !== undefined && limit < Number.MAX_SAFE_INTEGER
      ? { availableBytes: Math.max(0, limit - workingSetBytes) }
      : {}),
    usageBytes,
    workingSetBytes,
    ...Object.fromEntries(
      Object.entries(amounts).filter(([, value]) => value !== undefined),
    ),
  };
}

function statValue(text: string, name: string): number | undefined {
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

async function madeAtMs(
  mount: string,
  cgroup: string,
): Promise<number | undefined> {
  for (const root of [mount, join(mount, "memory")]) {
    const found = await stat(join(root, cgroup)).catch(() => undefined);
    if (found) return found.mtimeMs;
  }
  return undefined;
}

const seconds = (epochMs: number): string =>
  `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
