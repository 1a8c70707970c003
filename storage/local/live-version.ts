// A live value as a store keeps many of them: where its bytes are, and the Buffer only when it is asked for, which spares
// a hundred bytes of heap for each.
import type { StoredValue } from "../store.ts";

/** A live value. Its writer and its readers share the bytes: they must not be changed. */
export interface StoredVersion extends StoredValue {
  /** Epoch milliseconds; 0: never. */
  readonly expiresAtMs: number;
}

export class LiveVersion implements StoredVersion {
  readonly #memory: ArrayBufferLike;
  readonly #at: number;
  readonly #bytes: number;

  constructor(
    readonly key: string,
    value: Uint8Array,
    readonly revision: number,
    readonly expiresAtMs: number,
  ) {
    this.#memory = value.buffer;
    this.#at = value.byteOffset;
    this.#bytes = value.byteLength;
  }

  get value(): Buffer {
    return Buffer.from(this.#memory, this.#at, this.#bytes);
  }
}
