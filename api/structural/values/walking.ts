// A walk that is not made of steps until it has to pause: what is small costs no generators.
// A part of it returns the steps that are left, or undefined when it is done.
import type { Steps } from "../../queueing/steps.ts";
import type { Run } from "./run.ts";

export type Rest = Steps<void> | undefined;

/** Visits members one by one; the path is afterwards what it was. */
export function visitAll(
  run: Run,
  count: number,
  visit: (index: number) => Rest,
): Rest {
  const depth = run.path.length;
  const stop = visitFrom(0, depth, run, count, visit);
  return stop && goOn(stop, depth, run, count, visit);
}

/** What follows when the rest of something is done. */
export function then(rest: Rest, next: () => Rest): Rest {
  return rest ? inTurn(rest, next) : next();
}

function* inTurn(rest: Steps<void>, next: () => Rest): Steps<void> {
  yield* rest;
  const following = next();
  if (following) yield* following;
}

interface Stop {
  readonly index: number;
  /** Undefined: it was not begun. */
  readonly rest: Rest;
}

function visitFrom(
  from: number,
  depth: number,
  run: Run,
  count: number,
  visit: (index: number) => Rest,
): Stop | undefined {
  for (let index = from; index < count; index++) {
    if (run.endsStep()) return { index, rest: undefined };
    const rest = visit(index);
    if (rest) return { index, rest };
    run.leave(depth);
  }
  return undefined;
}

function* goOn(
  stop: Stop,
  depth: number,
  run: Run,
  count: number,
  visit: (index: number) => Rest,
): Steps<void> {
  for (let at: Stop | undefined = stop; at;) {
    if (at.rest) yield* at.rest;
    else yield;
    run.leave(depth);
    const next = at.rest ? at.index + 1 : at.index;
    at = visitFrom(next, depth, run, count, visit);
  }
}
