// Scheduled snapshots of the file store: from --snapshot-schedule, --snapshot-retention and --snapshot-dir to a running
// scheduler and its metrics. Other stores refuse the options: nothing of memory is on a disk, and etcd has tools of its
// own for the whole of its state (and may hold other prefixes' keys).
import * as path from "node:path";
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import { Family } from "../../../api/metrics/family.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { makeDirectory } from "../directories.ts";
import type { SnapshotCounts } from "../../../storage/snapshots/snapshot-scheduler.ts";

interface ScheduledSnapshots {
  start(): void;
  stop(): Promise<void>;
  metrics(): Family[];
}

const refusals: Readonly<Record<string, string>> = {
  memory:
    "a memory store keeps nothing that could be restored; use a file store",
  etcd: "etcd is saved with its own tools, or by `orbit store snapshot save --store etcd`",
};

const optionNames = ["snapshot-schedule", "snapshot-retention", "snapshot-dir"];

/** Where snapshots of a data directory go when --snapshot-dir is not given. */
export function snapshotDirectory(
  values: OptionValues,
  dataDirectory: string,
): string {
  return path.resolve(
    values.optionalText("snapshot-dir") ??
      path.join(dataDirectory, "snapshots"),
  );
}

/**
 * Undefined when no snapshots are scheduled. Rejects with a UsageError naming the option that is wrong or that the store
 * does not support.
 */
export async function scheduledSnapshots(options: {
  values: OptionValues;
  /** Of the store: file, memory or etcd. */
  kind: string;
  dataDirectory: string;
  clock: Clock;
  logger: Logger;
}): Promise<ScheduledSnapshots | undefined> {
  const { values, kind, dataDirectory, clock, logger } = options;
  if (kind !== "file") {
    const given = optionNames.find(
      (name) => values.isSet(name) && values.optionalText(name) !== undefined,
    );
    if (given) throw new UsageError(`--${given}: ${refusals[kind]}`);
    return undefined;
  }
  const expression = values.optionalText("snapshot-schedule");
  if (expression === undefined) return undefined;
  const [
    { parseCronSchedule },
    { SnapshotScheduler },
    { snapshotOwner },
    { takeInWorker },
  ] = await Promise.all([
    import("../../../storage/snapshots/cron-schedule.ts"),
    import("../../../storage/snapshots/snapshot-scheduler.ts"),
    import("../../../storage/snapshots/snapshot-directory.ts"),
    import("../../../storage/snapshots/take-in-worker.ts"),
  ]);
  const schedule = await parseCronSchedule(expression).catch(
    (error: unknown) => {
      throw new UsageError(
        `invalid argument "${expression}" for "--snapshot-schedule": ${(error as Error).message}`,
      );
    },
  );
  const directory = snapshotDirectory(values, dataDirectory);
  makeDirectory("snapshot-dir", directory, 0o700);
  const storeDirectory = path.join(dataDirectory, "store");
  const scheduler = new SnapshotScheduler({
    schedule,
    take: (takenAtMs, signal) =>
      takeInWorker(
        {
          storeDirectory,
          directory,
          owner: snapshotOwner(storeDirectory),
          keep: values.number("snapshot-retention"),
          takenAtMs,
        },
        signal,
      ),
    clock,
    logger: logger.child({ part: "snapshots" }),
  });
  return {
    start: () => scheduler.start(),
    stop: () => scheduler.stop(),
    metrics: () => familiesOf(scheduler.counts),
  };
}

function familiesOf(counts: SnapshotCounts): Family[] {
  return [
    new Family(
      "orbit_store_snapshots_total",
      "counter",
      "Scheduled snapshots by result; skipped: one was still under way.",
    )
      .add({ result: "taken" }, counts.taken)
      .add({ result: "failed" }, counts.failed)
      .add({ result: "skipped" }, counts.skipped),
    new Family(
      "orbit_store_snapshot_prune_failures_total",
      "counter",
      "Snapshots whose surplus could not be removed.",
    ).add({}, counts.pruneFailed),
    new Family(
      "orbit_store_snapshot_last_taken_timestamp_seconds",
      "gauge",
      "When the last scheduled snapshot was taken; 0: none since the start.",
    ).add({}, (counts.lastTakenAtMs ?? 0) / 1000),
    new Family(
      "orbit_store_snapshot_last_duration_seconds",
      "gauge",
      "How long the last scheduled snapshot took.",
    ).add({}, counts.lastDurationMs / 1000),
    new Family(
      "orbit_store_snapshot_last_size_bytes",
      "gauge",
      "Size of the last scheduled snapshot.",
    ).add({}, counts.lastBytes),
  ];
}
