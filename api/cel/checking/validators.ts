// Checks of a typed tree beyond types: literals of durations, times and patterns have to be such, elements of list
// and map literals to be of one type.
import { compilePattern } from "../functions/patterns.ts";
import { formatType, parameter, sameType, type CelType } from "./types.ts";
import type { Issues } from "../syntax/issues.ts";
import type { CallNode, Node } from "../syntax/tree.ts";
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
  check("duration", ({ args }) =>
    literal(args[0], (text) =>
      parseGoDuration(text) ? undefined : "invalid duration argument",
    ),
  );
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
  for (const node of nodes) homogeneous(node, issues);
}

/** All nodes, each once. */
function descendants(root: Node): Set<Node> {
  const found = new Set<Node>([root]);
  for (const node of found)
    for (const child of children(node)) found.add(child);
  return found;
}

function children(node: Node): readonly Node[] {
  switch (node.kind) {
    case "literal":
    case "ident":
      return [];
    case "select":
      return node.qualified === undefined ? [node.operand] : [];
    case "call":
      return node.target ? [node.target, ...node.args] : node.args;
    case "list":
      return node.elements;
    case "map":
      return node.entries.flatMap(({ key, value }) => [key, value]);
    case "struct":
      return node.fields.map(({ value }) => value);
    case "comprehension":
      return [node.range, node.init, node.condition, node.step, node.result];
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
