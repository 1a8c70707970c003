// The metrics of encryption at rest with the reference's names: transformations of values, by resource and prefix, and the
// reloads of the configuration. Names of keys come from configurations that change, so rows are bounded: later ones are not
// counted.
import { qualifiedResource } from "../../api/object.ts";
import {
  Counters,
  exponentialBounds,
  Histograms,
} from "../../api/metrics/counted.ts";
import { Family } from "../../api/metrics/family.ts";
import type { ValuePlace } from "../registry/value-seal.ts";
import { hashOf, KmsMetrics } from "./kms/kms-metrics.ts";

type Direction = "from_storage" | "to_storage";

const reloadPrefix = "apiserver_encryption_config_controller_automatic_reload";

export class EncryptionMetrics {
  readonly #operations = new Counters({
    name: "apiserver_storage_transformation_operations_total",
    help: "Total number of transformations of stored values split by resource, direction, prefix of the transformer and status.",
    labels: ["resource", "transformation_type", "transformer_prefix", "status"],
  });
  readonly #seconds = new Histograms(
    {
      name: "apiserver_storage_transformation_duration_seconds",
      help: "Latencies in seconds of value transformation operations.",
      labels: ["transformation_type", "transformer_prefix"],
    },
    exponentialBounds(5e-6, 2, 25),
  );
  readonly #reloads = new Counters({
    name: `${reloadPrefix}s_total`,
    help: "Total number of reload successes and failures of encryption configuration split by apiserver identity.",
    labels: ["status", "apiserver_id_hash"],
  });
  readonly #reloadTimes = new Counters(
    {
      name: `${reloadPrefix}_last_timestamp_seconds`,
      help: "Timestamp of the last successful or failed automatic reload of encryption configuration split by apiserver identity.",
      labels: ["status", "apiserver_id_hash"],
    },
    "gauge",
  );
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
    this.#operations.count(name, type, prefix, status);
    const seconds = (performance.now() - began) / 1000;
    if (status === "OK") this.#seconds.observe(seconds, type, prefix);
  }

  reloaded(status: "success" | "failure", nowMs: number): void {
    this.#reloads.count(status, this.#serverHash);
    this.#reloadTimes.set(nowMs / 1000, status, this.#serverHash);
  }

  families(): Family[] {
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
      this.#operations.family(),
      this.#seconds.family(),
      this.#reloads.family(),
      this.#reloadTimes.family(),
      applied,
      ...this.kms.families(),
    ];
  }
}
