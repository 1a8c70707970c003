// Completion indexes of Indexed Jobs: on pods, and as the compressed text of a status, e.g. "0-2,5".
import type { Pod } from "../../api/types/core-v1.ts";

export const indexAnnotation = "batch.kubernetes.io/job-completion-index";

export const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;

/** -1: it has none. */
export function completionIndex(pod: Pod): number {
  return wholeNumber(pod.metadata.annotations?.[indexAnnotation]) ?? -1;
}

export function parseIndexes(text: string | undefined): Set<number> {
  const indexes = new Set<number>();
  for (const part of (text ?? "").split(",")) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (!match) continue;
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    for (let index = first; index <= last; index++) indexes.add(index);
  }
  return indexes;
}

/** Runs of three and more are written with a dash; runs of two with a comma, as the reference does. */
export function formatIndexes(indexes: ReadonlySet<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let start = 0; start < sorted.length;) {
    let end = start;
    while (sorted[end + 1] === sorted[end]! + 1) end++;
    const [first, last] = [sorted[start]!, sorted[end]!];
    if (first === last) parts.push(String(first));
    else parts.push(`${first}${end - start > 1 ? "-" : ","}${last}`);
    start = end + 1;
  }
  return parts.join(",");
}
