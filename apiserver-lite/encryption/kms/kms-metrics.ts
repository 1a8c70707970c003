// The metrics of KMS providers with the reference's names: calls of their plug-ins, and which keys they use, by a hash of
// the key's id. Plug-ins choose the ids, so each table of them is bounded: the longest unused row goes.
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { Family, type Labels } from "../../../api/metrics/family.ts";
import { Histogram } from "../../../api/metrics/histogram.ts";

const prefix = "apiserver_envelope_encryption";
const maxKeys = 100;
const maxCallRows = 1000;
const secondsBounds = Array.from({ length: 20 }, (_, at) => 1e-4 * 2 ** at);

/** `sha256:` and hexadecimal digits; "" of nothing. */
export function hashOf(text: string): string {
  if (text === "") return "";
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

interface KeyUse {
  readonly labels: Labels;
  count: number;
  seconds: number;
}

interface CallRow {
  readonly labels: Labels;
  readonly row: Histogram;
}

export class KmsMetrics {
  readonly #used = new LRUCache<string, KeyUse>({ max: maxKeys });
  readonly #reported = new LRUCache<string, KeyUse>({ max: maxKeys });
  readonly #calls = new Map<string, CallRow>();
  readonly #invalid = new Map<string, { labels: Labels; count: number }>();
  readonly #cached = new Map<string, number>();
  /** A key's hash is asked for with every value. */
  readonly #hashes = new LRUCache<string, string>({ max: maxKeys });
  #misses = 0;

  constructor(private readonly serverHash: string) {}

  /** @param code "OK" or the code's name */
  called(provider: string, method: string, code: string, ms: number): void {
    const key = `${method} ${code} ${provider}`;
    let timed = this.#calls.get(key);
    if (!timed) {
      if (this.#calls.size >= maxCallRows) return;
      const labels = {
        ...{ provider_name: provider, method_name: method },
        grpc_status_code: code,
      };
      const row = new Histogram(secondsBounds);
      this.#calls.set(key, (timed = { labels, row }));
    }
    timed.row.observe(ms / 1000);
  }

  keyUsed(
    type: "from_storage" | "to_storage",
    provider: string,
    keyId: string,
    nowMs: number,
  ): void {
    const key = `${type} ${provider} ${keyId}`;
    const use = this.#used.get(key) ?? {
      labels: {
        ...{ transformation_type: type, provider_name: provider },
        ...this.#keyLabels(keyId),
      },
      ...{ count: 0, seconds: 0 },
    };
    use.count++;
    use.seconds = nowMs / 1000;
    this.#used.set(key, use);
  }

  keyReported(provider: string, keyId: string, nowMs: number): void {
    this.#reported.set(`${provider} ${keyId}`, {
      labels: { provider_name: provider, ...this.#keyLabels(keyId) },
      ...{ count: 0, seconds: nowMs / 1000 },
    });
  }

  invalidKeyReported(provider: string, error: string): void {
    const key = `${error} ${provider}`;
    const known = this.#invalid.get(key);
    if (known) known.count++;
    else
      this.#invalid.set(key, {
        labels: { provider_name: provider, error },
        count: 1,
      });
  }

  /** A plug-in was asked to decrypt. */
  missed(): void {
    this.#misses++;
  }

  cached(provider: string, keys: number): void {
    this.#cached.set(provider, keys);
  }

  #keyLabels(keyId: string): Labels {
    let hash = this.#hashes.get(keyId);
    if (hash === undefined) this.#hashes.set(keyId, (hash = hashOf(keyId)));
    return { key_id_hash: hash, apiserver_id_hash: this.serverHash };
  }

  families(): Family[] {
    const calls = new Family(
      `${prefix}_kms_operations_latency_seconds`,
      "histogram",
      "KMS operation duration with gRPC error code status total.",
    );
    for (const { labels, row } of this.#calls.values())
      calls.addHistogram(labels, row);
    const uses = new Family(
      `${prefix}_key_id_hash_total`,
      "counter",
      "Number of times a keyID is used split by transformation type, provider, and apiserver identity.",
    );
    const lastUses = new Family(
      `${prefix}_key_id_hash_last_timestamp_seconds`,
      "gauge",
      "The last time in seconds when a keyID was used.",
    );
    for (const { labels, count, seconds } of this.#used.values()) {
      uses.add(labels, count);
      lastUses.add(labels, seconds);
    }
    const reported = new Family(
      `${prefix}_key_id_hash_status_last_timestamp_seconds`,
      "gauge",
      "The last time in seconds when a keyID was returned by the Status RPC call.",
    );
    for (const { labels, seconds } of this.#reported.values())
      reported.add(labels, seconds);
    const invalid = new Family(
      `${prefix}_invalid_key_id_from_status_total`,
      "counter",
      "Number of times an invalid keyID is returned by the Status RPC call split by error.",
    );
    for (const { labels, count } of this.#invalid.values())
      invalid.add(labels, count);
    const cached = new Family(
      `${prefix}_dek_source_cache_size`,
      "gauge",
      "Number of records in data encryption key (DEK) source cache.",
    );
    for (const [provider, keys] of this.#cached)
      cached.add({ provider_name: provider }, keys);
    const misses = new Family(
      "apiserver_storage_envelope_transformation_cache_misses_total",
      "counter",
      "Total number of cache misses while accessing key decryption key(KEK).",
    ).add({}, this.#misses);
    return [calls, uses, lastUses, reported, invalid, cached, misses];
  }
}
