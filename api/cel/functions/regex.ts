// `find` and `findAll` of patterns in strings.
import type { Library } from "../checking/declarations.ts";
import type { Activation } from "../evaluation/activation.ts";
import { finding } from "../../patterns/linear-find.ts";
import type { Steps } from "../../queueing/steps.ts";
import { compilePattern } from "./patterns.ts";
import { ArrayList, Failure, type Result } from "../values/value.ts";

/** In longer texts matches are found in steps. */
const maxTextAtOnce = 4096;

/** At most that many matches; below zero all. */
function findAll(
  activation: Activation,
  text: string,
  pattern: string,
  most = -1n,
): Result {
  const compiled = compilePattern(pattern);
  if (compiled instanceof Failure)
    return new Failure(`Illegal regex: ${compiled.message}`);
  const limit = most < 0n ? Infinity : Number(most);
  if (text.length > maxTextAtOnce)
    return activation.inSteps(`find ${limit} ${pattern}`, text, () =>
      listing(finding(compiled.engine, text, limit)),
    );
  const found: string[] = [];
  const matcher = compiled.engine.matcher(text);
  let end = -1;
  while (found.length < limit && matcher.find()) {
    // Many matches take longer than they cost.
    activation.charge(0);
    // An empty match right behind another one is none.
    const empty = matcher.end() === matcher.start();
    if (!empty || matcher.start() !== end) found.push(matcher.group() ?? "");
    end = matcher.end();
  }
  return new ArrayList(found);
}

function* listing(found: Steps<string[]>): Steps<Result> {
  return new ArrayList(yield* found);
}

function find(activation: Activation, text: string, pattern: string): Result {
  const found = findAll(activation, text, pattern, 1n);
  return found instanceof ArrayList ? (found.elements[0] ?? "") : found;
}

export const regexLibrary: Library = {
  find: [
    {
      id: "string_find_string",
      member: true,
      args: "string, string",
      result: "string",
      call: ([text, pattern], activation) =>
        find(activation, text as string, pattern as string),
    },
  ],
  findAll: [
    {
      id: "string_find_all_string",
      member: true,
      args: "string, string",
      result: "list(string)",
      call: ([text, pattern], activation) =>
        findAll(activation, text as string, pattern as string),
    },
    {
      id: "string_find_all_string_int",
      member: true,
      args: "string, string, int",
      result: "list(string)",
      call: ([text, pattern, most], activation) =>
        findAll(activation, text as string, pattern as string, most as bigint),
    },
  ],
};
