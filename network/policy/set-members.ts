// Addresses in the kernel's sets, counted, since a pod can be in a set for more than one reason, and what changed since the
// last script. Invariant: what is noted as changed says whether the kernel has it.

export class SetMembers {
  readonly #sets = new Map<string, Map<string, number>>();
  /** Set to element to whether the kernel has it. */
  readonly #changed = new Map<string, Map<string, boolean>>();

  constructor(
    /** As nft names it: family and name. */
    private readonly table: string,
  ) {}

  #note(set: string, element: string, present: boolean): void {
    let changes = this.#changed.get(set);
    if (!changes) this.#changed.set(set, (changes = new Map()));
    if (!changes.has(element)) changes.set(element, present);
  }

  create(set: string): void {
    if (!this.#sets.has(set)) this.#sets.set(set, new Map());
  }

  /** The set must be there. */
  add(set: string, element: string): void {
    const elements = this.#sets.get(set);
    const count = elements?.get(element) ?? 0;
    if (count === 0) this.#note(set, element, false);
    elements?.set(element, count + 1);
  }

  remove(set: string, element: string): void {
    const elements = this.#sets.get(set);
    const count = elements?.get(element) ?? 0;
    if (count > 1) elements?.set(element, count - 1);
    else if (count === 1) {
      this.#note(set, element, true);
      elements?.delete(element);
    }
  }

  /** The set goes, with all that is in it. */
  drop(set: string): void {
    for (const element of this.#sets.get(set)?.keys() ?? [])
      this.#note(set, element, true);
    this.#sets.delete(set);
  }

  /** Everything. */
  wholeScript(): string {
    this.#changed.clear();
    return [...this.#sets]
      .map(([set, elements]) => this.#command("add", set, [...elements.keys()]))
      .join("");
  }

  /** What changed in sets that there still are. */
  changeScript(): string {
    const parts: string[] = [];
    for (const [set, changes] of this.#changed) {
      const elements = this.#sets.get(set);
      if (!elements) continue;
      const gone: string[] = [];
      const added: string[] = [];
      for (const [element, present] of changes)
        if (elements.has(element) !== present)
          (present ? gone : added).push(element);
      parts.push(
        this.#command("delete", set, gone),
        this.#command("add", set, added),
      );
    }
    this.#changed.clear();
    return parts.join("");
  }

  #command(
    verb: "add" | "delete",
    set: string,
    elements: readonly string[],
  ): string {
    return elements.length === 0
      ? ""
      : `${verb} element ${this.table} ${set} { ${elements.join(", ")} }\n`;
  }
}
