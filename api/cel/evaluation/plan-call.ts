// Steps of calls: the logical operators, which look past failures, the other operators, and functions of libraries.
import { optionalField } from "./fields.ts";
import type { Planning, Step } from "./step.ts";
import {
  callCostInSteps,
  callCostOf,
  equalityCost,
} from "../cost/call-cost.ts";
import type { Overload } from "../checking/declarations.ts";
import { compilePattern } from "../functions/patterns.ts";
import {
  binaryOperators,
  longOperators,
  unaryOperators,
} from "../functions/operators.ts";
import type { Evaluation } from "./activation.ts";
import type { Steps } from "../../queueing/steps.ts";
import type { CallNode, LiteralNode, Node } from "../syntax/tree.ts";
import {
  Failure,
  isOfType,
  noSuchOverload,
  Optional,
  sizeOf,
  typeOf,
  type Result,
  type Value,
} from "../values/value.ts";

export function planCall(planner: Planning, node: CallNode): Step {
  const { name } = node;
  switch (name) {
    case "_&&_":
      return planLogical(planner, node, false);
    case "_||_":
      return planLogical(planner, node, true);
    case "_?_:_":
      return planConditional(planner, node);
    case "_?._": {
      const operand = planner.plan(node.args[0] as Node);
      const field = (node.args[1] as LiteralNode).value as string;
      return (evaluation) => {
        const value = operand(evaluation);
        if (value instanceof Failure) return value;
        evaluation.charge(1);
        return optionalField(value, field);
      };
    }
    case "@not_strictly_false": {
      const operand = planner.plan(node.args[0] as Node);
      return (evaluation) => {
        const value = operand(evaluation);
        evaluation.charge(1);
        return typeof value === "boolean" ? value : true;
      };
    }
    case "or":
    case "orValue":
      if (node.target) return planOptionalOr(planner, node, node.target);
  }
  const unary = unaryOperators[name];
  if (unary) {
    const operand = planner.plan(node.args[0] as Node);
    return (evaluation) => {
      const value = operand(evaluation);
      if (value instanceof Failure) return value;
      evaluation.charge(1);
      return unary(value);
    };
  }
  return Object.hasOwn(binaryOperators, name)
    ? planBinary(planner, node)
    : planFunction(planner, node);
}

/** `&&` with decides = false, `||` with decides = true: one such operand is enough, whatever fails beside it. */
function planLogical(
  planner: Planning,
  node: CallNode,
  decides: boolean,
): Step {
  const left = planner.plan(node.args[0] as Node);
  const right = planner.plan(node.args[1] as Node);
  return (evaluation) => {
    const first = left(evaluation);
    if (first === decides) return decides;
    const second = right(evaluation);
    if (second === decides) return decides;
    if (typeof first !== "boolean")
      return first instanceof Failure ? first : noSuchOverload;
    if (typeof second !== "boolean")
      return second instanceof Failure ? second : noSuchOverload;
    return !decides;
  };
}

function planConditional(planner: Planning, node: CallNode): Step {
  const [condition, yes, no] = node.args.map((arg) => planner.plan(arg)) as [
    Step,
    Step,
    Step,
  ];
  return (evaluation) => {
    const value = condition(evaluation);
    if (value === true) return yes(evaluation);
    if (value === false) return no(evaluation);
    return value instanceof Failure ? value : noSuchOverload;
  };
}

/** The other side is only evaluated for none. */
function planOptionalOr(planner: Planning, node: CallNode, target: Node): Step {
  const operand = planner.plan(target);
  const other = planner.plan(node.args[0] as Node);
  const whole = node.name === "or";
  return (evaluation) => {
    const value = operand(evaluation);
    if (value instanceof Failure) return value;
    if (!(value instanceof Optional)) return noSuchOverload;
    if (value.value === undefined) return other(evaluation);
    return whole ? value : value.value;
  };
}

const accesses = new Set(["_[_]", "_[?_]"]);

function planBinary(planner: Planning, node: CallNode): Step {
  const { name } = node;
  const operator = binaryOperators[name]!;
  const [left, right] = node.args.map((arg) => planner.plan(arg)) as [
    Step,
    Step,
  ];
  const cost = binaryCost(planner, node);
  const inSteps = longOperators[name];
  return (evaluation) => {
    const first = left(evaluation);
    const second = right(evaluation);
    if (first instanceof Failure) return first;
    if (second instanceof Failure) return second;
    // Accesses are charged before they read, what compares or joins by its operands' sizes.
    evaluation.charge(cost(first, second));
    const steps = inSteps?.(first, second);
    return steps ? evaluation.long(steps) : operator(first, second);
  };
}

const one = (): number => 1;
const traversal = (value: Value): number => Math.ceil(sizeOf(value) * 0.1);

/** What one application costs. */
function binaryCost(
  planner: Planning,
  { name, args }: CallNode,
): (left: Value, right: Value) => number {
  if (accesses.has(name)) return one;
  switch (name) {
    case "_==_":
    case "_!=_":
      return equalityCost;
    case "_<_":
    case "_<=_":
    case "_>_":
    case "_>=_":
      return (left, right) =>
        typeof left === "string" || left instanceof Uint8Array
          ? Math.min(traversal(left), traversal(right))
          : 1;
    case "_+_":
      return (left, right) => {
        if (typeof left === "string" || left instanceof Uint8Array)
          return Math.ceil((sizeOf(left) + sizeOf(right)) * 0.1);
        // Joining sets and lists with keys compares all their elements; the reference charges them as other lists.
        return typeof left === "object" && left !== null && "joining" in left
          ? sizeOf(left) + sizeOf(right) + 1
          : 1;
      };
    case "@in":
      // Membership in a constant list is a look into a set.
      if (planner.constant(args[1] as Node) !== undefined) return () => 0;
      return (_element, container) =>
        typeOf(container).kind === "list" ? sizeOf(container) : 1;
    default:
      return one;
  }
}

const conversions = new Set([
  ...["bool", "bytes", "double", "duration", "dyn", "int"],
  ...["string", "timestamp", "uint"],
]);

function planFunction(planner: Planning, node: CallNode): Step {
  const { name } = node;
  const operands = node.target ? [node.target, ...node.args] : node.args;
  const steps = operands.map((operand) => planner.plan(operand));
  const pick = dispatcher(node, operands);
  const costOf = callCostOf(name);
  const constants = operands.map((operand) => planner.constant(operand));
  if (conversions.has(name) && constants.every((item) => item !== undefined)) {
    const args = constants as Value[];
    const overload = pick(args);
    const value = overload
      ? overload.call(args, undefined as never)
      : noMatch(name, args);
    if (value instanceof Failure) planner.refuse(value.message);
    else return planner.fold(node, value);
  }
  if (name === "find" || name === "findAll") {
    const [, pattern] = constants;
    const compiled =
      typeof pattern === "string" ? compilePattern(pattern) : undefined;
    if (compiled instanceof Failure) planner.refuse(compiled.message);
  }
  return (evaluation) => {
    const args: Value[] = [];
    for (let index = 0; index < steps.length; index++) {
      const value = (steps[index] as Step)(evaluation);
      if (value instanceof Failure) return value;
      args.push(value);
    }
    const overload = pick(args);
    if (!overload) return noMatch(name, args);
    const long = overload.inSteps?.(args);
    if (long)
      return evaluation.long(
        charging(evaluation, callCostInSteps(name, overload.id, args), long),
      );
    evaluation.charge(costOf(overload.id, args));
    return overload.call(args, evaluation);
  };
}

/** What a long call costs is found out in steps as well. */
function* charging(
  evaluation: Evaluation,
  cost: Steps<number>,
  steps: Steps<Result>,
): Steps<Result> {
  evaluation.charge(yield* cost);
  return yield* steps;
}

function noMatch(name: string, args: readonly Value[]): Failure {
  const types = args.map((value) => typeOf(value).name);
  return new Failure(`no such overload: ${name}(${types.join(", ")})`);
}

/** The overload for the arguments; types are only looked at where checking could not be sure of them. */
function dispatcher(
  node: CallNode,
  operands: readonly Node[],
): (args: readonly Value[]) => Overload | undefined {
  const overloads = node.overloads ?? [];
  const sure = operands.every(({ type }) => type && !uncertain(type.kind));
  const [only] = overloads;
  if (overloads.length === 1 && sure) return () => only;
  return (args) =>
    overloads.find((overload) =>
      overload.arguments.every((type, index) =>
        isOfType(args[index] as Value, type),
      ),
    );
}

/** Null fits objects and library types, so that values of those are looked at as well. */
const uncertain = (kind: string): boolean =>
  [
    "dyn",
    "param",
    "error",
    "object",
    "opaque",
    "timestamp",
    "duration",
    "null",
  ].includes(kind);
