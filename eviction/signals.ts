// The signals that node pressure is derived from, read from the kernel. Units are bytes and counts.
// What the kernel has in memory is read in one go: a look each second by way of other threads costs several times as much.
import { readFileSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { mostProcesses } from "./process-limit.ts";

const signalNames = [
  "memory.available",
  "allocatableMemory.available",
  "nodefs.available",
  "nodefs.inodesFree",
  "imagefs.available",
  "imagefs.inodesFree",
  "containerfs.available",
  "containerfs.inodesFree",
  "pid.available",
] as const;
export type SignalName = (typeof signalNames)[number];

export function isSignalName(name: string): name is SignalName {
  return (signalNames as readonly string[]).includes(name);
}

/** Of a file system: its bytes or its inodes. */
export function isDiskSignal(name: SignalName): boolean {
  return /^(?:node|image|container)fs\./.test(name);
}

export interface Signal {
  available: number;
  capacity: number;
}

export type Signals = ReadonlyMap<SignalName, Signal>;

interface SignalSources {
  /** File system of pods' volumes and logs. */
  nodefs: string;
  /** File system of images; undefined where the runtime does not report it. */
  imagefs: string | undefined;
  /** File system of writable layers; undefined where they lie with the volumes or the images, whose signals are theirs. */
  containerfs: string | undefined;
  /** Memory that the cgroup of all pods has left below its limit; undefined where it has none. */
  podsMemory: () => Promise<Signal | undefined>;
}

/** A signal that can't be read is left out. */
export async function readSignals(sources: SignalSources): Promise<Signals> {
  const signals = new Map<SignalName, Signal>();
  const filesystem = async (
    name: "nodefs" | "imagefs" | "containerfs",
    path: string | undefined,
  ): Promise<void> => {
    if (path === undefined) return;
    const found = await statfs(path).catch(() => undefined);
    if (!found) return;
    signals.set(`${name}.available`, {
      available: found.bavail * found.bsize,
      capacity: found.blocks * found.bsize,
    });
    // Some file systems have no fixed number of inodes.
    if (found.files > 0)
      signals.set(`${name}.inodesFree`, {
        available: found.ffree,
        capacity: found.files,
      });
  };
  await Promise.all([
    filesystem("nodefs", sources.nodefs),
    filesystem("imagefs", sources.imagefs),
    filesystem("containerfs", sources.containerfs),
    sources
      .podsMemory()
      .then(
        (found) => found && signals.set("allocatableMemory.available", found),
      ),
  ]);
  memory(signals);
  pids(signals);
  return signals;
}

/** "" where it can't be read. */
function kernelFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function memory(signals: Map<SignalName, Signal>): void {
  const text = kernelFile("/proc/meminfo");
  const bytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0) *
    1024;
  const capacity = bytes("MemTotal");
  if (capacity > 0)
    signals.set("memory.available", {
      available: bytes("MemAvailable"),
      capacity,
    });
}

function pids(signals: Map<SignalName, Signal>): void {
  const load = kernelFile("/proc/loadavg");
  const capacity = mostProcesses();
  const running = Number(/ \d+\/(\d+)/.exec(load)?.[1]);
  if (capacity > 0 && running > 0)
    signals.set("pid.available", { available: capacity - running, capacity });
}
