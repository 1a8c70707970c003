// The huge pages that the kernel sets aside, of the machine or of one NUMA node.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Hugepages {
  readonly pageBytes: number;
  /** Set aside, in use or not. */
  readonly pages: number;
}

/**
 * By rising size, sizes without pages among them; none where the kernel has no huge pages.
 * @param directory where the kernel shows them
 */
export function readHugepages(
  directory = "/sys/kernel/mm/hugepages",
): Hugepages[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return [];
  }
  return names
    .flatMap((name) => {
      const kilobytes = Number(/^hugepages-(\d+)kB$/.exec(name)?.[1] ?? 0);
      if (kilobytes === 0) return [];
      return [{ pageBytes: kilobytes * 1024, pages: countOf(directory, name) }];
    })
    .sort((a, b) => a.pageBytes - b.pageBytes);
}

function countOf(directory: string, name: string): number {
  try {
    return Number(readFileSync(join(directory, name, "nr_hugepages"), "utf8"));
  } catch {
    return 0;
  }
}
