// Macros: calls that the parser replaces by loops, presence tests or bindings, by their name, number of arguments and
// whether they are called on something. The loops are those that the reference builds, as its cost model sees them.
import { accumulatorName, type ComprehensionNode, type Node } from "./tree.ts";

/** Wrong arguments of a macro. */
export class MacroError extends Error {
  constructor(
    readonly at: number,
    message: string,
  ) {
    super(message);
  }
}

type Expander = (
  at: number,
  target: Node,
  args: readonly Node[],
) => Node | undefined;

export interface Macro {
  readonly name: string;
  readonly argumentCount: number;
  /** Called on something: `target.name(…)`. */
  readonly onTarget: boolean;
  /** `target` is only set where onTarget. Undefined leaves the call as it is. Throws MacroError. */
  readonly expand: Expander;
}

function keyOf(name: string, count: number, onTarget: boolean): string {
  return `${name}:${count}:${onTarget}`;
}

export function macroTable(
  macros: readonly Macro[],
): ReadonlyMap<string, Macro> {
  return new Map(
    macros.map((macro) => [
      keyOf(macro.name, macro.argumentCount, macro.onTarget),
      macro,
    ]),
  );
}

/** Undefined where the call is no macro's. Throws MacroError. */
export function expandMacro(
  table: ReadonlyMap<string, Macro>,
  at: number,
  name: string,
  target: Node | undefined,
  args: readonly Node[],
): Node | undefined {
  const macro = table.get(keyOf(name, args.length, target !== undefined));
  return macro?.expand(at, target as Node, args);
}

const literal = (at: number, value: boolean | bigint): Node => ({
  kind: "literal",
  at,
  value,
});
const accumulator = (at: number): Node => ({
  kind: "ident",
  at,
  name: accumulatorName,
});
const call = (at: number, name: string, ...args: Node[]): Node => ({
  kind: "call",
  at,
  name,
  target: undefined,
  args,
});
const list = (at: number, ...elements: Node[]): Node => ({
  kind: "list",
  at,
  elements,
  optional: new Set(),
});

function simpleName(node: Node, message: string): string {
  if (node.kind === "ident") return node.name;
  throw new MacroError(node.at, message);
}

type LoopParts = Pick<
  ComprehensionNode,
  "init" | "condition" | "step" | "result"
>;

/** The parts of a quantifier's loop over the predicate. */
const quantifiers: Record<string, (at: number, predicate: Node) => LoopParts> =
  {
    all: (at, predicate) => ({
      init: literal(at, true),
      condition: call(at, "@not_strictly_false", accumulator(at)),
      step: call(at, "_&&_", accumulator(at), predicate),
      result: accumulator(at),
    }),
    exists: (at, predicate) => ({
      init: literal(at, false),
      condition: call(
        at,
        "@not_strictly_false",
        call(at, "!_", accumulator(at)),
      ),
      step: call(at, "_||_", accumulator(at), predicate),
      result: accumulator(at),
    }),
    exists_one: (at, predicate) => ({
      init: literal(at, 0n),
      condition: literal(at, true),
      step: call(
        at,
        "_?_:_",
        predicate,
        call(at, "_+_", accumulator(at), literal(at, 1n)),
        accumulator(at),
      ),
      result: call(at, "_==_", accumulator(at), literal(at, 1n)),
    }),
  };
quantifiers["existsOne"] = quantifiers["exists_one"] as never;

/** A loop that adds to its accumulator by `step`, only where the filter holds. */
function collect(
  at: number,
  filter: Node | undefined,
  init: Node,
  step: Node,
): LoopParts {
  return {
    init,
    condition: literal(at, true),
    step: filter ? call(at, "_?_:_", filter, step, accumulator(at)) : step,
    result: accumulator(at),
  };
}

function loop(
  at: number,
  range: Node,
  variable: string,
  variable2: string | undefined,
  parts: LoopParts,
): Node {
  return {
    kind: "comprehension",
    at,
    range,
    variable,
    variable2,
    accumulator: accumulatorName,
    ...parts,
  };
}

const append = (at: number, element: Node): Node =>
  call(at, "_+_", accumulator(at), list(at, element));

function mapMacro(argumentCount: 2 | 3): Macro {
  return {
    name: "map",
    argumentCount,
    onTarget: true,
    expand(at, target, args) {
      const [first, ...rest] = args as [Node, Node, Node];
      const variable = simpleName(first, "argument is not an identifier");
      const [filter, value] =
        argumentCount === 3 ? rest : [undefined, rest[0] as Node];
      const step = append(at, value as Node);
      const parts = collect(at, filter, list(at), step);
      return loop(at, target, variable, undefined, parts);
    },
  };
}

/** `has`, `all`, `exists`, `exists_one`, `map` and `filter`: part of every environment. */
export const standardMacros: readonly Macro[] = [
  {
    name: "has",
    argumentCount: 1,
    onTarget: false,
    expand(_at, _target, [argument]) {
      const node = argument as Node;
      if (node.kind === "select") return { ...node, testOnly: true };
      throw new MacroError(node.at, "invalid argument to has() macro");
    },
  },
  ...["all", "exists", "exists_one"].map((name): Macro => ({
    name,
    argumentCount: 2,
    onTarget: true,
    expand(at, target, args) {
      const [first, predicate] = args as [Node, Node];
      const variable = simpleName(first, "argument must be a simple name");
      const parts = quantifiers[name]!(at, predicate);
      return loop(at, target, variable, undefined, parts);
    },
  })),
  mapMacro(2),
  mapMacro(3),
  {
    name: "filter",
    argumentCount: 2,
    onTarget: true,
    expand(at, target, args) {
      const [first, predicate] = args as [Node, Node];
      const variable = simpleName(first, "argument is not an identifier");
      const parts = collect(at, predicate, list(at), append(at, first));
      return loop(at, target, variable, undefined, parts);
    },
  },
];

/** The variables of a loop over two. */
function twoNames(args: readonly Node[]): [string, string] {
  const [first, second] = args as [Node, Node];
  const names: [string, string] = [
    simpleName(first, "argument must be a simple name"),
    simpleName(second, "argument must be a simple name"),
  ];
  if (names[0] === names[1])
    throw new MacroError(second.at, `duplicate variable name: ${names[0]}`);
  for (const [index, name] of names.entries())
    if (name === accumulatorName)
      throw new MacroError(
        (args[index] as Node).at,
        "iteration variable overwrites accumulator variable",
      );
  return names;
}

/** `transformList`, `transformMap` and `transformMapEntry`, with and without a filter. */
const transforms: Record<string, (at: number, value: Node, key: Node) => Node> =
  {
    transformList: (at, value) => append(at, value),
    transformMap: (at, value, key) =>
      call(at, "cel.@mapInsert", accumulator(at), key, value),
    transformMapEntry: (at, value) =>
      call(at, "cel.@mapInsert", accumulator(at), value),
  };

/** Loops over index or key and element or value. */
export const twoVariableMacros: readonly Macro[] = [
  ...["all", "exists", "existsOne"].map((name): Macro => ({
    name,
    argumentCount: 3,
    onTarget: true,
    expand(at, target, args) {
      const parts = quantifiers[name]!(at, args[2] as Node);
      return loop(at, target, ...twoNames(args), parts);
    },
  })),
  ...Object.keys(transforms).flatMap((name) =>
    [3, 4].map((argumentCount): Macro => ({
      name,
      argumentCount,
      onTarget: true,
      expand(at, target, args) {
        const [key, value2] = twoNames(args);
        const filter = argumentCount === 4 ? args[2] : undefined;
        const value = args[argumentCount - 1] as Node;
        const empty: Node =
          name === "transformList"
            ? list(at)
            : { kind: "map", at, entries: [] };
        const step = transforms[name]!(at, value, args[0] as Node);
        const parts = collect(at, filter, empty, step);
        return loop(at, target, key, value2, parts);
      },
    })),
  ),
];

/** `optional.optMap(x, …)` and `optFlatMap`. */
export const optionalMacros: readonly Macro[] = ["optMap", "optFlatMap"].map(
  (name): Macro => ({
    name,
    argumentCount: 2,
    onTarget: true,
    expand(at, target, args) {
      const [first, body] = args as [Node, Node];
      const variable = simpleName(
        first,
        `${name}() variable name must be a simple identifier`,
      );
      const member = (method: string): Node => ({
        kind: "call",
        at,
        name: method,
        target,
        args: [],
      });
      const bound = bind(at, variable, member("value"), body);
      const none = call(at, "optional.none");
      const some = name === "optMap" ? call(at, "optional.of", bound) : bound;
      return call(at, "_?_:_", member("hasValue"), some, none);
    },
  }),
);

/** `cel.bind(x, value, body)`. */
export const bindMacros: readonly Macro[] = [
  {
    name: "bind",
    argumentCount: 3,
    onTarget: true,
    expand(at, target, args) {
      if (target.kind !== "ident" || target.name !== "cel") return undefined;
      const [first, value, body] = args as [Node, Node, Node];
      const variable = simpleName(
        first,
        "cel.bind() variable names must be simple identifiers",
      );
      return bind(at, variable, value, body);
    },
  },
];

/** A value with a name in the body: a loop over nothing whose accumulator is the name. */
function bind(at: number, variable: string, value: Node, body: Node): Node {
  return {
    kind: "comprehension",
    at,
    range: list(at),
    variable: "#unused",
    variable2: undefined,
    accumulator: variable,
    init: value,
    condition: literal(at, false),
    step: { kind: "ident", at, name: variable },
    result: body,
  };
}
