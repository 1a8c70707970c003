// `anyOf`, `oneOf` and `allOf`: how many of a list of schemas a value fits, and whose problems are reported when it fits too
// few or too many: those of the alternative with most matches, the first of them.
import type { Steps } from "../../queueing/steps.ts";
import type { Run } from "./run.ts";

export interface Tried {
  readonly failed: boolean;
  readonly matches: number;
}

interface Alternative {
  /** Without noting anything. */
  try(value: unknown, run: Run): Steps<Tried>;
  /** Notes the problems of an alternative that was tried. */
  report(value: unknown, run: Run): Steps<void>;
  /** Notes its problems; is there none? */
  check(value: unknown, run: Run): Steps<boolean>;
}

export function* checkAnyOf(
  alternatives: readonly Alternative[],
  value: unknown,
  run: Run,
): Steps<void> {
  let best: { validator: Alternative; matches: number } | undefined;
  for (const validator of alternatives) {
    const { failed, matches } = yield* validator.try(value, run);
    if (!failed) {
      run.matches += matches;
      return;
    }
    if (!best || matches > best.matches) best = { validator, matches };
  }
  run.fail({ is: "any-of" });
  yield* reportBest(best!, value, run);
}

export function* checkOneOf(
  alternatives: readonly Alternative[],
  value: unknown,
  run: Run,
): Steps<void> {
  let best: { validator: Alternative; matches: number } | undefined;
  let valid = 0;
  let firstMatches = 0;
  for (const validator of alternatives) {
    const { failed, matches } = yield* validator.try(value, run);
    if (!failed) {
      if (valid++ === 0) firstMatches = matches;
    } else if (!best || matches > best.matches) best = { validator, matches };
  }
  if (valid === 1) {
    run.matches += firstMatches;
    return;
  }
  const found =
    valid === 0 ? "Found none valid" : `Found ${valid} valid alternatives`;
  run.fail({ is: "one-of", wanted: found });
  if (valid === 0) yield* reportBest(best!, value, run);
}

function* reportBest(
  { validator, matches }: { validator: Alternative; matches: number },
  value: unknown,
  run: Run,
): Steps<void> {
  const before = run.matches;
  yield* validator.report(value, run);
  run.matches = before + matches;
}

export function* checkAllOf(
  parts: readonly Alternative[],
  value: unknown,
  run: Run,
): Steps<void> {
  let valid = 0;
  for (const part of parts) if (yield* part.check(value, run)) valid++;
  if (valid < parts.length)
    run.fail({ is: "all-of", wanted: valid === 0 ? ". None validated" : "" });
}
