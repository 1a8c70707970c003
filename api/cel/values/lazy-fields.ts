// An object whose fields are computed when an expression first reads them, each once: the variables of a policy.
import { MapValue, type Result, type Value } from "./value.ts";

export class LazyFields extends MapValue {
  readonly #compute: ReadonlyMap<string, () => Result>;
  readonly #known = new Map<string, Result>();

  constructor(compute: ReadonlyMap<string, () => Result>) {
    super();
    this.#compute = compute;
  }
  override get size(): number {
    return this.#compute.size;
  }
  override get(key: Value): Result | undefined {
    const compute =
      typeof key === "string" ? this.#compute.get(key) : undefined;
    if (!compute) return undefined;
    const known = this.#known.get(key as string);
    if (known !== undefined) return known;
    const value = compute();
    this.#known.set(key as string, value);
    return value;
  }
  override keys(): Iterable<Value> {
    return this.#compute.keys();
  }
}
