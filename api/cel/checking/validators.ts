// Checks of a typed tree beyond types: literals of durations, times and patterns have to be such, elements of list
// and map literals to be of one type.
import { compilePattern } from "../functions/patterns.ts";
import {
  clauseTypes,
  checkClauses,
  FormatError,
} from "../functions/strings/format.ts";
import { formatType, parameter, sameType, type CelType } from "./types.ts";
import type { Issues } from "../syntax/issues.ts";
import { descendants, type CallNode, type Node } from "../syntax/tree.ts";
import { inRange, parseGoDuration, parseTimestamp } from "../values/time.ts";
import { Failure } from "../values/value.ts";

export function validate(root: Node, issues: Issues): void {
  const nodes = descendants(root);
  const check = (name: string, test: (call: CallNode) => void): void => {
    for (const node of nodes)
      if (node.kind === "call" && node.name === name) test(node);
  };
  const literal = (
    node: Node | undefined,
    test: (text: string) => string | undefined,
  ): void => {
    if (node?.kind !== "literal" || typeof node.value !== "string") return;
    const problem = test(node.value);
    if (problem !== undefined) issues.report(node.at, problem);
  };
  check("duration", ({ args: [arg] }) => {
    literal(arg, (text) =>
      parseGoDuration(text) ? undefined : "invalid duration argument",
    );
    // The reference takes integers, but not as literals.
    if (arg?.kind === "literal" && typeof arg.value === "bigint")
      issues.report(arg.at, "invalid duration argument");
  });
  check("timestamp", ({ args }) =>
    literal(args[0], (text) => {
      const time = parseTimestamp(text);
      return time && inRange(time) ? undefined : "invalid timestamp argument";
    }),
  );
  check("matches", ({ args, target }) =>
    literal(args[target ? 0 : 1], (text) =>
      compilePattern(text) instanceof Failure
        ? "invalid matches argument"
        : undefined,
    ),
  );
  const exempt = new Set<Node>();
  check("format", (call) => {
    for (const argument of call.args)
      for (const inner of descendants(argument)) exempt.add(inner);
    checkFormat(call, issues);
  });
  for (const node of nodes) if (!exempt.has(node)) homogeneous(node, issues);
}

/** A constant format fits its list of arguments. */
function checkFormat({ at, target, args }: CallNode, issues: Issues): void {
  const [list] = args;
  if (target?.kind !== "literal" || list?.kind !== "list") return;
  if (typeof target.value !== "string") return;
  const { elements } = list;
  let place = at;
  try {
    const used = checkClauses(
      target.value,
      elements.length,
      (clause, index) => {
        const { type, at: argumentAt } = elements[index] as Node;
        const { kinds, problem } = clauseTypes[clause];
        const { kind, name } = type as CelType;
        if (kind === "dyn" || kinds.includes(kind)) return;
        place = argumentAt;
        throw new FormatError(`error during formatting: ${problem} ${name}`);
      },
    );
    if (used < elements.length)
      issues.report(
        at,
        `too many arguments supplied to string.format (expected ${used}, got ${elements.length})`,
      );
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    issues.report(place, error.message);
  }
}

function homogeneous(node: Node, issues: Issues): void {
  if (node.kind === "list")
    sameTypes(
      node.elements.map((element, index) =>
        typed(element, node.optional.has(index)),
      ),
      issues,
    );
  if (node.kind !== "map") return;
  sameTypes(
    node.entries.map(({ key }) => typed(key, false)),
    issues,
    false,
  );
  sameTypes(
    node.entries.map(({ value, optional }) => typed(value, optional)),
    issues,
    false,
  );
}

interface Typed {
  readonly at: number;
  readonly type: CelType;
}

function typed(node: Node, optional: boolean): Typed {
  const type = node.type as CelType;
  return { at: node.at, type: optional ? parameter(type, 0) : type };
}

function sameTypes(
  found: readonly Typed[],
  issues: Issues,
  onlyFirst = true,
): void {
  const [first, ...rest] = found;
  for (const { at, type } of rest) {
    if (!first || sameType(first.type, type)) continue;
    issues.report(
      at,
      `expected type '${formatType(first.type)}' but found '${formatType(type)}'`,
    );
    if (onlyFirst) return;
  }
}
