// Transformers of stored values in their order: the first one writes, and a value is read by the first one with the prefix
// of the value that can read it. The keys of a provider are such a chain inside that of the providers:
// `k8s:enc:aescbc:v1:` `key1:` bytes.
//
// Invariants: a value that no transformer can read is an error; the text of an error holds nothing of a value or a key.
import { grpcCode, grpcCodeName } from "../../grpc/channel.ts";
import type { ValuePlace } from "../registry/value-seal.ts";
import type { EncryptionMetrics } from "./encryption-metrics.ts";
import type { KeyCipher } from "./key-ciphers.ts";

export interface OpenedValue {
  readonly value: Uint8Array;
  /** A write today would use another provider or key. */
  readonly stale: boolean;
}

export interface Transformer {
  /** Throws or rejects for a value that it can't read. A promise: something outside has to be asked. */
  open(
    value: Uint8Array,
    place: ValuePlace,
  ): OpenedValue | Promise<OpenedValue>;
  /** Throws when nothing can be written now. */
  seal(value: Uint8Array, place: ValuePlace): Uint8Array;
  /** Why nothing can be written now. */
  readonly writeProblem?: Error | undefined;
  /** Can a value that opens be stale? */
  readonly mayBeStale?: boolean;
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

/** What of a value's place is authenticated. @param root what stored keys begin with, where it is not /registry */
export function placeBelow(root: string): (place: ValuePlace) => Buffer {
  return ({ key }) => Buffer.from(`${root}${key.slice("/registry".length)}`);
}

/** @param placeOf what of a value's place is authenticated */
export function keyTransformer(
  cipher: KeyCipher,
  placeOf: (place: ValuePlace) => Buffer,
): Transformer {
  return {
    open: (value, place) => ({
      value: cipher.decrypt(value, placeOf(place)),
      stale: false,
    }),
    seal: (value, place) => cipher.encrypt(value, placeOf(place)),
  };
}

/** A value that is being opened. */
interface Opening {
  readonly value: Uint8Array;
  readonly place: ValuePlace;
  readonly began: number;
  /** Those of the links that were tried. */
  readonly problems: Set<string>;
}

/** As metrics have it: of a failed call of gRPC its code. */
function statusOf(error: Error): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    if (grpcCode(at) !== undefined) return grpcCodeName(at);
  return "unknown-non-grpc";
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

  get mayBeStale(): boolean {
    const [first] = this.#links;
    return this.#links.length > 1 || (first!.transformer.mayBeStale ?? false);
  }

  get writeProblem(): Error | undefined {
    return this.#links[0]!.transformer.writeProblem;
  }

  open(
    value: Uint8Array,
    place: ValuePlace,
  ): OpenedValue | Promise<OpenedValue> {
    return this.#openFrom(0, {
      ...{ value, place, began: performance.now(), problems: new Set() },
    });
  }

  /** By the first link, from `index` on, that can read it. */
  #openFrom(
    index: number,
    opening: Opening,
  ): OpenedValue | Promise<OpenedValue> {
    const { value, place, began } = opening;
    for (let at = index; at < this.#links.length; at++) {
      const { prefix, bytes, transformer } = this.#links[at]!;
      if (!beginsWith(value, bytes)) continue;
      const done = ({ value: plain, stale }: OpenedValue): OpenedValue => {
        const named = prefix || "identity";
        this.metrics.transformed(place, "from_storage", named, "OK", began);
        return { value: plain, stale: stale || at !== 0 };
      };
      try {
        const opened = transformer.open(value.subarray(bytes.length), place);
        if (!(opened instanceof Promise)) return done(opened);
        return opened.then(done, (error: Error) => {
          this.#failed(prefix, error, opening);
          return this.#openFrom(at + 1, opening);
        });
      } catch (error) {
        this.#failed(prefix, error as Error, opening);
      }
    }
    throw this.#unread(opening);
  }

  #failed(
    prefix: string,
    error: Error,
    { place, began, problems }: Opening,
  ): void {
    // Above a provider, identity must not keep that from reading.
    if (prefix === "") return;
    const status = statusOf(error);
    this.metrics.transformed(place, "from_storage", prefix, status, began);
    problems.add(error.message);
  }

  #unread({ place, began, problems }: Opening): Error {
    if (problems.size === 0) {
      const error = new Error(this.unmatched);
      const status = statusOf(error);
      this.metrics.transformed(place, "from_storage", "unknown", status, began);
      return error;
    }
    const texts = [...problems];
    return new Error(texts.length > 1 ? `[${texts.join(", ")}]` : texts[0]);
  }

  seal(value: Uint8Array, place: ValuePlace): Uint8Array {
    const { prefix, bytes, transformer } = this.#links[0]!;
    const began = performance.now();
    let status = "OK";
    try {
      const sealed = transformer.seal(value, place);
      return prefix === "" ? sealed : Buffer.concat([bytes, sealed]);
    } catch (error) {
      status = statusOf(error as Error);
      throw error;
    } finally {
      this.metrics.transformed(place, "to_storage", prefix, status, began);
    }
  }
}

function beginsWith(value: Uint8Array, prefix: Buffer): boolean {
  return (
    value.length >= prefix.length &&
    prefix.equals(value.subarray(0, prefix.length))
  );
}
