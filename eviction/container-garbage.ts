// Chooses the dead containers to remove: of each container of a pod the newest few stay (for logs and last states), and
// of all of them together at most a total. Pure; the caller removes them.

export interface DeadContainer {
  id: string;
  podUid: string;
  name: string;
  createdAtMs: number;
  finishedAtMs: number;
}

export interface ContainerGarbageLimits {
  /** Negative: no bound. */
  maximumDead: number;
  maximumDeadPerContainer: number;
  minimumAgeMs: number;
}

export function surplusContainers(
  dead: readonly DeadContainer[],
  limits: ContainerGarbageLimits,
  nowMs: number,
): DeadContainer[] {
  const old = dead
    .filter(({ finishedAtMs }) => nowMs - finishedAtMs >= limits.minimumAgeMs)
    .sort((a, b) => b.createdAtMs - a.createdAtMs);
  const counts = new Map<string, number>();
  const surplus: DeadContainer[] = [];
  const kept: DeadContainer[] = [];
  for (const container of old) {
    const key = `${container.podUid}/${container.name}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    const tooMany =
      limits.maximumDeadPerContainer >= 0 &&
      count > limits.maximumDeadPerContainer;
    (tooMany ? surplus : kept).push(container);
  }
  if (limits.maximumDead >= 0) surplus.push(...kept.slice(limits.maximumDead));
  return surplus;
}
