// A checked tree becomes nested functions, one per node: that is what an evaluation runs. Each returns a value or a
// failure; what a step costs is charged as it runs, by the reference's cost model. Constant lists, maps and
// conversions are computed once.
import { hasField, selectField } from "./fields.ts";
import { planCall } from "./plan-call.ts";
import { planComprehension } from "./plan-loop.ts";
import type { Planning, Step } from "./step.ts";
import type { Node, SelectNode } from "../syntax/tree.ts";
import { shownValue } from "../values/text.ts";
import {
  ArrayList,
  EntryMap,
  Failure,
  Optional,
  type Result,
  type Value,
} from "../values/value.ts";

/** Makes messages of the types that an environment can construct. */
type Construct = (
  typeName: string,
  fields: ReadonlyMap<string, Value>,
) => Result;

export class Planner implements Planning {
  /** Slots of the loop variables in scope, innermost last. */
  readonly #slots: string[] = [];
  readonly #planned = new Map<Node, Step>();
  readonly #constants = new Map<Node, Value>();

  constructor(
    /** The index of a variable, or the value that a name is. */
    readonly resolve: (
      name: string,
    ) => { index: number } | { value: Value } | { problem: string },
    readonly construct: Construct,
  ) {}

  constant(node: Node): Value | undefined {
    return node.kind === "literal" ? node.value : this.#constants.get(node);
  }

  /** The first constant that cannot be used. */
  problem: string | undefined;

  refuse(problem: string): void {
    this.problem ??= problem;
  }

  fold(node: Node, value: Value): Step {
    this.#constants.set(node, value);
    return () => value;
  }

  within<T>(
    names: readonly string[],
    plan: (slots: readonly number[]) => T,
  ): T {
    const first = this.#slots.length;
    this.#slots.push(...names);
    const made = plan(names.map((_, index) => first + index));
    this.#slots.length = first;
    return made;
  }

  plan(node: Node): Step {
    // Macros share nodes; their scopes are the same then.
    const known = this.#planned.get(node);
    if (known) return known;
    const step = this.#plan(node);
    this.#planned.set(node, step);
    return step;
  }

  #plan(node: Node): Step {
    switch (node.kind) {
      case "literal": {
        const { value } = node;
        return () => value;
      }
      case "ident":
        return this.#name(node.name);
      case "select":
        return node.qualified !== undefined
          ? this.#name(node.qualified)
          : this.#select(node);
      case "call":
        return planCall(this, node);
      case "list":
        return this.#list(node);
      case "map":
        return this.#map(node);
      case "struct":
        return this.#struct(node);
      case "comprehension":
        return planComprehension(this, node);
    }
  }

  #name(name: string): Step {
    const slot = this.#slots.lastIndexOf(name);
    if (slot >= 0)
      return (evaluation) => {
        evaluation.charge(1);
        return evaluation.slots[slot] as Result;
      };
    const found = this.resolve(name.replace(/^\./, ""));
    if ("problem" in found) {
      this.refuse(found.problem);
      return () => null;
    }
    if ("value" in found) {
      const { value } = found;
      return () => value;
    }
    const { index } = found;
    return (evaluation) => {
      evaluation.charge(1);
      return evaluation.variable(index);
    };
  }

  #select(node: SelectNode): Step {
    const { field, testOnly } = node;
    const operand = this.plan(node.operand);
    if (testOnly)
      return (evaluation) => {
        const value = operand(evaluation);
        return value instanceof Failure ? value : hasField(value, field);
      };
    return (evaluation) => {
      const value = operand(evaluation);
      if (value instanceof Failure) return value;
      evaluation.charge(1);
      return selectField(value, field);
    };
  }

  #list(node: Node & { kind: "list" }): Step {
    const steps = node.elements.map((element) => this.plan(element));
    const constants = node.elements.map((element) => this.constant(element));
    if (
      node.optional.size === 0 &&
      constants.every((item) => item !== undefined)
    )
      return this.fold(node, new ArrayList(constants as Value[]));
    return (evaluation) => {
      const elements: Value[] = [];
      for (let index = 0; index < steps.length; index++) {
        const value = (steps[index] as Step)(evaluation);
        if (value instanceof Failure) return value;
        if (!node.optional.has(index)) elements.push(value);
        else if (!(value instanceof Optional))
          return new Failure(
            "cannot initialize optional list element from non-optional value",
          );
        else if (value.value !== undefined) elements.push(value.value);
      }
      evaluation.charge(10);
      return new ArrayList(elements);
    };
  }

  #map(node: Node & { kind: "map" }): Step {
    const entries = node.entries.map(({ key, value, optional }) => ({
      key: this.plan(key),
      value: this.plan(value),
      optional,
    }));
    const fill: Step = (evaluation) => {
      const map = new EntryMap();
      for (const entry of entries) {
        const key = entry.key(evaluation);
        if (key instanceof Failure) return key;
        let value = entry.value(evaluation);
        if (value instanceof Failure) return value;
        if (entry.optional) {
          if (!(value instanceof Optional))
            return new Failure(
              `cannot initialize optional entry '${String(key)}' from non-optional value ${shownValue(value)}`,
            );
          if (value.value === undefined) continue;
          value = value.value;
        }
        map.set(key, value);
      }
      return map;
    };
    const constant = node.entries.every(
      ({ key, value, optional }) =>
        !optional &&
        this.constant(key) !== undefined &&
        this.constant(value) !== undefined,
    );
    if (constant) {
      const value = fill(undefined as never);
      return value instanceof Failure ? () => value : this.fold(node, value);
    }
    return (evaluation) => {
      const map = fill(evaluation);
      evaluation.charge(30);
      return map;
    };
  }

  #struct(node: Node & { kind: "struct" }): Step {
    const name = node.typeName.replace(/^\./, "");
    const fields = node.fields.map((field) => ({
      ...field,
      step: this.plan(field.value),
    }));
    return (evaluation) => {
      const values = new Map<string, Value>();
      for (const { name: field, optional, step } of fields) {
        const value = step(evaluation);
        if (value instanceof Failure) return value;
        if (!optional) values.set(field, value);
        else if (!(value instanceof Optional))
          return new Failure(
            `cannot initialize optional entry '${field}' from non-optional value ${shownValue(value)}`,
          );
        else if (value.value !== undefined) values.set(field, value.value);
      }
      evaluation.charge(40);
      return this.construct(name, values);
    };
  }
}
