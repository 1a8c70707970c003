// `orbit store snapshot save|restore|status FILE`, `snapshot list|prune` for the scheduled ones, `orbit store check` and
// `orbit store migrate`: backups of the state, while a server uses the store or not, whether a file store's log is sound,
// and moving the state between the file store and etcd.
import * as fs from "node:fs";
import * as path from "node:path";
import { formatTime, systemClock } from "../api/clock.ts";
import type { Snapshot, SnapshotStatus } from "../storage/snapshot.ts";
import { StoreError } from "../storage/store.ts";
import { group, option } from "./options/build-table.ts";
import { helpText, wantsHelp } from "./options/help.ts";
import { parseOptions, type OptionValues } from "./options/parse.ts";
import { snapshotOptions } from "./options/shared.ts";
import {
  DependencyError,
  UsageError,
  type OptionTable,
} from "./options/table.ts";
import { snapshotDirectory } from "./parts/api/snapshots.ts";

const kinds = ["file", "etcd"];

const table: OptionTable = [
  group(
    "Options",
    option(
      "data-dir",
      "string",
      "/var/lib/orbit",
      "Data directory of the server whose file store is meant.",
    ),
    option("store", "string", "file", "Which store is saved or restored.", {
      values: kinds,
    }),
    option("to", "string", "etcd", "Where migrate moves the state.", {
      values: kinds,
    }),
    option(
      "replace",
      "bool",
      "false",
      "Restore over a file store that holds something.",
    ),
    ...snapshotOptions("").options.filter(
      ({ name }) => name !== "snapshot-schedule",
    ),
    option("etcd-servers", "strings", "", "URLs of etcd.", {
      aliases: ["store-servers"],
    }),
    option("etcd-cafile", "string", "", "CA of etcd.", {
      aliases: ["store-cafile"],
    }),
    option("etcd-certfile", "string", "", "Client certificate for etcd.", {
      aliases: ["store-certfile"],
    }),
    option("etcd-keyfile", "string", "", "Its key.", {
      aliases: ["store-keyfile"],
    }),
    option("etcd-prefix", "string", "/registry", "Prefix of all keys.", {
      aliases: ["store-prefix"],
    }),
    option(
      "etcd-compaction-interval",
      "duration",
      "0s",
      "Not used here: these commands compact nothing.",
      { hidden: true },
    ),
  ),
];

const usage =
  "orbit store snapshot save|restore|status FILE | orbit store snapshot list|prune | orbit store check | orbit store migrate --store KIND --to KIND";

export async function runStore(argv: readonly string[]): Promise<number> {
  if (wantsHelp(argv, table) || argv.length === 0) {
    process.stdout.write(
      helpText(
        usage,
        "Back up, restore and move the state. Saving works while a server runs; restoring and migrating to a file store do not.",
        table,
      ),
    );
    return 0;
  }
  const values = parseOptions(table, argv, { operands: true });
  const [command, verb, file, ...more] = values.operands;
  try {
    if (command === "migrate" && verb === undefined) return await move(values);
    if (command === "check" && verb === undefined) return await check(values);
    if (command !== "snapshot" || more.length > 0)
      throw new UsageError(`unknown command; there are: ${usage}`);
    if (verb === "list" || verb === "prune") {
      if (file)
        throw new UsageError(`snapshot ${verb} takes no file: ${usage}`);
      return await (verb === "list" ? list(values) : prune(values));
    }
    if (verb !== "save" && verb !== "restore" && verb !== "status")
      throw new UsageError(
        `unknown command "snapshot ${verb ?? ""}"; there are: save, restore, status, list, prune`,
      );
    if (!file) throw new UsageError(`snapshot ${verb} needs a file: ${usage}`);
    const snapshots = await import("../storage/snapshot.ts");
    if (verb === "status") {
      print((await snapshots.loadSnapshot(snapshotFile(values, file))).status);
    } else if (verb === "save") {
      print(await snapshots.saveSnapshot(await read(values, "store"), file));
    } else {
      const loaded = await snapshots.loadSnapshot(snapshotFile(values, file));
      await write(values, "store", loaded);
      print(loaded.status);
    }
    return 0;
  } catch (error) {
    if (error instanceof StoreError) throw new DependencyError(error.message);
    if ((error as NodeJS.ErrnoException).code === "ENOENT")
      throw new UsageError((error as Error).message);
    throw error;
  }
}

function print({ revision, keys, bytes, sha256 }: SnapshotStatus): void {
  process.stdout.write(
    `revision ${revision}\nkeys     ${keys}\nbytes    ${bytes}\nsha256   ${sha256}\n`,
  );
}

/** Fails when a server could not start on the log. */
async function check(values: OptionValues): Promise<number> {
  const { checkStoreDirectory } = await import("../storage/file/check.ts");
  const report = await checkStoreDirectory(storeDirectory(values));
  const { file, format, bytes, frames, revision, keys, tornBytes } = report;
  process.stdout.write(
    `log      ${file}\nformat   ${format}\nbytes    ${bytes}\nframes   ${frames}\nrevision ${revision}\nkeys     ${keys}\n`,
  );
  if (tornBytes > 0)
    process.stdout.write(
      `torn     the last ${tornBytes} bytes: a write under way, or one that a crash ended; a start cuts them off and keeps a copy\n`,
    );
  for (const { fromByte, toByte, inDanger } of report.damages)
    process.stdout.write(
      `damaged  bytes ${fromByte} to ${toByte}; in danger: ${inDanger}\n`,
    );
  if (report.damages.length > 0)
    throw new DependencyError(
      `${file} is damaged: a server refuses to start on it. "orbit store snapshot restore FILE --replace" puts a snapshot in its place`,
    );
  process.stdout.write("sound    every frame\n");
  return 0;
}

async function move(values: OptionValues): Promise<number> {
  if (values.text("store") === values.text("to"))
    throw new UsageError("--store and --to must be different kinds");
  const snapshot = await read(values, "store");
  await write(values, "to", snapshot);
  process.stdout.write(`moved ${snapshot.entries.length} keys\n`);
  return 0;
}

/** A file, or the name of a scheduled snapshot as `list` shows it. */
function snapshotFile(values: OptionValues, given: string): string {
  if (path.basename(given) !== given || fs.existsSync(given)) return given;
  const scheduled = path.join(
    snapshotDirectory(values, values.text("data-dir")),
    given,
  );
  return fs.existsSync(scheduled) ? scheduled : given;
}

/** Every scheduled snapshot in the directory, other servers' too; the newest last. */
async function list(values: OptionValues): Promise<number> {
  const { listSnapshots } =
    await import("../storage/snapshots/snapshot-directory.ts");
  const rows = listSnapshots(
    snapshotDirectory(values, values.text("data-dir")),
  ).map(({ name, takenAtMs, revision, bytes }) => [
    name,
    formatTime(takenAtMs),
    String(revision),
    String(bytes),
  ]);
  const table = [["NAME", "TAKEN", "REVISION", "BYTES"], ...rows];
  const widths = [0, 1, 2].map((column) =>
    Math.max(...table.map((row) => row[column]!.length)),
  );
  for (const row of table)
    process.stdout.write(
      `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("   ")}
`,
    );
  return 0;
}

/** Removes this data directory's oldest scheduled snapshots and prints their names. */
async function prune(values: OptionValues): Promise<number> {
  const { pruneSnapshots, snapshotOwner } =
    await import("../storage/snapshots/snapshot-directory.ts");
  const removed = await pruneSnapshots(
    snapshotDirectory(values, values.text("data-dir")),
    snapshotOwner(storeDirectory(values)),
    values.number("snapshot-retention"),
  );
  for (const name of removed)
    process.stdout.write(`${name}
`);
  return 0;
}

function storeDirectory(values: OptionValues): string {
  return path.join(path.resolve(values.text("data-dir")), "store");
}

async function openEtcd(values: OptionValues) {
  const [{ chooseStore }, { createLogger }] = await Promise.all([
    import("./parts/api/store.ts"),
    import("./logging.ts"),
  ]);
  const store = await chooseStore({
    kind: "etcd",
    dataDirectory: values.text("data-dir"),
    clock: systemClock,
    logger: createLogger({ format: "text", verbosity: -1 }),
    values,
  });
  await store.start();
  return store;
}

async function read(
  values: OptionValues,
  which: "store" | "to",
): Promise<Snapshot> {
  const { eventTtl, readStore, readStoreDirectory } =
    await import("../storage/transfer.ts");
  if (values.text(which) === "file")
    return readStoreDirectory(storeDirectory(values));
  const store = await openEtcd(values);
  try {
    return await readStore(store, eventTtl, systemClock.now());
  } finally {
    await store.stop();
  }
}

async function write(
  values: OptionValues,
  which: "store" | "to",
  snapshot: Snapshot,
): Promise<void> {
  const { restoreToDirectory, restoreToStore } =
    await import("../storage/transfer.ts");
  if (values.text(which) === "file") {
    await restoreToDirectory(
      snapshot,
      storeDirectory(values),
      values.flag("replace"),
    );
    return;
  }
  const { sharedSnapshot } = await import("./shared-snapshot.ts");
  const store = await openEtcd(values);
  try {
    await restoreToStore(sharedSnapshot(snapshot), store, systemClock.now());
  } finally {
    await store.stop();
  }
}
