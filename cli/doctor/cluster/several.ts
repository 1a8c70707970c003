// Findings about many objects of a cluster, kept to what a person reads.
import { ok, warning, type Finding } from "../finding.ts";

/** Of one kind; how many more there are is said in a last line. */
const shown = 8;

/** @param all how many objects were looked at: said when nothing was found. */
export function several(
  what: string,
  findings: readonly Finding[],
  all: string,
  listAll: string,
): Finding[] {
  if (findings.length === 0) return [ok(what, all)];
  const worstFirst = [
    ...findings.filter(({ state }) => state === "failed"),
    ...findings.filter(({ state }) => state !== "failed"),
  ];
  const more = findings.length - shown;
  return more <= 0
    ? worstFirst
    : [
        ...worstFirst.slice(0, shown),
        {
          ...warning(what, `${more} more like these`, listAll),
          state: worstFirst[shown]!.state,
        },
      ];
}

/** Of a text that others wrote. */
export const short = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
};

export function age(sinceMs: number): string {
  const minutes = Math.floor(sinceMs / 60_000);
  if (minutes < 60) return `${minutes} min`;
  return minutes < 2880
    ? `${Math.floor(minutes / 60)} h`
    : `${Math.floor(minutes / 1440)} days`;
}
