// Steps of loops. Loops that collect a list push onto one array instead of joining lists, at the same cost.
import type { Evaluation } from "./activation.ts";
import type { Planning, Step } from "./step.ts";
import type { ComprehensionNode, Node } from "../syntax/tree.ts";
import {
  ArrayList,
  EntryMap,
  Failure,
  ListValue,
  MapValue,
  type Result,
  typeOf,
  type Value,
} from "../values/value.ts";

/** What a loop does with one element; false ends it. */
type Body = (evaluation: Evaluation) => boolean;

export function planComprehension(
  planner: Planning,
  node: ComprehensionNode,
): Step {
  const range = planner.plan(node.range);
  // Loops that collect entries insert them into a map of their own.
  const init: Step =
    node.init.kind === "map" && node.init.entries.length === 0
      ? () => new EntryMap()
      : planner.plan(node.init);
  const second = node.variable2;
  const names = [
    node.accumulator,
    node.variable,
    ...(second === undefined ? [] : [second]),
  ];
  return planner.within(names, ([accumulator, first, other]) => {
    const slot = accumulator as number;
    const collected = collectedElement(node);
    const body = collected
      ? collectInto(planner, slot, collected)
      : generalBody(planner, node, slot);
    const result = planner.plan(node.result);
    return (evaluation) => {
      const over = range(evaluation);
      if (over instanceof Failure) return over;
      const { slots } = evaluation;
      slots[slot] = collected ? new Growing() : init(evaluation);
      const failure = iterate(evaluation, over, body, first as number, other);
      if (failure) return failure;
      const grown = slots[slot];
      if (grown instanceof Growing) slots[slot] = new ArrayList(grown.items);
      return result(evaluation);
    };
  });
}

/** Runs the body for each element; a failure where there is nothing to go through. */
function iterate(
  evaluation: Evaluation,
  over: Value,
  body: Body,
  first: number,
  second: number | undefined,
): Failure | undefined {
  const { slots } = evaluation;
  if (over instanceof ListValue) {
    for (let index = 0; index < over.size; index++) {
      if (second === undefined) slots[first] = over.at(index);
      else {
        slots[first] = BigInt(index);
        slots[second] = over.at(index);
      }
      if (!body(evaluation)) break;
    }
    return undefined;
  }
  if (!(over instanceof MapValue)) {
    const { kind } = typeOf(over);
    const name = kind.charAt(0).toUpperCase() + kind.slice(1);
    return new Failure(`got 'types.${name}', expected iterable type`);
  }
  for (const key of over.keys()) {
    slots[first] = key;
    if (second !== undefined) slots[second] = over.get(key) as Result;
    if (!body(evaluation)) break;
  }
  return undefined;
}

function generalBody(
  planner: Planning,
  node: ComprehensionNode,
  slot: number,
): Body {
  const condition = planner.plan(node.condition);
  const step = planner.plan(node.step);
  return (evaluation) => {
    if (condition(evaluation) === false) return false;
    evaluation.slots[slot] = step(evaluation);
    return true;
  };
}

/** The list that a loop collects. It never leaves the loop. */
class Growing extends ListValue {
  readonly items: Value[] = [];
  override get size(): number {
    return this.items.length;
  }
  override at(index: number): Value {
    return this.items[index] as Value;
  }
}

interface Collected {
  readonly element: Node;
  /** Undefined where every element is taken. */
  readonly filter: Node | undefined;
}

/** What `map`, `filter` and `transformList` put into their list; undefined for other loops. */
function collectedElement(node: ComprehensionNode): Collected | undefined {
  const { init, step } = node;
  if (init.kind !== "list" || init.elements.length > 0) return undefined;
  if (step.kind !== "call") return undefined;
  const [filter, append] =
    step.name === "_?_:_" ? step.args : [undefined, step];
  if (append?.kind !== "call" || append.name !== "_+_") return undefined;
  const [before, added] = append.args;
  if (before?.kind !== "ident" || before.name !== node.accumulator)
    return undefined;
  if (added?.kind !== "list" || added.elements.length !== 1) return undefined;
  return { element: added.elements[0] as Node, filter };
}

function collectInto(
  planner: Planning,
  slot: number,
  { element, filter }: Collected,
): Body {
  const value = planner.plan(element);
  const constant = planner.constant(element) !== undefined;
  const test = filter && planner.plan(filter);
  return (evaluation) => {
    const { slots } = evaluation;
    if (test) {
      const chosen = test(evaluation);
      if (chosen !== true) {
        evaluation.charge(1);
        if (chosen === false) return true;
        slots[slot] =
          chosen instanceof Failure ? chosen : new Failure("no such overload");
        return false;
      }
    }
    const added = value(evaluation);
    // Reading the accumulator, making a list of one, joining the two.
    evaluation.charge(constant ? 2 : 12);
    if (added instanceof Failure) {
      slots[slot] = added;
      return false;
    }
    (slots[slot] as Growing).items.push(added);
    return true;
  };
}
