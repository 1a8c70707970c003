// The huge pages that the kernel sets aside, of the machine or of one NUMA node.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { formatBinary } from "../../../eviction/format.ts";

interface Hugepages {
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

/** "2Mi" → bytes set aside, of every size that the kernel knows, those without pages too. @param prefix of the names */
export function hugepageBytes(
  sizes: readonly Hugepages[],
  prefix = "",
): Record<string, number> {
  return Object.fromEntries(
    sizes.map(({ pageBytes, pages }) => [
      `${prefix}${formatBinary(pageBytes)}`,
      pages * pageBytes,
    ]),
  );
}

function countOf(directory: string, name: string): number {
  try {
    return Number(readFileSync(join(directory, name, "nr_hugepages"), "utf8"));
  } catch {
    return 0;
  }
}
