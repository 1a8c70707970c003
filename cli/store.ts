// `orbit store snapshot save|restore|status FILE` and `orbit store migrate`: backups of the state, while a server uses the
// store or not, and moving it between the file store and etcd.
import * as path from "node:path";
import { systemClock } from "../api/clock.ts";
import type { Snapshot, SnapshotStatus } from "../storage/snapshot.ts";
import { StoreError } from "../storage/store.ts";
import { group, option } from "./options/build-table.ts";
import { helpText, wantsHelp } from "./options/help.ts";
import { parseOptions, type OptionValues } from "./options/parse.ts";
import {
  DependencyError,
  UsageError,
  type OptionTable,
} from "./options/table.ts";

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
  "orbit store snapshot save|restore|status FILE | orbit store migrate --store KIND --to KIND";

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
    if (command !== "snapshot" || more.length > 0)
      throw new UsageError(`unknown command; there are: ${usage}`);
    if (verb !== "save" && verb !== "restore" && verb !== "status")
      throw new UsageError(
        `unknown command "snapshot ${verb ?? ""}"; there are: save, restore, status`,
      );
    if (!file) throw new UsageError(`snapshot ${verb} needs a file: ${usage}`);
    const snapshots = await import("../storage/snapshot.ts");
    if (verb === "status") {
      print(snapshots.loadSnapshot(file).status);
    } else if (verb === "save") {
      print(await snapshots.saveSnapshot(await read(values, "store"), file));
    } else {
      const loaded = snapshots.loadSnapshot(file);
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

async function move(values: OptionValues): Promise<number> {
  if (values.text("store") === values.text("to"))
    throw new UsageError("--store and --to must be different kinds");
  const snapshot = await read(values, "store");
  await write(values, "to", snapshot);
  process.stdout.write(`moved ${snapshot.entries.length} keys\n`);
  return 0;
}

function storeDirectory(values: OptionValues): string {
  return path.join(path.resolve(values.text("data-dir")), "store");
}

async function openEtcd(values: OptionValues) {
  const [{ chooseStore }, { createLogger }] = await Promise.all([
    import("./parts/store.ts"),
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
    await import("../storage/snapshot.ts");
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
    await import("../storage/snapshot.ts");
  if (values.text(which) === "file") {
    await restoreToDirectory(
      snapshot,
      storeDirectory(values),
      values.flag("replace"),
    );
    return;
  }
  const { inSharedForm } =
    await import("../apiserver-lite/registry/value-codec.ts");
  const store = await openEtcd(values);
  try {
    await restoreToStore(
      {
        ...snapshot,
        entries: snapshot.entries.map((entry) => ({
          ...entry,
          value: inSharedForm(entry.value),
        })),
      },
      store,
      systemClock.now(),
    );
  } finally {
    await store.stop();
  }
}
