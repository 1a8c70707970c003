// How the values of a resource are sealed in the store, outermost: what a codec made is sealed, and what a store gives is
// opened before a codec reads it. Encryption of values at rest fits here, with keys of its own or of a service outside.
//
// A seal is given the resource and the key of each value, to authenticate them: a value that was moved to another key does
// not open. Opening may take its time, when the service has to be asked for the key a value names; values open side by side,
// and events keep their order. Sealing itself is done at once, when the value's revision is known; `prepare` fetches before
// that what it needs.

/** Where a value is. */
export interface ValuePlace {
  /** /registry/secrets/default/a */
  readonly key: string;
  readonly group: string;
  readonly resource: string;
}

export interface ValueSeal {
  /** Ends in a bounded time. Throws or rejects for a value that does not belong here: reads of it answer 500. */
  open(value: Uint8Array, place: ValuePlace): Uint8Array | Promise<Uint8Array>;
  /** Before each write; undefined: nothing has to be waited for. When it rejects nothing is written. */
  prepare?(place: ValuePlace): Promise<void> | undefined;
  seal(value: Uint8Array, place: ValuePlace): Uint8Array;
  /** Can there be values that open, and would be sealed otherwise today? Undefined: there are none. */
  mayBeStale?(): boolean;
  /** Of a value of the store: is it one of those? Throws or rejects as `open` does. */
  isStale?(value: Uint8Array, place: ValuePlace): boolean | Promise<boolean>;
}

/** Undefined: the values of this resource are not sealed. */
export type SealLookup = (
  group: string,
  resource: string,
) => ValueSeal | undefined;
