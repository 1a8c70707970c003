// Which store keeps the state: memory, the embedded file store, or etcd.
import { trimEnd, trimStart } from "../../../api/patterns/trim.ts";
import * as path from "node:path";
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import type { OptionValues } from "../../options/parse.ts";
import type { Store } from "../../../storage/store.ts";
import { UsageError } from "../../options/table.ts";
import { readAuthorityFile, readPair } from "../option-files.ts";

interface StoreChoice {
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
  values,
}: StoreChoice): Promise<Store> {
  switch (kind) {
    case "memory":
      return (
        await import("../../../storage/memory/memory-store.ts")
      ).createMemoryStore({ clock });
    case "file":
      return (
        await import("../../../storage/file/file-store.ts")
      ).createFileStore({
        directory: path.join(dataDirectory, "store"),
        logger: logger.child({ part: "store" }),
        clock,
      });
    case "etcd":
      return etcdStore(values, clock, logger.child({ part: "store" }));
    default:
      throw new UsageError(
        `invalid argument "${kind}" for "--store": ${kind} is not there yet`,
      );
  }
}

async function etcdStore(
  values: OptionValues,
  clock: Clock,
  logger: Logger,
): Promise<Store> {
  const servers = values.list("etcd-servers");
  if (servers.length === 0)
    throw new UsageError("--etcd-servers is needed for the store etcd");
  for (const server of servers) {
    if (!/^https?:\/\/[^/]+\/?$/.test(server))
      throw new UsageError(
        `invalid argument "${server}" for "--etcd-servers": must be http://HOST:PORT or https://HOST:PORT`,
      );
  }
  const caFile = values.optionalText("etcd-cafile");
  const ca = caFile && Buffer.from(readAuthorityFile("etcd-cafile", caFile));
  const client = readPair(values, "etcd-certfile", "etcd-keyfile");
  const { createEtcdStore } =
    await import("../../../storage/etcd/etcd-store.ts");
  return createEtcdStore({
    servers,
    tls: {
      ...(ca ? { ca } : {}),
      ...(client
        ? {
            certificate: Buffer.from(client.certificate),
            key: Buffer.from(client.key),
          }
        : {}),
    },
    prefix: `/${trimStart(trimEnd(values.text("etcd-prefix"), "/"), "/")}`,
    compactionIntervalMs: values.number("etcd-compaction-interval"),
    ...(values.has("storage-initialization-timeout")
      ? {
          initializationTimeoutMs: values.number(
            "storage-initialization-timeout",
          ),
        }
      : {}),
    databaseSizeIntervalMs: values.has("etcd-db-metric-poll-interval")
      ? values.number("etcd-db-metric-poll-interval")
      : 0,
    ...(values.has("lease-reuse-duration-seconds")
      ? { leaseReuseSeconds: values.number("lease-reuse-duration-seconds") }
      : {}),
    clock,
    logger,
  });
}
