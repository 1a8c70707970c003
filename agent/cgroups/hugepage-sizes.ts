// Sizes of huge pages that the machine has, as the kernel's files of cgroups name them.
import { readdirSync } from "node:fs";

/** 64KB, 2MB, 1GB. @param directory where the kernel shows them */
export function machineHugepageSizes(
  directory = "/sys/kernel/mm/hugepages",
): string[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const kilobytes = Number(/^hugepages-(\d+)kB$/.exec(name)?.[1] ?? 0);
    if (kilobytes === 0) return [];
    if (kilobytes >= 1024 * 1024) return [`${kilobytes / 1024 / 1024}GB`];
    return [kilobytes >= 1024 ? `${kilobytes / 1024}MB` : `${kilobytes}KB`];
  });
}
