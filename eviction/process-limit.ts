// How many processes and threads the machine may have at once: the kernel has two limits of it, and the lower one holds.
import { readFileSync } from "node:fs";

const limits = ["pid_max", "threads-max"];

/** 0 where the kernel says neither. @param directory of the kernel's settings */
export function mostProcesses(directory = "/proc/sys/kernel"): number {
  const known = limits.flatMap((name) => {
    try {
      const limit = Number(readFileSync(`${directory}/${name}`, "utf8"));
      return limit > 0 ? [limit] : [];
    } catch {
      return [];
    }
  });
  return known.length > 0 ? Math.min(...known) : 0;
}
