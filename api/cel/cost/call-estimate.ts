// What a call costs before it runs, and how large its result can be, by the overload and the sizes of its operands.
// Operands' own costs are part of the estimate, as && and ?: do not evaluate all of them.
import type { SizedNode, Sizes } from "./sizes.ts";
import { add, largest, one, scale, times, union, type Range } from "./range.ts";

interface CallEstimate {
  readonly cost: Range;
  readonly size?: Range | undefined;
}

interface SizedCall {
  readonly name: string;
  readonly target: SizedNode | undefined;
  readonly args: readonly SizedNode[];
  /** Of the arguments. */
  readonly costs: readonly Range[];
}

type Estimate = (
  estimator: Sizes,
  call: SizedCall,
  overload: string,
) => CallEstimate | undefined;

const traversal = 0.1;
const patternLength = 0.25;
const zero: Range = { min: 0, max: 0 };

export function estimateCall(
  estimator: Sizes,
  overload: string,
  call: SizedCall,
): CallEstimate {
  const special = Object.hasOwn(nonStrict, overload)
    ? nonStrict[overload]?.(estimator, call, overload)
    : undefined;
  if (special) return special;
  const byName = Object.hasOwn(functions, call.name)
    ? functions[call.name]?.(estimator, call, overload)
    : undefined;
  const found = byName ??
    (Object.hasOwn(overloads, overload)
      ? overloads[overload]?.(estimator, call, overload)
      : undefined) ?? { cost: one };
  const operands = call.costs.reduce(add, zero);
  return { cost: add(found.cost, operands), size: found.size };
}

const arg = (call: SizedCall, index: number): SizedNode =>
  call.args[index] as SizedNode;

const logical: Estimate = (_estimator, { costs }) => ({
  cost: {
    min: (costs[0] as Range).min,
    max: add(costs[0] as Range, costs[1] as Range).max,
  },
});

/** Those that do not evaluate all their operands. */
const nonStrict: Readonly<Record<string, Estimate>> = {
  logical_and: logical,
  logical_or: logical,
  conditional(estimator, call) {
    const [test, yes, no] = call.costs as [Range, Range, Range];
    return {
      cost: add(test, union(yes, no)),
      size: union(estimator.size(arg(call, 1)), estimator.size(arg(call, 2))),
    };
  },
};

const comparison: Estimate = (estimator, call) => {
  const max = Math.min(
    estimator.size(arg(call, 0)).max,
    estimator.size(arg(call, 1)).max,
  );
  return { cost: times({ min: max > 0 ? 1 : 0, max }, traversal) };
};

const walkArgument: Estimate = (estimator, call) => ({
  cost: times(estimator.size(arg(call, 0)), traversal),
});

const joined: Estimate = (estimator, call, overload) => {
  const size = add(estimator.size(arg(call, 0)), estimator.size(arg(call, 1)));
  const cost = overload === "add_list" ? one : times(size, traversal);
  return { cost, size };
};

/** Of the standard functions. */
const overloads: Readonly<Record<string, Estimate>> = {
  string_format: (estimator, { target }) =>
    target && { cost: times(estimator.size(target), traversal) },
  string_to_bytes(estimator, call) {
    const size = estimator.size(arg(call, 0));
    return {
      cost: times(size, traversal),
      size: { min: size.min, max: size.max * 4 },
    };
  },
  bytes_to_string(estimator, call) {
    const size = estimator.size(arg(call, 0));
    return {
      cost: times(size, traversal),
      size: { min: Math.floor(size.min / 4), max: size.max },
    };
  },
  strings_quote(estimator, call) {
    const size = estimator.size(arg(call, 0));
    return {
      cost: times(size, traversal),
      size: { min: size.min + 2, max: size.max * 2 + 2 },
    };
  },
  starts_with_string: walkArgument,
  ends_with_string: walkArgument,
  in_list: (estimator, call) => ({ cost: estimator.size(arg(call, 1)) }),
  matches_string(estimator, call) {
    if (!call.target) return undefined;
    const text = times(add(estimator.size(call.target), one), traversal);
    const pattern = times(estimator.size(arg(call, 0)), patternLength);
    return { cost: scale(text, pattern) };
  },
  contains_string(estimator, call) {
    if (!call.target) return undefined;
    const text = times(estimator.size(call.target), traversal);
    const part = times(estimator.size(arg(call, 0)), traversal);
    return { cost: scale(text, part) };
  },
  add_string: joined,
  add_bytes: joined,
  add_list: joined,
  equals: comparison,
  not_equals: comparison,
  ...Object.fromEntries(
    ["less", "greater", "less_equals", "greater_equals"].flatMap((name) => [
      [`${name}_string`, comparison],
      [`${name}_bytes`, comparison],
    ]),
  ),
};

const nominal: Estimate = () => ({ cost: one });

const overList: Estimate = (estimator, { target }) => {
  if (!target) return undefined;
  const element = estimator.elementOf(target);
  const size = estimator.limit(target);
  if (!element) return { cost: times(size, traversal) };
  const isText = ["string", "bytes"].includes(element.type.kind);
  const each = isText
    ? add(one, times(estimator.limit(element), traversal))
    : one;
  return { cost: scale(size, each) };
};

const walkTarget: Estimate = (estimator, { target }) => {
  if (!target) return undefined;
  const size = estimator.limit(target);
  return { cost: times(size, traversal), size };
};

/** Reads a text; the result has its size. */
const parse: Estimate = (estimator, call) => {
  const size = estimator.limit(arg(call, 0));
  return { cost: times(size, traversal), size };
};

const parseOnly: Estimate = (estimator, call) => ({
  cost: times(estimator.limit(arg(call, 0)), traversal),
});

const search: Estimate = (estimator, call) => {
  if (!call.target || call.args.length === 0) return undefined;
  const size = estimator.limit(call.target);
  const text = times(add(size, one), traversal);
  const pattern = times(estimator.limit(arg(call, 0)), patternLength);
  return { cost: scale(text, pattern), size: { min: 0, max: size.max } };
};

const selector: Estimate = (estimator, call) => {
  const size = estimator.limit(arg(call, 0));
  const requirements = times(times(size, 0.5), 50);
  return {
    cost: add(add({ min: 10, max: 10 }, times(size, traversal)), requirements),
  };
};

/** Bytes of an address of either family. */
const addressSize: Range = { min: 4, max: 16 };

const containment =
  (withMask: boolean): Estimate =>
  (estimator, call, overload) => {
    if (!call.target || call.args.length === 0) return undefined;
    let cost = times(add(addressSize, addressSize), traversal);
    if (withMask) cost = add(add(cost, times(addressSize, traversal)), one);
    if (overload.endsWith("_string"))
      cost = add(cost, times(estimator.limit(arg(call, 0)), traversal));
    return { cost };
  };

const replace: Estimate = (estimator, call) => {
  if (!call.target || call.args.length < 2) return undefined;
  const size = estimator.limit(call.target);
  const from = estimator.limit(arg(call, 0));
  const to = estimator.limit(arg(call, 1));
  const most = replaced(size.max, from.min, to.max <= from.min);
  const least = replaced(size.min, from.max, from.max <= to.min);
  const count: Range = { min: least.count, max: most.count };
  const kept: Range = { min: least.kept, max: most.kept };
  return {
    cost: times(size, 2 * traversal),
    size: add(scale(count, to), kept),
  };
};

/** How often a part is replaced, and how much of the text is counted as kept. */
function replaced(
  size: number,
  part: number,
  unchanged: boolean,
): { count: number; kept: number } {
  if (part === 0) return { count: Math.min(size + 1, largest), kept: size };
  return unchanged
    ? { count: 0, kept: size }
    : { count: Math.ceil(size / part), kept: 0 };
}

const split: Estimate = (estimator, { target, args }) => {
  if (!target) return undefined;
  const size = estimator.limit(target);
  const node = args[1]?.node;
  const most =
    node?.kind === "literal" && typeof node.value === "bigint"
      ? Number(node.value < 0n ? BigInt.asUintN(64, node.value) : node.value)
      : size.max;
  return {
    cost: times(size, 2 * traversal),
    size: { min: 0, max: most },
  };
};

const join: Estimate = (estimator, call) => {
  if (!call.target) return undefined;
  const count = estimator.limit(call.target);
  const element = estimator.elementOf(call.target);
  let size = element ? scale(count, estimator.limit(element)) : zero;
  if (call.args.length > 0)
    size = add(
      size,
      scale(estimator.limit(arg(call, 0)), {
        min: Math.max(count.min - 1, 0),
        max: Math.max(count.max - 1, 0),
      }),
    );
  return { cost: times(size, traversal), size };
};

const sets =
  (factor: number): Estimate =>
  (estimator, call) => ({
    cost: add(
      times(
        scale(estimator.limit(arg(call, 0)), estimator.limit(arg(call, 1))),
        factor,
      ),
      one,
    ),
  });

const byName = (names: string, estimate: Estimate): [string, Estimate][] =>
  names.split(" ").map((name) => [name, estimate]);

const atomicTypes = new Set([
  "net.IP",
  "net.CIDR",
  "kubernetes.Quantity",
  "kubernetes.Semver",
]);

/** Of the libraries, by the functions' names. */
const functions: Readonly<Record<string, Estimate>> = Object.fromEntries([
  ["check", () => ({ cost: { min: 350_000, max: 350_000 } })],
  ...byName(
    "serviceAccount path group resource subresource namespace name allowed reason error errored masked prefixLength " +
      "family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast format.named sign " +
      "asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub getScheme getHostname getHost " +
      "getPort getEscapedPath getQuery",
    nominal,
  ),
  ...byName("fieldSelector labelSelector", selector),
  ...byName("isSorted sum max min indexOf lastIndexOf", overList),
  ...byName("url jsonpatch.escapeKey", parse),
  ...byName("lowerAscii upperAscii substring trim", walkTarget),
  ...byName("sets.contains sets.intersects", sets(1)),
  ["sets.equivalent", sets(2)],
  ["replace", replace],
  ["split", split],
  ["join", join],
  ...byName("find findAll", search),
  ...byName("cidr isIP isCIDR quantity isQuantity", parseOnly),
  [
    "ip",
    (estimator, call, overload) =>
      overload === "cidr_ip"
        ? { cost: one }
        : parseOnly(estimator, call, overload),
  ],
  [
    "ip.isCanonical",
    (estimator, call) => ({
      cost: times(estimator.limit(arg(call, 0)), 2 * traversal),
    }),
  ],
  ["containsIP", containment(false)],
  ["containsCIDR", containment(true)],
  [
    "validate",
    (estimator, call) => ({
      cost: times(
        times(estimator.limit(arg(call, 0)), traversal),
        128 * patternLength,
      ),
    }),
  ],
  [
    "_==_",
    (_estimator, call) => {
      const [left, right] = call.args;
      if (left?.type.name !== right?.type.name) return undefined;
      return atomicTypes.has(left?.type.name ?? "") ? { cost: one } : undefined;
    },
  ],
] as [string, Estimate][]);
