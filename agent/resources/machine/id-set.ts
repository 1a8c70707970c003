// Operations on small sets of ids (CPUs, nodes). Pure; results rise.

export type Ids = readonly number[];

export function union(...sets: readonly Iterable<number>[]): number[] {
  const all = new Set<number>();
  for (const set of sets) for (const id of set) all.add(id);
  return [...all].sort(rising);
}

export function without(
  from: Iterable<number>,
  ids: Iterable<number>,
): number[] {
  const removed = new Set(ids);
  return [...from].filter((id) => !removed.has(id)).sort(rising);
}

export function common(a: Iterable<number>, b: Iterable<number>): number[] {
  const wanted = new Set(b);
  return [...a].filter((id) => wanted.has(id)).sort(rising);
}

export function sameIds(a: Ids, b: Ids): boolean {
  return a.length === b.length && without(a, b).length === 0;
}

function rising(a: number, b: number): number {
  return a - b;
}
