// What is in one nftables table beside its fixed part: chains, elements of maps and sets, and sets, each with its owners, so
// that a change costs what it touches. The script of a change is one transaction; the script of everything replaces the
// table.
import { OwnedTexts } from "./owned-texts.ts";

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

interface OwnedKeys {
  readonly chains: readonly string[];
  readonly elements: readonly string[];
  readonly sets: readonly string[];
}

const separator = "\0";

/** Joined, so that many thousands of keys are not kept as the pieces that they are made of. */
function elementKey([container, key]: readonly string[]): string {
  return [container, key].join(separator);
}

export class TableObjects implements TableScripts {
  /** Owner to the keys of what it has. */
  readonly #owned = new Map<string, OwnedKeys>();
  readonly #chains = new OwnedTexts();
  readonly #elements = new OwnedTexts();
  readonly #sets = new OwnedTexts();

  /** @param fixed maps, sets and chains that belong to the table for good, as they are written between its braces */
  constructor(
    readonly table: string,
    readonly fixed: string,
  ) {}

  get ownerCount(): number {
    return this.#owned.size;
  }

  /** @param content undefined: the owner is gone */
  set(owner: string, content: TableContent | undefined): void {
    const before = this.#owned.get(owner);
    const now = content && {
      chains: [...content.chains.keys()],
      elements: content.elements.map(elementKey),
      sets: [...content.sets.keys()],
    };
    if (now) this.#owned.set(owner, now);
    else this.#owned.delete(owner);
    const drop = (texts: OwnedTexts, what: keyof OwnedKeys): void => {
      const kept = new Set(now?.[what]);
      for (const key of before?.[what] ?? [])
        if (!kept.has(key)) texts.remove(key, owner);
    };
    drop(this.#chains, "chains");
    drop(this.#sets, "sets");
    drop(this.#elements, "elements");
    if (!content || !now) return;
    for (const [name, lines] of content.chains)
      this.#chains.set(name, owner, lines.join("\n"));
    for (const [name, text] of content.sets) this.#sets.set(name, owner, text);
    for (const [n, [, , data]] of content.elements.entries())
      this.#elements.set(now.elements[n]!, owner, data);
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
