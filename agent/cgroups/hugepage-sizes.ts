// Sizes of huge pages that the machine has, as the kernel's files of cgroups name them.
import { readHugepages } from "../resources/machine/hugepages.ts";

/** 64KB, 2MB, 1GB. */
export function machineHugepageSizes(): string[] {
  return readHugepages().map(({ pageBytes }) => cgroupSize(pageBytes));
}

function cgroupSize(pageBytes: number): string {
  const kilobytes = pageBytes / 1024;
  if (kilobytes >= 1024 * 1024) return `${kilobytes / 1024 / 1024}GB`;
  return kilobytes >= 1024 ? `${kilobytes / 1024}MB` : `${kilobytes}KB`;
}
