// The machine itself for /metrics/cadvisor, read at each scrape: CPUs and swap may change.
import { availableParallelism, cpus, release, totalmem } from "node:os";
import { readFile } from "node:fs/promises";
import type { MachineFigures } from "../../../api/contracts.ts";

export async function machineFigures(): Promise<MachineFigures> {
  const read = async (file: string): Promise<string> =>
    (await readFile(file, "utf8").catch(() => "")).trim();
  const [bootId, machineId, systemUuid, cpuinfo, meminfo, system] =
    await Promise.all([
      read("/proc/sys/kernel/random/boot_id"),
      read("/etc/machine-id"),
      read("/sys/class/dmi/id/product_uuid"),
      read("/proc/cpuinfo"),
      read("/proc/meminfo"),
      read("/etc/os-release"),
    ]);
  return {
    kernelVersion: release(),
    osVersion: /^PRETTY_NAME="?(.*?)"?$/m.exec(system)?.[1] ?? "Linux",
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
  return bytesOf(meminfo, /^SwapTotal:\s+(\d+) kB/m);
}

export function usedSwapBytes(meminfo: string): number {
  return swapBytes(meminfo) - bytesOf(meminfo, /^SwapFree:\s+(\d+) kB/m);
}

function bytesOf(meminfo: string, line: RegExp): number {
  return Number(line.exec(meminfo)?.[1] ?? 0) * 1024;
}
