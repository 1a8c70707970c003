// Lets go of what Node holds for the headers of HTTP/2. Node makes an external string of each value: its text stays with
// the HTTP/2 library, and the string itself is made in the old generation. All of them, five a request, wait for the next
// full collection, which frees one after the other while nothing else runs: 25 ms for the 54,000 strings of 11,000 requests.
//
// The engine gives up an external string's text at once where it is looked up as the name of a property and a name of the
// same text is known: the string refers to that name from then on. Most values come again and again (who asks, as what, for
// which type), so those that were seen are kept as names. What is never seen again, as many paths are, costs a failed
// look-up; one in sixteen of them is kept, in the place of the oldest.
//
// Invariants: at most `maxKept` values of at most `maxLength` characters are kept; no string changes its text.

const maxKept = 256;
const maxLength = 4096;
/** Values that were not known, for each that is kept. */
const missesForOne = 16;

export class HeaderValues {
  // Without a prototype it is a table from the beginning, whose names come and go.
  readonly #known = Object.create(null) as Record<string, true | undefined>;
  /** The names in the order of their coming; the oldest is at `#next` when it is full. */
  readonly #kept: string[] = [];
  #next = 0;
  #misses = 0;

  /** @param rawHeaders names and values in turns, as Node gives them. */
  release(rawHeaders: readonly string[]): void {
    for (let at = 1; at < rawHeaders.length; at += 2) {
      const value = rawHeaders[at]!;
      if (this.#known[value] || ++this.#misses < missesForOne) continue;
      this.#misses = 0;
      this.#keep(value);
    }
  }

  #keep(value: string): void {
    if (value.length > maxLength || !canBeName(value)) return;
    const oldest = this.#kept[this.#next];
    if (oldest !== undefined) delete this.#known[oldest];
    // A text of its own, which is no external string.
    const name = ` ${value}`.slice(1);
    this.#known[name] = true;
    this.#kept[this.#next] = name;
    this.#next = (this.#next + 1) % maxKept;
  }
}

/** Numbers would be indexes of elements. */
function canBeName(value: string): boolean {
  return value.length > 16 || !/^\d+$/.test(value);
}
