// The tree of an expression. The parser makes it with all macros expanded, so that checking, cost estimation and
// evaluation know one kind of loop only; the checker writes types and chosen overloads onto its nodes.
import type { CelType } from "../checking/types.ts";
import type { Overload } from "../checking/declarations.ts";
import type { Value } from "../values/value.ts";

interface NodeBase {
  /** Index of the token that names the place in messages: an operator, a dot, an opening bracket. */
  readonly at: number;
  /** Written by the checker. */
  type?: CelType;
}

export interface LiteralNode extends NodeBase {
  readonly kind: "literal";
  readonly value: Value;
}

interface IdentNode extends NodeBase {
  readonly kind: "ident";
  name: string;
}

export interface SelectNode extends NodeBase {
  readonly kind: "select";
  readonly operand: Node;
  readonly field: string;
  /** `has(operand.field)` */
  readonly testOnly: boolean;
  /** The variable that the whole qualified name is; written by the checker. */
  qualified?: string;
}

export interface CallNode extends NodeBase {
  readonly kind: "call";
  /** Operators are calls of functions named as the reference names them: `_+_`, `_?_:_`. */
  name: string;
  /** Undefined for global functions; cleared by the checker where it is the namespace of one. */
  target: Node | undefined;
  readonly args: readonly Node[];
  /** The overloads that may apply to the types; written by the checker. */
  overloads?: readonly Overload[];
}

interface ListNode extends NodeBase {
  readonly kind: "list";
  readonly elements: readonly Node[];
  /** Indices of `?element`. */
  readonly optional: ReadonlySet<number>;
}

interface MapEntryNode {
  readonly at: number;
  readonly key: Node;
  readonly value: Node;
  readonly optional: boolean;
}

interface MapNode extends NodeBase {
  readonly kind: "map";
  readonly entries: readonly MapEntryNode[];
}

interface StructFieldNode {
  readonly at: number;
  readonly name: string;
  readonly value: Node;
  readonly optional: boolean;
}

interface StructNode extends NodeBase {
  readonly kind: "struct";
  readonly typeName: string;
  readonly fields: readonly StructFieldNode[];
}

/**
 * A loop: the accumulator starts as `init`; for each element of `range`, while `condition` holds, it becomes `step`;
 * then the value is `result`.
 */
export interface ComprehensionNode extends NodeBase {
  readonly kind: "comprehension";
  readonly range: Node;
  readonly variable: string;
  /** Then `variable` is the index or key, this the element or value. */
  readonly variable2: string | undefined;
  readonly accumulator: string;
  readonly init: Node;
  readonly condition: Node;
  readonly step: Node;
  readonly result: Node;
}

export type Node =
  | LiteralNode
  | IdentNode
  | SelectNode
  | CallNode
  | ListNode
  | MapNode
  | StructNode
  | ComprehensionNode;

/** The accumulator of every macro; expressions cannot name it, as their own names never begin like this. */
export const accumulatorName = "__result__";

/** `a.b.c` as one name, undefined for anything else. */
export function qualifiedName(node: Node): string | undefined {
  if (node.kind === "ident") return node.name;
  if (node.kind !== "select" || node.testOnly) return undefined;
  const prefix = qualifiedName(node.operand);
  return prefix === undefined ? undefined : `${prefix}.${node.field}`;
}

/** All nodes, each once. */
export function descendants(root: Node): Set<Node> {
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

/** The names of all variables that are read, those of loops too. */
export function usedNames(root: Node): Set<string> {
  const names = new Set<string>();
  for (const node of descendants(root)) {
    if (node.kind === "ident") names.add(node.name);
    if (node.kind === "select" && node.qualified !== undefined)
      names.add(node.qualified);
  }
  return names;
}
