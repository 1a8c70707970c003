// Sets of CPUs, or of NUMA nodes, in the kernel's list form: `0-3,8,10-11`. Pure.

/** @throws Error with the text; "" is the empty list. Rising, each once. */
export function parseCpuList(text: string): number[] {
  const ids = new Set<number>();
  const list = text.trim();
  for (const part of list === "" ? [] : list.split(",")) {
    const match = /^(\d{1,7})(?:-(\d{1,7}))?$/.exec(part.trim());
    const first = Number(match?.[1]);
    const last = Number(match?.[2] ?? first);
    // No machine has more; a range of a damaged file must not fill the memory.
    if (!match || last < first || last > maximumId)
      throw new Error(`invalid list of CPUs: ${JSON.stringify(text)}`);
    for (let id = first; id <= last; id++) ids.add(id);
  }
  return [...ids].sort((a, b) => a - b);
}

const maximumId = 65_535;
export function formatCpuList(ids: Iterable<number>): string {
  const rising = [...new Set(ids)].sort((a, b) => a - b);
  const ranges: [number, number][] = [];
  for (const id of rising) {
    const last = ranges.at(-1);
    if (last && last[1] === id - 1) last[1] = id;
    else ranges.push([id, id]);
  }
  return ranges
    .map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`))
    .join(",");
}
