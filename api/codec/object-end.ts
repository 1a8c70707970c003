// Where an object ends in the bytes of a JSON text, found without parsing it.
//
// Relies on the text being well-formed; a text that is cut off has no end.

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;

const documentKey = Buffer.from('"fieldsV1":{');
/** The letter at which the key differs from the other keys of metadata: looked at before the whole key is compared. */
const letterV = 0x56;
const letterVAt = documentKey.indexOf(letterV);
/** Of the document, from where its key begins. */
export const documentOffset = documentKey.length - 1;

/** Documents that are recognised without being read: many objects have the same. */
const maxKnown = 4;
const maxKnownBytes = 8 * 1024;

/** Behind the brace that closes the object that begins at `start`; -1 when there is none. */
export function endOfObject(json: Uint8Array, start: number): number {
  let at = start + 1;
  for (let depth = 1; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) {
      for (at++; at < json.length && json[at] !== quote; at++)
        if (json[at] === backslash) at++;
    } else if (byte === openBrace) depth++;
    else if (byte === closeBrace && --depth === 0) return at + 1;
  }
  return -1;
}

/** The same for documents that are often equal to one of the last few: those are compared instead of read. */
export class KnownDocuments {
  readonly #known: Buffer[] = [];
  #next = 0;

  /** Behind the document whose key `"fieldsV1":` begins at `at`; -1 when something else begins there, or it has no end. */
  behindKey(json: Buffer, at: number, limit: number): number {
    const document = at + documentOffset;
    // A string begins here, and in its text the quotes of the key would be escaped: only the key itself equals it.
    if (
      json[at + letterVAt] !== letterV ||
      document >= limit ||
      documentKey.compare(json, at, document + 1) !== 0
    )
      return -1;
    return this.endOf(json, document, limit);
  }

  /** Behind the object that begins at `start`; -1 when it does not end before `limit`. */
  endOf(json: Buffer, start: number, limit: number): number {
    for (const known of this.#known) {
      const behind = start + known.length;
      if (behind <= limit && known.compare(json, start, behind) === 0)
        return behind;
    }
    const behind = endOfObject(json, start);
    if (behind < 0 || behind > limit) return -1;
    if (behind - start <= maxKnownBytes) {
      this.#known[this.#next] = Buffer.from(json.subarray(start, behind));
      this.#next = (this.#next + 1) % maxKnown;
    }
    return behind;
  }
}
