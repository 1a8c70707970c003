// What is in one nftables table beside its fixed part: chains, elements of maps and sets, and sets, each with its owners, so
// that a change costs what it touches. The script of a change is one transaction; the script of everything replaces the
// table.

/** What one owner has in a table. */
export interface TableContent {
  /** By chain name. */
  readonly chains: ReadonlyMap<string, readonly string[]>;
  /** Name of a map or set, and what is in it: key to data, which is empty for a set. */
  readonly elements: readonly (readonly [
    container: string,
    key: string,
    data: string,
  ])[];
  /** By set name: its definition. */
  readonly sets: ReadonlyMap<string, string>;
}

/** What a table is written from. */
export interface TableScripts {
  /** As nft names it: family and name. */
  readonly table: string;
  /** Replaces the table with what there is now; what changed before is part of it. */
  wholeScript(): string;
  /** What changed since the last script; empty: nothing. */
  changeScript(): string;
}

/**
 * Objects of one kind with who wants them, and what changed since they were last taken. Of owners that want different
 * things under one key (two Services with the same external address and port) the first has it until it goes.
 */
class Owned {
  readonly #owners = new Map<string, Map<string, string>>();
  /** Key to its text before; undefined: it was not there. */
  readonly #changed = new Map<string, string | undefined>();

  *present(): Generator<readonly [key: string, text: string]> {
    for (const key of this.#owners.keys()) yield [key, this.#text(key)!];
  }

  #text(key: string): string | undefined {
    const owners = this.#owners.get(key);
    return owners && [...owners.values()][0];
  }

  #note(key: string): void {
    if (!this.#changed.has(key)) this.#changed.set(key, this.#text(key));
  }

  set(key: string, owner: string, text: string): void {
    this.#note(key);
    let owners = this.#owners.get(key);
    if (!owners) this.#owners.set(key, (owners = new Map()));
    owners.set(owner, text);
  }

  remove(key: string, owner: string): void {
    this.#note(key);
    const owners = this.#owners.get(key);
    owners?.delete(owner);
    if (owners?.size === 0) this.#owners.delete(key);
  }

  /** The differences, which are then forgotten. */
  take(): { key: string; before?: string; after?: string }[] {
    const all = [...this.#changed].flatMap(([key, before]) => {
      const after = this.#text(key);
      return before === after
        ? []
        : [
            {
              key,
              ...(before === undefined ? {} : { before }),
              ...(after === undefined ? {} : { after }),
            },
          ];
    });
    this.#changed.clear();
    return all;
  }
}

const separator = "\0";

export class TableObjects implements TableScripts {
  readonly #contents = new Map<string, TableContent>();
  readonly #chains = new Owned();
  readonly #elements = new Owned();
  readonly #sets = new Owned();

  /** @param fixed maps, sets and chains that belong to the table for good, as they are written between its braces */
  constructor(
    readonly table: string,
    readonly fixed: string,
  ) {}

  get ownerCount(): number {
    return this.#contents.size;
  }

  /** @param content undefined: the owner is gone */
  set(owner: string, content: TableContent | undefined): void {
    const before = this.#contents.get(owner);
    if (content) this.#contents.set(owner, content);
    else this.#contents.delete(owner);
    const elementKey = ([container, key]: readonly string[]): string =>
      `${container}${separator}${key}`;
    const elements = new Set(content?.elements.map(elementKey));
    for (const name of before?.chains.keys() ?? [])
      if (!content?.chains.has(name)) this.#chains.remove(name, owner);
    for (const name of before?.sets.keys() ?? [])
      if (!content?.sets.has(name)) this.#sets.remove(name, owner);
    for (const element of before?.elements ?? [])
      if (!elements.has(elementKey(element)))
        this.#elements.remove(elementKey(element), owner);
    if (!content) return;
    for (const [name, lines] of content.chains)
      this.#chains.set(name, owner, lines.join("\n"));
    for (const [name, text] of content.sets) this.#sets.set(name, owner, text);
    for (const element of content.elements)
      this.#elements.set(elementKey(element), owner, element[2]);
  }

  /** Replaces the table with what there is now; what changed before is part of it. */
  wholeScript(): string {
    for (const each of [this.#chains, this.#elements, this.#sets]) each.take();
    const parts = [
      `table ${this.table}\ndelete table ${this.table}\ntable ${this.table} {\n`,
      this.fixed,
    ];
    for (const [name, text] of this.#sets.present())
      parts.push(`  set ${name} { ${text} }\n`);
    for (const [name] of this.#chains.present())
      parts.push(`  chain ${name} {\n  }\n`);
    parts.push("}\n");
    for (const [name, text] of this.#chains.present())
      parts.push(this.#rules(name, text));
    parts.push(this.#elementCommands("add", [...this.#elements.present()]));
    return parts.join("");
  }

  /** What changed since the last script; empty: nothing. */
  changeScript(): string {
    const sets = this.#sets.take();
    const chains = this.#chains.take();
    const elements = this.#elements.take();
    const parts: string[] = [];
    for (const { key, before, after } of sets)
      if (before === undefined && after !== undefined)
        parts.push(`add set ${this.table} ${key} { ${after} }\n`);
    for (const { key, before, after } of chains)
      if (after !== undefined)
        parts.push(
          before === undefined
            ? `add chain ${this.table} ${key}\n`
            : `flush chain ${this.table} ${key}\n`,
        );
    parts.push(
      this.#elementCommands(
        "delete",
        elements.flatMap(({ key, before }) =>
          before === undefined ? [] : [[key, before] as const],
        ),
      ),
      this.#elementCommands(
        "add",
        elements.flatMap(({ key, after }) =>
          after === undefined ? [] : [[key, after] as const],
        ),
      ),
    );
    for (const { key, after } of chains)
      if (after !== undefined) parts.push(this.#rules(key, after));
    const gone = chains.filter(({ after }) => after === undefined);
    // Chains may jump to one another: all are emptied before any goes.
    for (const { key } of gone)
      parts.push(`flush chain ${this.table} ${key}\n`);
    for (const { key } of gone)
      parts.push(`delete chain ${this.table} ${key}\n`);
    for (const { key, before, after } of sets) {
      if (after === undefined) parts.push(`delete set ${this.table} ${key}\n`);
      else if (before !== undefined)
        // A set's time limit can't be changed: the clients in it keep the old one until it is made again.
        parts.push(`flush set ${this.table} ${key}\n`);
    }
    return parts.join("");
  }

  #rules(chain: string, text: string): string {
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => `add rule ${this.table} ${chain} ${line}\n`)
      .join("");
  }

  #elementCommands(
    verb: "add" | "delete",
    elements: readonly (readonly [key: string, data: string])[],
  ): string {
    const byContainer = new Map<string, string[]>();
    for (const [id, data] of elements) {
      const at = id.indexOf(separator);
      const container = id.slice(0, at);
      const key = id.slice(at + 1);
      const list = byContainer.get(container) ?? [];
      list.push(data === "" ? key : `${key} : ${data}`);
      byContainer.set(container, list);
    }
    return [...byContainer]
      .map(
        ([container, list]) =>
          `${verb} element ${this.table} ${container} { ${list.join(", ")} }\n`,
      )
      .join("");
  }
}
