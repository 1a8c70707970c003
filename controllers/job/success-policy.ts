// When an Indexed Job has succeeded before all of its indexes have: the first rule that is met decides.
import type { Job } from "../../api/types/batch-v1.ts";
import { parseIndexes } from "./completion-indexes.ts";
import type { Verdict } from "./job-conditions.ts";

/** What the conditions say; undefined while no rule is met. */
export function metSuccessPolicy(
  { spec }: Job,
  succeeded: ReadonlySet<number>,
): Verdict | undefined {
  if (spec.completionMode !== "Indexed") return undefined;
  const rules = spec.successPolicy?.rules ?? [];
  const met = rules.findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined)
      return succeededCount !== undefined && succeeded.size >= succeededCount;
    const wanted = [...parseIndexes(succeededIndexes)];
    const have = wanted.filter((index) => succeeded.has(index)).length;
    return have >= (succeededCount ?? wanted.length);
  });
  return met < 0
    ? undefined
    : { reason: "SuccessPolicy", message: `Matched rules at index ${met}` };
}
