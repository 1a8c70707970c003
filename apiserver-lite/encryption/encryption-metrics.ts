// The metrics of encryption at rest with the reference's names: transformations of values, by resource and prefix, and the
// reloads of the configuration. Names of keys come from configurations that change, so rows are bounded: later ones are not
// counted.
import { qualifiedResource } from "../../api/object.ts";
import { Family, type Labels } from "../../api/metrics/family.ts";
import { Histogram } from "../../api/metrics/histogram.ts";
import type { ValuePlace } from "../registry/value-seal.ts";
import { hashOf, KmsMetrics } from "./kms/kms-metrics.ts";

type Direction = "from_storage" | "to_storage";

const maxRows = 1000;
const secondsBounds = Array.from({ length: 25 }, (_, at) => 5e-6 * 2 ** at);
const reloadPrefix = "apiserver_encryption_config_controller_automatic_reload";

export class EncryptionMetrics {
  readonly #operations = new Map<string, { labels: Labels; count: number }>();
  readonly #seconds = new Map<string, { labels: Labels; row: Histogram }>();
  readonly #reloads = new Map<string, { count: number; seconds: number }>();
  readonly #serverHash: string;
  #configHash: string | undefined;
  readonly kms: KmsMetrics;

  /** @param serverId of the API server */
  constructor(serverId: string) {
    this.#serverHash = hashOf(serverId);
    this.kms = new KmsMetrics(this.#serverHash);
  }

  /** A configuration is in force. */
  applied(text: string): void {
    this.#configHash = hashOf(text);
  }

  /** @param status "OK" or why it failed @param began of `performance.now()` */
  transformed(
    { group, resource }: ValuePlace,
    type: Direction,
    prefix: string,
    status: string,
    began: number,
  ): void {
    const name = qualifiedResource({ group, resource });
    const key = `${name} ${type} ${status} ${prefix}`;
    let row = this.#operations.get(key);
    if (!row && this.#operations.size < maxRows) {
      const labels = {
        ...{ resource: name, transformation_type: type },
        ...{ transformer_prefix: prefix, status },
      };
      this.#operations.set(key, (row = { labels, count: 0 }));
    }
    if (row) row.count++;
    if (status === "OK")
      this.#timed(type, prefix, (performance.now() - began) / 1000);
  }

  #timed(type: Direction, prefix: string, seconds: number): void {
    const key = `${type} ${prefix}`;
    let timed = this.#seconds.get(key);
    if (!timed && this.#seconds.size < maxRows) {
      const labels = { transformation_type: type, transformer_prefix: prefix };
      const row = new Histogram(secondsBounds);
      this.#seconds.set(key, (timed = { labels, row }));
    }
    timed?.row.observe(seconds);
  }

  reloaded(status: "success" | "failure", nowMs: number): void {
    const count = (this.#reloads.get(status)?.count ?? 0) + 1;
    this.#reloads.set(status, { count, seconds: nowMs / 1000 });
  }

  families(): Family[] {
    const operations = new Family(
      "apiserver_storage_transformation_operations_total",
      "counter",
      "Total number of transformations of stored values split by resource, direction, prefix of the transformer and status.",
    );
    for (const { labels, count } of this.#operations.values())
      operations.add(labels, count);
    const seconds = new Family(
      "apiserver_storage_transformation_duration_seconds",
      "histogram",
      "Latencies in seconds of value transformation operations.",
    );
    for (const { labels, row } of this.#seconds.values())
      seconds.addHistogram(labels, row);
    const reloads = new Family(
      `${reloadPrefix}s_total`,
      "counter",
      "Total number of reload successes and failures of encryption configuration split by apiserver identity.",
    );
    const times = new Family(
      `${reloadPrefix}_last_timestamp_seconds`,
      "gauge",
      "Timestamp of the last successful or failed automatic reload of encryption configuration split by apiserver identity.",
    );
    for (const [status, reload] of this.#reloads) {
      const labels = { status, apiserver_id_hash: this.#serverHash };
      reloads.add(labels, reload.count);
      times.add(labels, reload.seconds);
    }
    const applied = new Family(
      "apiserver_encryption_config_controller_last_config_info",
      "gauge",
      "Information about the last applied encryption configuration with hash as label, split by apiserver identity.",
    );
    if (this.#configHash !== undefined)
      applied.add(
        { apiserver_id_hash: this.#serverHash, hash: this.#configHash },
        1,
      );
    return [
      ...[operations, seconds, reloads, times, applied],
      ...this.kms.families(),
    ];
  }
}
