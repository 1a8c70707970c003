// What the parts of the planner share: a step evaluates one node.
import type { Evaluation } from "./activation.ts";
import type { Node } from "../syntax/tree.ts";
import type { Result, Value } from "../values/value.ts";

export type Step = (evaluation: Evaluation) => Result;

export interface Planning {
  plan(node: Node): Step;
  /** The constant that a node is, undefined for what has to be evaluated. */
  constant(node: Node): Value | undefined;
  /** Remembers that a node is always that value. */
  fold(node: Node, value: Value): Step;
  /** A constant that every evaluation would fail at: the expression is refused. */
  refuse(problem: string): void;
  /** Plans something with names that loops or bindings give to slots. */
  within<T>(names: readonly string[], plan: (slots: readonly number[]) => T): T;
}
