// What takes strings apart and puts them together: `replace`, `split`, `join`. It goes on in steps, which are taken at once
// where the strings are short.
import { finish, Pace, type Steps } from "../../../queueing/steps.ts";
import type { OverloadText } from "../../checking/declarations.ts";
import {
  ArrayList,
  Failure,
  type ListValue,
  type Result,
  type Value,
} from "../../values/value.ts";
import { isLarge } from "../../values/weight.ts";
import { Joined } from "./joined.ts";

/** The parts of a text between a separator, at most so many; the last one is the rest. Code points where it is "". */
function* partsOf(
  text: string,
  separator: string,
  limit: number,
): Iterable<string> {
  let from = 0;
  for (let count = 1; count < limit; count++) {
    const at =
      separator === ""
        ? from + (text.codePointAt(from)! > 0xffff ? 2 : 1)
        : text.indexOf(separator, from);
    if (at < 0 || (separator === "" && at >= text.length)) break;
    yield text.slice(from, at);
    from = at + separator.length;
  }
  if (separator !== "" || from < text.length) yield text.slice(from);
}

function* replacing(
  [text, old, by, most = -1n]: readonly Value[],
  pace: Pace,
): Steps<Result> {
  if (most === 0n) return text as string;
  const limit = (most as bigint) < 0n ? Infinity : Number(most);
  if (old === "")
    return yield* interspersing(text as string, by as string, limit, pace);
  const joined = new Joined(by as string, pace);
  for (const part of partsOf(text as string, old as string, limit + 1))
    yield* joined.add(part);
  return joined.text();
}

/** The text with `by` before each character and at the end, as often as allowed. */
function* interspersing(
  text: string,
  by: string,
  limit: number,
  pace: Pace,
): Steps<Result> {
  const joined = new Joined("", pace);
  let count = 0;
  for (const part of partsOf(text, "", Infinity))
    yield* joined.add(count++ < limit ? by + part : part);
  if (count < limit) yield* joined.add(by);
  return joined.text();
}

function* splitting(
  [text, separator, most = -1n]: readonly Value[],
  pace: Pace,
): Steps<Result> {
  if (most === 0n) return new ArrayList([]);
  const limit = (most as bigint) < 0n ? Infinity : Number(most);
  const parts: string[] = [];
  for (const part of partsOf(text as string, separator as string, limit)) {
    parts.push(part);
    if (pace.isOver()) yield;
  }
  return new ArrayList(parts);
}

function* joining(
  [list, separator = ""]: readonly Value[],
  pace: Pace,
): Steps<Result> {
  const { size } = list as ListValue;
  const joined = new Joined(separator as string, pace);
  for (let index = 0; index < size; index++) {
    const element = (list as ListValue).at(index);
    if (element instanceof Failure) return element;
    if (typeof element !== "string")
      return new Failure(`join: invalid input: ${String(element)}`);
    yield* joined.add(element);
  }
  return joined.text();
}

const stepped = (
  run: (args: readonly Value[], pace: Pace) => Steps<Result>,
): Pick<OverloadText, "call" | "inSteps"> => ({
  call: (args) => finish(run(args, new Pace())),
  inSteps: (args) => (isLarge(args[0]!) ? run(args, new Pace()) : undefined),
});

export const replaceCall = stepped(replacing);
export const splitCall = stepped(splitting);
export const joinCall = stepped(joining);
