// A KMS v2 provider: values are under data keys, and those are encrypted by a plug-in outside. A data key is decrypted once
// and kept; values that need one that is not known wait for one question to the plug-in, together.
//
// Invariants: nothing is written but by the key of kms-keys.ts; an encrypted data key that the plug-in has just refused is
// not asked for again before a few seconds, so that reading thousands of values ends.
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import type { ValuePlace } from "../../registry/value-seal.ts";
import type { KeyCipher } from "../key-ciphers.ts";
import type { OpenedValue, Transformer } from "../prefix-chain.ts";
import { dataKeyOf } from "./data-keys.ts";
import {
  decodeEncryptedObject,
  encodeEncryptedObject,
  type DekSource,
  type EncryptedObject,
} from "./encrypted-object.ts";
import { KmsKeys } from "./kms-keys.ts";
import type { KmsMetrics } from "./kms-metrics.ts";
import {
  connectKms,
  type KmsEndpoint,
  type KmsService,
} from "./kms-service.ts";

type DataKey = Pick<KeyCipher, "decrypt">;

/** Each start of a server makes a key, and each change of the plug-in's. */
const maxKeys = 10_000;
const refusedMs = 3_000;

export interface KmsParts {
  readonly metrics: KmsMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class KmsProvider implements Transformer {
  /** The plug-in's key may change at any time. */
  readonly mayBeStale = true;
  readonly #service: KmsService;
  readonly #keys: KmsKeys;
  readonly #known = new LRUCache<string, DataKey>({ max: maxKeys });
  readonly #asking = new Map<string, Promise<DataKey>>();
  /** The key that was written by last. */
  #written: DataKey | undefined;
  readonly #refused = new LRUCache<string, { error: Error; atMs: number }>({
    max: maxKeys,
  });

  /** @param placeOf what of a value's place is authenticated */
  private constructor(
    readonly endpoint: KmsEndpoint,
    service: KmsService,
    private readonly parts: KmsParts,
    private readonly placeOf: (place: ValuePlace) => Buffer,
  ) {
    this.#service = service;
    this.#keys = new KmsKeys({ name: endpoint.name, service, ...parts });
  }

  /** Asks the plug-in once; one that is not well does not keep the provider from being made. */
  static async connect(
    endpoint: KmsEndpoint,
    parts: KmsParts,
    placeOf: (place: ValuePlace) => Buffer,
  ): Promise<KmsProvider> {
    const service = await connectKms(endpoint, parts.metrics);
    const provider = new KmsProvider(endpoint, service, parts, placeOf);
    await provider.check().catch(() => undefined);
    return provider;
  }

  /** Follows the plug-in's key from now on. */
  start(): void {
    this.#keys.start();
  }

  /** Calls under way fail. */
  close(): void {
    this.#keys.stop();
    this.#service.close();
  }

  /** Rejects with what is wrong with the plug-in. */
  check(): Promise<void> {
    return this.#keys.check();
  }

  get writeProblem(): Error | undefined {
    try {
      this.#keys.writable();
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  seal(value: Uint8Array, place: ValuePlace): Buffer {
    const { name } = this.endpoint;
    const { metrics, clock } = this.parts;
    const { cipher, source } = this.#keys.writable();
    // Its values are read back without a question.
    if (this.#written !== cipher) this.#keep(nameOf(source), cipher);
    this.#written = cipher;
    const encryptedData = cipher.encrypt(value, this.placeOf(place));
    metrics.keyUsed("to_storage", name, source.keyID, clock.now());
    return encodeEncryptedObject({ ...source, encryptedData });
  }

  open(
    value: Uint8Array,
    place: ValuePlace,
  ): OpenedValue | Promise<OpenedValue> {
    const object = decodeEncryptedObject(value);
    this.#keys.current();
    const key = this.#dataKey(object);
    return key instanceof Promise
      ? key.then((known) => this.#opened(known, object, place))
      : this.#opened(key, object, place);
  }

  #opened(
    key: DataKey,
    object: EncryptedObject,
    place: ValuePlace,
  ): OpenedValue {
    const { metrics, clock } = this.parts;
    const { keyID, encryptedData, encryptedDEKSourceType } = object;
    metrics.keyUsed("from_storage", this.endpoint.name, keyID, clock.now());
    const { source } = this.#keys.current();
    return {
      value: key.decrypt(encryptedData, this.placeOf(place)),
      stale:
        keyID !== source.keyID ||
        encryptedDEKSourceType !== source.encryptedDEKSourceType,
    };
  }

  #dataKey(source: DekSource): DataKey | Promise<DataKey> {
    const name = nameOf(source);
    const known = this.#known.get(name);
    if (known) return known;
    const refused = this.#refused.get(name);
    const nowMs = this.parts.clock.monotonic();
    if (refused && nowMs - refused.atMs < refusedMs) throw refused.error;
    let asking = this.#asking.get(name);
    if (!asking) {
      asking = this.#ask(name, source).finally(() => this.#asking.delete(name));
      this.#asking.set(name, asking);
    }
    return asking;
  }

  async #ask(name: string, source: DekSource): Promise<DataKey> {
    const { metrics, clock } = this.parts;
    metrics.missed();
    try {
      const plain = await this.#service
        .decrypt(source)
        .catch((error: Error) => {
          throw new Error(`failed to decrypt DEK, error: ${error.message}`, {
            cause: error,
          });
        });
      const key = dataKeyOf(plain, source.encryptedDEKSourceType);
      this.#keep(name, key);
      return key;
    } catch (error) {
      this.#refused.set(name, {
        error: error as Error,
        atMs: clock.monotonic(),
      });
      throw error;
    }
  }

  #keep(name: string, key: DataKey): void {
    this.#known.set(name, key);
    this.parts.metrics.cached(this.endpoint.name, this.#known.size);
  }
}

/** Of all that a plug-in is asked with: no two sources have the same. */
function nameOf(source: DekSource): string {
  const hash = createHash("sha256");
  const add = (bytes: string | Uint8Array): void => {
    const size =
      typeof bytes === "string" ? Buffer.byteLength(bytes) : bytes.length;
    hash.update(`${size}:`).update(bytes);
  };
  hash.update(`${source.encryptedDEKSourceType};`);
  add(source.encryptedDEKSource);
  add(source.keyID);
  for (const name of Object.keys(source.annotations).sort()) {
    add(name);
    add(source.annotations[name]!);
  }
  return hash.digest("base64");
}
