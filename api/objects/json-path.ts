// JSONPath as printer columns, selectable fields and kubectl have it: `.a.b`, `['a']`, `[0]`, `[-1]`, `[1:3]`, `[*]`,
// `[?(@.type=="Ready")]`, `..name`, unions `['a','b']`; a dot in a name is written `\.`. A path that finds nothing gives
// nothing; one that does not fit the value (an index into an object) gives nothing either.
// Example: .status.conditions[?(@.type=="Ready")].status

/** All values found, in order; none when looking for them takes more visits than are left. */
export type JsonPath = (root: unknown, visits?: Visits) => unknown[];

type Step = (
  values: readonly unknown[],
  root: unknown,
  visits: Visits,
) => unknown[];

/** A few milliseconds. `..*..*..*` of a deep object would be every way down of three steps, and there is no end to it. */
const maxVisits = 50_000;
/** Filters in filters. */
const maxDepth = 100;

/** How many values may still be looked at; several paths can share it. */
export class Visits {
  #left = maxVisits;

  /** Throws TooManyVisits. */
  count(values: number): void {
    this.#left -= values;
    if (this.#left < 0) throw new TooManyVisits();
  }
}

class TooManyVisits extends Error {}

/** Undefined: the text is no path. `$` and `@` may lead it. */
export function jsonPath(text: string): JsonPath | undefined {
  const reader = new Reader(text);
  try {
    const steps = reader.path();
    if (!reader.done) return undefined;
    return (root, visits = new Visits()) => {
      try {
        return run(steps, [root], root, visits);
      } catch (error) {
        if (error instanceof TooManyVisits) return [];
        throw error;
      }
    };
  } catch (error) {
    if (error instanceof BadPath) return undefined;
    throw error;
  }
}

/** A found value as text: what is no scalar as JSON with sorted keys. */
export function jsonPathText(value: unknown): string {
  if (value === null || value === undefined) return "<no value>";
  if (typeof value !== "object") return String(value);
  return JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(
          Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)),
        )
      : inner,
  );
}

class BadPath extends Error {}

function run(
  steps: readonly Step[],
  values: unknown[],
  root: unknown,
  visits: Visits,
): unknown[] {
  for (const step of steps) {
    if (values.length === 0) return values;
    visits.count(values.length);
    values = step(values, root, visits);
  }
  return values;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const fieldStep =
  (name: string): Step =>
  (values) => {
    const found: unknown[] = [];
    for (const value of values)
      if (isObject(value) && Object.hasOwn(value, name))
        found.push(value[name]);
    return found;
  };

const everyStep: Step = (values, _root, visits) =>
  values.flatMap((value) => {
    const found = Array.isArray(value)
      ? (value as unknown[])
      : isObject(value)
        ? Object.values(value)
        : [];
    visits.count(found.length);
    return found;
  });

const depthStep: Step = (values, _root, visits) => {
  const found: unknown[] = [];
  const visit = (value: unknown): void => {
    visits.count(1);
    found.push(value);
    if (typeof value === "object" && value !== null)
      for (const inner of Object.values(value)) visit(inner);
  };
  for (const value of values)
    if (typeof value === "object" && value !== null) visit(value);
  return found;
};

/** Go's rules: from the end when negative; nothing at all when a bound is outside. */
const sliceStep =
  (from: number | undefined, to: number | undefined, by: number): Step =>
  (values, _root, visits) =>
    values.flatMap((value) => {
      if (!Array.isArray(value)) return [];
      const list = value as unknown[];
      const bound = (index: number): number =>
        index < 0 ? index + list.length : index;
      const start = bound(from ?? 0);
      const end = Math.min(bound(to ?? list.length), list.length);
      if (start < 0 || end < 0 || start > end) return [];
      visits.count(end - start);
      return list.slice(start, end).filter((_, index) => index % by === 0);
    });

const indexStep =
  (index: number): Step =>
  (values) =>
    values.flatMap((value) => {
      if (!Array.isArray(value)) return [];
      const list = value as unknown[];
      const at = index < 0 ? index + list.length : index;
      return at >= 0 && at < list.length ? [list[at]] : [];
    });

const unionStep =
  (steps: readonly Step[]): Step =>
  (values, root, visits) =>
    steps.flatMap((step) => {
      visits.count(values.length);
      return step(values, root, visits);
    });

type Operand = (value: unknown, root: unknown, visits: Visits) => unknown[];

function compares(op: string, left: unknown, right: unknown): boolean {
  if (op === "==") return left === right;
  if (op === "!=") return left !== right;
  const ordered =
    (typeof left === "number" && typeof right === "number") ||
    (typeof left === "string" && typeof right === "string");
  if (!ordered) return false;
  switch (op) {
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    default:
      return left >= right;
  }
}

const filterStep =
  (left: Operand, op: string | undefined, right: Operand | undefined): Step =>
  (values, root, visits) =>
    values.flatMap((value) =>
      Array.isArray(value)
        ? (value as unknown[]).filter((item) => {
            visits.count(1);
            const found = left(item, root, visits);
            if (!op || !right) return found.length > 0;
            const [first] = found;
            const [second] = right(item, root, visits);
            return (
              first !== undefined &&
              second !== undefined &&
              compares(op, first, second)
            );
          })
        : [],
    );

class Reader {
  #at = 0;
  #depth = 0;

  constructor(private readonly text: string) {}

  get done(): boolean {
    return this.#at >= this.text.length;
  }

  /** As far as it goes. */
  path(): Step[] {
    this.#take(/[$@]/y);
    const steps: Step[] = [];
    for (;;) {
      if (this.#take(/\.\./y) !== undefined) {
        steps.push(depthStep);
        const name = this.#name();
        if (name !== undefined) steps.push(fieldStep(name));
        else if (!this.#next("[")) throw new BadPath();
      } else if (this.#take(/\./y) !== undefined) {
        if (this.#take(/\*/y) !== undefined) steps.push(everyStep);
        else if (!this.#next("[")) {
          const name = this.#name();
          if (name !== undefined) steps.push(fieldStep(name));
          else if (!this.done) throw new BadPath();
        }
      } else if (this.#take(/\[/y) !== undefined) steps.push(this.#brackets());
      else if (steps.length === 0 && !this.done && this.#name() !== undefined)
        throw new BadPath();
      else return steps;
    }
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #next(character: string): boolean {
    return this.text[this.#at] === character;
  }

  #name(): string | undefined {
    const name = this.#take(/(?:\\.|[^\s.[\](){}|*@$,?!<>='"\\&])+/y);
    return name?.replace(/\\(.)/g, "$1");
  }

  #brackets(): Step {
    if (this.#take(/\?\(/y) !== undefined) {
      const step = this.#filter();
      if (this.#take(/\s*\)\s*\]/y) === undefined) throw new BadPath();
      return step;
    }
    const parts = [this.#part()];
    while (this.#take(/\s*,\s*/y) !== undefined) parts.push(this.#part());
    if (this.#take(/\s*\]/y) === undefined) throw new BadPath();
    return parts.length === 1 ? parts[0]! : unionStep(parts);
  }

  #part(): Step {
    this.#take(/\s*/y);
    if (this.#take(/\*/y) !== undefined) return everyStep;
    const quoted = this.#quoted();
    if (quoted !== undefined) return fieldStep(quoted);
    const range = this.#take(/-?\d*(?::-?\d*){1,2}/y);
    if (range !== undefined) {
      const [from, to, by] = range
        .split(":")
        .map((part) => (part === "" ? undefined : Number(part)));
      if (by !== undefined && by <= 0) throw new BadPath();
      return sliceStep(from, to, by ?? 1);
    }
    const index = this.#take(/-?\d+/y);
    if (index === undefined) throw new BadPath();
    return indexStep(Number(index));
  }

  #quoted(): string | undefined {
    const text = this.#take(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/y);
    return text?.slice(1, -1).replace(/\\(.)/g, "$1");
  }

  #filter(): Step {
    if (++this.#depth > maxDepth) throw new BadPath();
    const step = this.#comparison();
    this.#depth--;
    return step;
  }

  #comparison(): Step {
    const left = this.#operand();
    const op = this.#take(/\s*(?:==|!=|<=|>=|<|>)\s*/y)?.trim();
    if (op === undefined) return filterStep(left, undefined, undefined);
    return filterStep(left, op, this.#operand());
  }

  #operand(): Operand {
    this.#take(/\s*/y);
    const quoted = this.#quoted();
    if (quoted !== undefined) return () => [quoted];
    const number = this.#take(/[-+]?\d+(?:\.\d+)?/y);
    if (number !== undefined) return () => [Number(number)];
    const word = this.#take(/true|false/y);
    if (word !== undefined) return () => [word === "true"];
    const fromRoot = this.#next("$");
    if (!fromRoot && !this.#next("@")) throw new BadPath();
    const steps = this.path();
    return (value, root, visits) =>
      run(steps, [fromRoot ? root : value], root, visits);
  }
}
