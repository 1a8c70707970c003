// The static cost of a checked tree: what evaluations cost at least and at most, by the reference's model. Sizes come
// from literals, from what functions say of their results, and from the limits of the schemas; what nothing limits is
// as large as can be.
import { estimateCall } from "./call-estimate.ts";
import type { Environment } from "../environment.ts";
import type { SizedNode, Sizes } from "./sizes.ts";
import {
  accumulatorName,
  type CallNode,
  type ComprehensionNode,
  type Node,
  type SelectNode,
} from "../syntax/tree.ts";
import { parameter, type CelType } from "../checking/types.ts";
import type { DeclaredType } from "../schemas/declared-type.ts";
import { codePoints } from "../values/value.ts";
import { add, largest, one, scale, union, type Range } from "./range.ts";

export type CostEstimate = Range;

const zero: Range = { min: 0, max: 0 };
const scalar = new Set([
  "bool",
  "double",
  "duration",
  "int",
  "timestamp",
  "uint",
]);

export function estimateCost(
  root: Node,
  environment: Environment,
): CostEstimate {
  return new Estimator(environment).cost(root);
}

class Estimator implements Sizes {
  readonly #environment: Environment;
  readonly #paths = new Map<Node, readonly string[]>();
  readonly #sizes = new Map<Node, Range>();
  readonly #costs = new Map<Node, Range>();
  /** What loop variables go through, innermost last. */
  readonly #loops: { name: string; range: Node }[] = [];

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  cost(node: Node): Range {
    const known = this.#costs.get(node);
    if (known) return known;
    const cost = this.#cost(node);
    this.#costs.set(node, cost);
    return cost;
  }

  #cost(node: Node): Range {
    switch (node.kind) {
      case "literal":
        return zero;
      case "ident":
        this.#paths.set(node, this.#pathOf(node.name));
        return one;
      case "select":
        return this.#select(node);
      case "call":
        return this.#call(node);
      case "list":
        return this.#sum(node.elements, 10);
      case "map":
        return this.#sum(
          node.entries.flatMap(({ key, value }) => [key, value]),
          30,
        );
      case "struct":
        return this.#sum(
          node.fields.map(({ value }) => value),
          40,
        );
      case "comprehension":
        return this.#loop(node);
    }
  }

  #sum(nodes: readonly Node[], base = 0): Range {
    let sum: Range = { min: base, max: base };
    for (const node of nodes) sum = add(sum, this.cost(node));
    return sum;
  }

  #pathOf(name: string): readonly string[] {
    const loop = this.#loops.findLast((found) => found.name === name);
    if (!loop) return [name];
    const { kind } = loop.range.type as CelType;
    const above = this.#paths.get(loop.range) ?? [];
    if (kind === "list") return [...above, "@items"];
    return kind === "map" ? [...above, "@keys"] : [];
  }

  #select(node: SelectNode): Range {
    if (node.qualified !== undefined) {
      this.#paths.set(node, [node.qualified]);
      return one;
    }
    const cost = this.cost(node.operand);
    if (node.testOnly) return cost;
    const above = this.#paths.get(node.operand) ?? [];
    this.#paths.set(node, [...above, node.field]);
    const { kind } = node.operand.type as CelType;
    return kind === "map" || kind === "object" || kind === "param"
      ? add(cost, one)
      : cost;
  }

  #call(node: CallNode): Range {
    const costs = node.args.map((arg) => this.cost(arg));
    const target = node.target ? this.cost(node.target) : zero;
    if (node.name === "_?._") return add(add(costs[0] ?? zero, zero), one);
    const overloads = node.overloads ?? [];
    if (overloads.length === 0) return zero;
    const sized = {
      name: node.name,
      target: node.target && this.sized(node.target),
      args: node.args.map((arg) => this.sized(arg)),
      costs,
    };
    let cost: Range | undefined;
    let size: Range | undefined;
    for (const { id } of overloads) {
      const found = estimateCall(this, id, sized);
      cost = cost ? union(cost, found.cost) : found.cost;
      if (found.size) size = size ? union(size, found.size) : found.size;
      const part =
        id === "index_list" ? "@items" : id === "index_map" ? "@values" : "";
      // Of a list without a path the reference takes the item for the root of the schema, which bounds its size.
      const above = this.#paths.get(node.args[0] as Node) ?? [];
      if (part) this.#paths.set(node, [...above, part]);
    }
    if (size) this.#sizes.set(node, size);
    return add(target, cost ?? zero);
  }

  #loop(node: ComprehensionNode): Range {
    let sum = add(this.cost(node.range), this.cost(node.init));
    this.#loops.push({ name: node.variable, range: node.range });
    const turn = add(this.cost(node.condition), this.cost(node.step));
    this.#loops.pop();
    sum = add(sum, this.cost(node.result));
    const count = this.size(this.sized(node.range));
    this.#sizes.set(node, count);
    return add(sum, scale(count, turn));
  }

  sized(node: Node): SizedNode {
    const path = this.#paths.get(node);
    return {
      node,
      type: node.type as CelType,
      path: path?.[0] === accumulatorName ? undefined : path,
      computed: this.#sizes.get(node) ?? literalSize(node),
    };
  }

  elementOf({ type, path }: SizedNode): SizedNode | undefined {
    if (type.parameters.length === 0) return undefined;
    return {
      node: undefined,
      type: parameter(type, 0),
      path: path && [...path, "@items"],
      computed: undefined,
    };
  }

  limit(value: SizedNode): Range {
    return (
      value.computed ?? this.#declaredSize(value) ?? { min: 0, max: largest }
    );
  }

  size(value: SizedNode): Range {
    return (
      value.computed ??
      this.#declaredSize(value) ??
      (scalar.has(value.type.kind) ? one : { min: 0, max: largest })
    );
  }

  /** By the schema at the end of the path. */
  #declaredSize({ path }: SizedNode): Range | undefined {
    if (!path || path.length === 0) return undefined;
    const { variables } = this.#environment;
    const root = variables.find(([name]) => name === path[0]) ?? variables[0];
    let type: DeclaredType | undefined = root?.[1];
    for (const part of path.slice(1)) {
      if (part === "@keys") return zero;
      type =
        part === "@items" || part === "@values"
          ? type?.elements
          : type?.fields?.get(part)?.reader;
      if (!type) return undefined;
    }
    if (!type || (type.maxElements === undefined && !type.fields))
      return undefined;
    return { min: 0, max: type.maxElements ?? 0 };
  }
}

function literalSize(node: Node): Range | undefined {
  const exactly = (size: number): Range => ({ min: size, max: size });
  switch (node.kind) {
    case "literal":
      if (typeof node.value === "string")
        return exactly(codePoints(node.value));
      return exactly(node.value instanceof Uint8Array ? node.value.length : 1);
    case "list":
      return exactly(node.elements.length);
    case "map":
      return exactly(node.entries.length);
    default:
      return undefined;
  }
}
