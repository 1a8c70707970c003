// Texts by key with who wants them, and what changed since they were last taken. Of owners that want different things under one
// key (two Services with the same external address and port) the first has it until it goes.
// Of many thousands of keys nearly all have one owner: that one is a link of a list, no map of its own.

interface Owner {
  readonly name: string;
  text: string;
  next: Owner | undefined;
}

interface TextChange {
  readonly key: string;
  /** Undefined: it was not there. */
  readonly before?: string;
  /** Undefined: it is not there any more. */
  readonly after?: string;
}

export class OwnedTexts {
  readonly #owners = new Map<string, Owner>();
  /** Key to its text before; undefined: it was not there. */
  readonly #changed = new Map<string, string | undefined>();

  *present(): Generator<readonly [key: string, text: string]> {
    for (const [key, { text }] of this.#owners) yield [key, text];
  }

  #note(key: string): void {
    if (!this.#changed.has(key))
      this.#changed.set(key, this.#owners.get(key)?.text);
  }

  set(key: string, owner: string, text: string): void {
    this.#note(key);
    let last: Owner | undefined;
    for (let each = this.#owners.get(key); each; each = each.next) {
      if (each.name === owner) {
        each.text = text;
        return;
      }
      last = each;
    }
    // Reading a character makes one text of the pieces that it was joined from, which take several times as much.
    text.charCodeAt(0);
    const added: Owner = { name: owner, text, next: undefined };
    if (last) last.next = added;
    else this.#owners.set(key, added);
  }

  remove(key: string, owner: string): void {
    this.#note(key);
    let before: Owner | undefined;
    for (let each = this.#owners.get(key); each; each = each.next) {
      if (each.name !== owner) {
        before = each;
        continue;
      }
      if (before) before.next = each.next;
      else if (each.next) this.#owners.set(key, each.next);
      else this.#owners.delete(key);
      return;
    }
  }

  /** The differences, which are then forgotten. */
  take(): TextChange[] {
    const all: TextChange[] = [];
    for (const [key, before] of this.#changed) {
      const after = this.#owners.get(key)?.text;
      if (before === after) continue;
      all.push({
        key,
        ...(before === undefined ? {} : { before }),
        ...(after === undefined ? {} : { after }),
      });
    }
    this.#changed.clear();
    return all;
  }
}
