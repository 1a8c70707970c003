// Labels and selectable fields, which many objects have alike: one object for all that have the same text.
// Invariant: at most `max` texts are known; which are known changes only how much is shared.

export type Fields = Readonly<Record<string, string>>;

export const noFields: Fields = Object.freeze({});

export class SharedFields {
  readonly #known = new Map<string, Fields>();

  constructor(private readonly max = 1024) {}

  /** @param text the JSON of `fields`, or where `fields` is undefined, of what is to be read: throws SyntaxError */
  of(text: string, fields?: Fields): Fields {
    if (text === "{}") return noFields;
    const known = this.#known.get(text);
    if (known) return known;
    const made = fields ?? (JSON.parse(text) as Fields);
    if (this.#known.size >= this.max) this.#known.clear();
    this.#known.set(text, made);
    return made;
  }
}
