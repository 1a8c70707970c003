// Transformers of stored values in their order: the first one writes, and a value is read by the first one with the prefix
// of the value that can read it. The keys of a provider are such a chain inside that of the providers:
// `k8s:enc:aescbc:v1:` `key1:` bytes.
//
// Invariants: a value that no transformer can read is an error; the text of an error holds nothing of a value or a key.
import type { ValuePlace } from "../registry/value-seal.ts";
import type { EncryptionMetrics } from "./encryption-metrics.ts";
import type { KeyCipher } from "./key-ciphers.ts";

interface OpenedValue {
  readonly value: Uint8Array;
  /** A write today would use another provider or key. */
  readonly stale: boolean;
}

export interface Transformer {
  /** Throws for a value that it can't read. */
  open(value: Uint8Array, place: ValuePlace): OpenedValue;
  seal(value: Uint8Array, place: ValuePlace): Uint8Array;
}

/** With "", values have no prefix: they are not encrypted. */
interface Link {
  readonly prefix: string;
  readonly transformer: Transformer;
}

const encryptedPrefix = Buffer.from("k8s:enc:");

/** Values as they are; encrypted ones are refused. */
export const identity: Transformer = {
  open(value) {
    if (beginsWith(value, encryptedPrefix))
      throw new Error("identity transformer tried to read encrypted data");
    return { value, stale: false };
  },
  seal: (value) => value,
};

/** @param root what stored keys begin with, where the store has another root than /registry */
export function keyTransformer(cipher: KeyCipher, root: string): Transformer {
  const placeOf = ({ key }: ValuePlace): Buffer =>
    Buffer.from(`${root}${key.slice("/registry".length)}`);
  return {
    open: (value, place) => ({
      value: cipher.decrypt(value, placeOf(place)),
      stale: false,
    }),
    seal: (value, place) => cipher.encrypt(value, placeOf(place)),
  };
}

export class PrefixChain implements Transformer {
  readonly #links: readonly (Link & { readonly bytes: Buffer })[];

  /**
   * @param links at least one
   * @param unmatched the error of a value with another prefix
   */
  constructor(
    links: readonly Link[],
    private readonly unmatched: string,
    private readonly metrics: EncryptionMetrics,
  ) {
    this.#links = links.map((link) => ({
      ...link,
      bytes: Buffer.from(link.prefix),
    }));
  }

  /** Can a value that opens be stale? */
  get mayBeStale(): boolean {
    const [first] = this.#links;
    const { transformer } = first!;
    return (
      this.#links.length > 1 ||
      (transformer instanceof PrefixChain && transformer.mayBeStale)
    );
  }

  open(value: Uint8Array, place: ValuePlace): OpenedValue {
    const began = performance.now();
    const problems = new Set<string>();
    const record = (prefix: string, ok: boolean): void =>
      this.metrics.transformed(place, "from_storage", prefix, ok, began);
    for (const [
      index,
      { prefix, bytes, transformer },
    ] of this.#links.entries()) {
      if (!beginsWith(value, bytes)) continue;
      try {
        const opened = transformer.open(value.subarray(bytes.length), place);
        record(prefix || "identity", true);
        return { value: opened.value, stale: opened.stale || index !== 0 };
      } catch (error) {
        // Above a provider, identity must not keep that from reading.
        if (prefix === "") continue;
        record(prefix, false);
        problems.add((error as Error).message);
      }
    }
    if (problems.size === 0) {
      record("unknown", false);
      throw new Error(this.unmatched);
    }
    const texts = [...problems];
    throw new Error(texts.length > 1 ? `[${texts.join(", ")}]` : texts[0]);
  }

  seal(value: Uint8Array, place: ValuePlace): Uint8Array {
    const { prefix, bytes, transformer } = this.#links[0]!;
    const began = performance.now();
    let ok = false;
    try {
      const sealed = transformer.seal(value, place);
      ok = true;
      return prefix === "" ? sealed : Buffer.concat([bytes, sealed]);
    } finally {
      this.metrics.transformed(place, "to_storage", prefix, ok, began);
    }
  }
}

function beginsWith(value: Uint8Array, prefix: Buffer): boolean {
  return (
    value.length >= prefix.length &&
    prefix.equals(value.subarray(0, prefix.length))
  );
}
