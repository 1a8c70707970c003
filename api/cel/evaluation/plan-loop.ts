// Steps of loops. Loops that collect a list push onto one array instead of joining lists, at the same cost.
import type { Evaluation } from "./activation.ts";
import {
  newLevel,
  type Elements,
  type Level,
  type LoopSlots,
} from "./journal.ts";
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
    const loop: Loop = {
      slot,
      first: first as number,
      second: other,
      init: collected ? () => new Growing() : init,
      body,
    };
    // Bindings are loops over nothing: what pauses are the loops in their result.
    const isBinding =
      node.range.kind === "list" && node.range.elements.length === 0;
    return (evaluation) => {
      const over = range(evaluation);
      if (over instanceof Failure) return over;
      return evaluation.level && !isBinding
        ? runWithPauses(evaluation, evaluation.level, over, loop, result)
        : run(evaluation, over, loop, result);
    };
  });
}

interface Loop extends LoopSlots {
  readonly slot: number;
  readonly init: Step;
  readonly body: Body;
}

function run(
  evaluation: Evaluation,
  over: Value,
  loop: Loop,
  result: Step,
): Result {
  const { slots } = evaluation;
  slots[loop.slot] = loop.init(evaluation);
  const elements = elementsOf(over);
  if (elements instanceof Failure) return elements;
  const { size } = elements;
  for (let index = 0; index < size; index++) {
    elements.take(index, slots, loop);
    if (!loop.body(evaluation)) break;
  }
  return finish(evaluation, loop.slot, result);
}

/** The same, with a journal that says where to go on after a pause. */
function runWithPauses(
  evaluation: Evaluation,
  level: Level,
  over: Value,
  loop: Loop,
  result: Step,
): Result {
  if (level.passed < level.finished.length)
    return level.finished[level.passed++] as Result;
  const { slots } = evaluation;
  const reentered = level.open !== undefined;
  const elements = level.open?.elements ?? elementsOf(over);
  if (elements instanceof Failure) return elements;
  const open = (level.open ??= {
    elements,
    index: 0,
    accumulator: loop.init(evaluation),
    level: newLevel(),
  });
  slots[loop.slot] = open.accumulator;
  // The innermost open loop is where the evaluation paused.
  if (reentered && !open.level.open) evaluation.arrived();
  for (; open.index < elements.size; open.index++) {
    evaluation.mayPause();
    elements.take(open.index, slots, loop);
    evaluation.level = open.level;
    if (!loop.body(evaluation)) break;
    open.accumulator = slots[loop.slot] as Result;
    open.level = newLevel();
  }
  evaluation.level = level;
  level.open = undefined;
  const value = finish(evaluation, loop.slot, result);
  level.finished.push(value);
  level.passed++;
  return value;
}

function finish(evaluation: Evaluation, slot: number, result: Step): Result {
  const { slots } = evaluation;
  const grown = slots[slot];
  if (grown instanceof Growing) slots[slot] = new ArrayList(grown.items);
  return result(evaluation);
}

function elementsOf(over: Value): Elements | Failure {
  if (over instanceof ListValue)
    return {
      size: over.size,
      take(index, slots, { first, second }) {
        if (second === undefined) slots[first] = over.at(index);
        else {
          slots[first] = BigInt(index);
          slots[second] = over.at(index);
        }
      },
    };
  if (!(over instanceof MapValue)) {
    const { kind } = typeOf(over);
    const name = kind.charAt(0).toUpperCase() + kind.slice(1);
    return new Failure(`got 'types.${name}', expected iterable type`);
  }
  const keys = [...over.keys()];
  return {
    size: keys.length,
    take(index, slots, { first, second }) {
      const key = keys[index] as Value;
      slots[first] = key;
      if (second !== undefined) slots[second] = over.get(key) as Result;
    },
  };
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
