// The places of a list's elements, by their merge key or, without one, by their value: the lists of a patch and of an
// object can have tens of thousands of elements if a client sends them, and are looked up element by element.
//
// Worked example: over [{name: a}, {name: b}, {name: a}] with the key `name`, {name: a, image: x} is found at 0.
import { ExactNumber } from "../exact-number.ts";
import { getOwn, isJsonObject } from "./json-value.ts";

export class ElementIndex {
  /** Scalars by themselves; trees by their text. */
  readonly #scalars = new Map<unknown, number>();
  readonly #trees = new Map<string, number>();
  #length = 0;

  /** @param mergeKey "": elements are compared as a whole */
  constructor(
    list: readonly unknown[],
    private readonly mergeKey: string,
  ) {
    for (const item of list) this.add(item);
  }

  /** At the end of the list. */
  add(item: unknown): void {
    const at = this.#length++;
    const identity = this.#identityOf(item);
    if (identity === undefined || this.#find(identity) >= 0) return;
    if (isTree(identity)) this.#trees.set(textOf(identity), at);
    else this.#scalars.set(identity, at);
  }

  /** The first element with the item's key; -1: none, or the item has no key. */
  indexOf(item: unknown): number {
    const identity = this.#identityOf(item);
    return identity === undefined ? -1 : this.#find(identity);
  }

  has(item: unknown): boolean {
    return this.indexOf(item) >= 0;
  }

  #identityOf(item: unknown): unknown {
    if (this.mergeKey === "") return item;
    return isJsonObject(item) ? getOwn(item, this.mergeKey) : undefined;
  }

  #find(identity: unknown): number {
    const found = isTree(identity)
      ? this.#trees.get(textOf(identity))
      : this.#scalars.get(identity);
    return found ?? -1;
  }
}

function isTree(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** The same for equal trees (`sameJson`), and for no others. */
function textOf(value: unknown): string {
  if (value instanceof ExactNumber) return `#${value.text}`;
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${textOf(value[key])}`);
  return `{${fields.join()}}`;
}
