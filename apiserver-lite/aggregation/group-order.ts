// Groups and their versions in the order of discovery: by priority, the highest first.
import { compareVersions } from "../../api/catalogue.ts";

export interface Prioritised {
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
}

interface OrderedGroup<T extends Prioritised> {
  readonly name: string;
  /** The first is the preferred one. */
  readonly versions: readonly T[];
}

/**
 * A group has the place of its highest group priority; groups and versions of equal priority follow by name, versions as
 * v2, v1, v1beta1.
 */
export function orderedGroups<T extends Prioritised>(
  all: readonly T[],
): OrderedGroup<T>[] {
  const sorted = [...all].sort(
    (a, b) =>
      b.groupPriority - a.groupPriority ||
      compareText(`${a.version}.${a.group}`, `${b.version}.${b.group}`),
  );
  const groups = new Map<string, T[]>();
  for (const one of sorted) {
    const versions = groups.get(one.group);
    if (versions) versions.push(one);
    else groups.set(one.group, [one]);
  }
  return [...groups].map(([name, versions]) => ({
    name,
    versions: versions.sort(
      (a, b) =>
        b.versionPriority - a.versionPriority ||
        compareVersions(a.version, b.version),
    ),
  }));
}

const compareText = (a: string, b: string): number =>
  a < b ? -1 : a > b ? 1 : 0;
