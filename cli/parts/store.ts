// Which store keeps the state: memory, the embedded file store, or etcd.
import * as path from "node:path";
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { OptionValues } from "../options/parse.ts";
import type { Store } from "../../storage/store.ts";
import { UsageError } from "../options/table.ts";

export interface StoreChoice {
  kind: string;
  dataDirectory: string;
  clock: Clock;
  logger: Logger;
  values: OptionValues;
}

export async function chooseStore({
  kind,
  dataDirectory,
  clock,
  logger,
}: StoreChoice): Promise<Store> {
  switch (kind) {
    case "memory":
      return (
        await import("../../storage/memory/memory-store.ts")
      ).createMemoryStore({ clock });
    case "file":
      return (await import("../../storage/file/file-store.ts")).createFileStore(
        {
          directory: path.join(dataDirectory, "store"),
          logger: logger.child({ part: "store" }),
          clock,
        },
      );
    default:
      throw new UsageError(
        `invalid argument "${kind}" for "--store": ${kind} is not there yet`,
      );
  }
}
