// The machine itself for /metrics/cadvisor, read at each scrape: CPUs and swap may change.
import { availableParallelism, cpus, totalmem } from "node:os";
import { readFile } from "node:fs/promises";
import type { MachineFigures } from "../../../api/contracts.ts";

export async function machineFigures(): Promise<MachineFigures> {
  const read = async (file: string): Promise<string> =>
    (await readFile(file, "utf8").catch(() => "")).trim();
  const [bootId, machineId, systemUuid, cpuinfo, meminfo] = await Promise.all([
    read("/proc/sys/kernel/random/boot_id"),
    read("/etc/machine-id"),
    read("/sys/class/dmi/id/product_uuid"),
    read("/proc/cpuinfo"),
    read("/proc/meminfo"),
  ]);
  return {
    bootId,
    machineId,
    systemUuid,
    ...countProcessors(cpuinfo, cpus().length || availableParallelism()),
    memoryBytes: totalmem(),
    swapBytes: swapBytes(meminfo),
  };
}

/** @param cores of which `cpuinfo`, the kernel's text, may say nothing more (as on arm64) */
export function countProcessors(
  cpuinfo: string,
  cores: number,
): Pick<MachineFigures, "cores" | "physicalCores" | "sockets"> {
  const sockets = new Set<string>();
  // A core's number is unique in its socket only, and may begin anywhere.
  const physical = new Set<string>();
  for (const processor of cpuinfo.split(/\n\s*\n/)) {
    const socket = /^physical id\s*:\s*(\d+)/m.exec(processor)?.[1];
    const core = /^core id\s*:\s*(\d+)/m.exec(processor)?.[1];
    if (socket !== undefined) sockets.add(socket);
    if (core !== undefined) physical.add(`${socket} ${core}`);
  }
  return {
    cores,
    physicalCores: physical.size || cores,
    sockets: sockets.size || 1,
  };
}

export function swapBytes(meminfo: string): number {
  return Number(/^SwapTotal:\s+(\d+) kB/m.exec(meminfo)?.[1] ?? 0) * 1024;
}
