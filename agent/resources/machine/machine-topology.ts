// The machine's CPUs, cores, sockets and NUMA nodes as the kernel describes them below /sys. Read once, when a manager
// needs it; the directory is a parameter, so that the trees of other machines can be read. CPUs that are offline are not
// there. A kernel without NUMA has one node 0 with everything.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { NumaNode } from "../topology/numa-distances.ts";
import { parseCpuList } from "./cpu-list.ts";
import { hugepageBytes, readHugepages } from "./hugepages.ts";

export interface Cpu {
  readonly id: number;
  /** Lowest CPU of the core: unique in the machine, unlike the kernel's core_id. */
  readonly core: number;
  readonly socket: number;
  readonly node: number;
  /** Lowest CPU of those that share the cache of level 3; where a whole node shares it, or there is none: the socket. */
  readonly cache: number;
}

export interface MachineNode extends NumaNode {
  readonly memoryBytes: number;
  /** `hugepages-2Mi` → bytes that are set aside for them. */
  readonly hugepages: Readonly<Record<string, number>>;
}

export interface MachineTopology {
  readonly cpus: readonly Cpu[];
  readonly nodes: readonly MachineNode[];
}

/** @throws Error when the CPUs can't be read */
export function readMachineTopology(root = "/"): MachineTopology {
  const system = join(root, "sys/devices/system");
  const online = parseCpuList(text(join(system, "cpu/online")));
  if (online.length === 0)
    throw new Error(`can't read the machine's CPUs from ${system}/cpu/online`);
  const nodeIds = readNames(join(system, "node"), /^node(\d+)$/);
  const nodes =
    nodeIds.length > 0
      ? nodeIds.map((id) => readNode(join(system, "node"), id))
      : [singleNode(root)];
  const nodeOfCpu = new Map<number, number>();
  for (const id of nodeIds)
    for (const cpu of parseCpuList(
      text(join(system, "node", `node${id}`, "cpulist")),
    ))
      nodeOfCpu.set(cpu, id);
  const nodeOf = (id: number): number => nodeOfCpu.get(id) ?? nodes[0]!.id;
  const sizes = new Map<number, number>();
  for (const id of online)
    sizes.set(nodeOf(id), (sizes.get(nodeOf(id)) ?? 0) + 1);
  return {
    nodes,
    cpus: online.map((id) => {
      const node = nodeOf(id);
      const place = readPlace(join(system, `cpu/cpu${id}/topology`), id);
      const sharing = lastCacheOf(join(system, `cpu/cpu${id}/cache`));
      const isSplit = sharing.length > 0 && sharing.length !== sizes.get(node);
      return {
        id,
        ...place,
        node,
        cache: isSplit ? sharing[0]! : place.socket,
      };
    }),
  };
}

/** The CPUs that share the cache of level 3 or above, rising; none where the kernel shows no such cache. */
function lastCacheOf(directory: string): number[] {
  for (const index of readNames(directory, /^index(\d+)$/)) {
    const cache = join(directory, `index${index}`);
    if (Number(text(join(cache, "level"))) > 2)
      return parseCpuList(text(join(cache, "shared_cpu_list")));
  }
  return [];
}

function readPlace(
  directory: string,
  id: number,
): { core: number; socket: number } {
  const siblings = parseCpuList(
    text(join(directory, "thread_siblings_list")) ||
      text(join(directory, "core_cpus_list")),
  );
  const socket = Number(text(join(directory, "physical_package_id")) || "0");
  // Some virtual machines report -1.
  return { core: siblings[0] ?? id, socket: Math.max(0, socket) };
}

function readNode(directory: string, id: number): MachineNode {
  const own = join(directory, `node${id}`);
  const distances = text(join(own, "distance")).split(/\s+/).filter(Boolean);
  return {
    id,
    memoryBytes: memoryTotal(text(join(own, "meminfo"))),
    hugepages: hugepagesIn(join(own, "hugepages")),
    distances: distances.length > 0 ? distances.map(Number) : undefined,
  };
}

function singleNode(root: string): MachineNode {
  return {
    id: 0,
    memoryBytes: memoryTotal(text(join(root, "proc/meminfo"))),
    hugepages: hugepagesIn(join(root, "sys/kernel/mm/hugepages")),
    distances: [10],
  };
}

function memoryTotal(meminfo: string): number {
  return Number(/MemTotal:\s+(\d+) kB/.exec(meminfo)?.[1] ?? 0) * 1024;
}

/** By the name of the resource. */
function hugepagesIn(directory: string): Record<string, number> {
  return hugepageBytes(readHugepages(directory), "hugepages-");
}

/** The numbers in the names that match, rising. */
function readNames(directory: string, pattern: RegExp): number[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return [];
  }
  return names
    .flatMap((name) => pattern.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

function text(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "";
  }
}
