// `orbit apiserver`: the API server alone. Keys and certificates are those of its options; without --tls-cert-file the pair
// of --cert-dir serves, and one is made there where there is none.
import * as path from "node:path";
import { systemClock } from "../api/clock.ts";
import { beginDaemon } from "./daemon.ts";
import {
  failureMetrics,
  notifySystemd,
  startWatchdog,
  stopOnSignals,
} from "./lifecycle.ts";
import { apiServerOptions } from "./options/apiserver.ts";
import { partServing } from "./parts/serving/serving-source.ts";
import { startApiPart } from "./parts/api/apiserver.ts";
import { scheduledSnapshots } from "./parts/api/snapshots.ts";
import { chooseStore } from "./parts/api/store.ts";

export async function runApiServer(
  argv: readonly string[],
): Promise<number | undefined> {
  const start = await beginDaemon(argv, {
    table: apiServerOptions,
    usage: "orbit apiserver [options]",
    about: "The API server.",
  });
  if (!start) return 0;
  const { values, logger } = start;
  const backend =
    values.optionalText("storage-backend") ??
    (values.list("etcd-servers").length > 0 ? "etcd3" : "memory");
  const chosen = {
    kind: backend === "etcd3" ? "etcd" : backend,
    dataDirectory: path.resolve(values.text("cert-dir")),
    clock: systemClock,
    logger,
    values,
  };
  const snapshots = await scheduledSnapshots(chosen);
  const store = await chooseStore(chosen);
  const api = await startApiPart({
    values,
    store,
    moreMetrics: () => [
      failureMetrics(start.failures),
      ...(snapshots?.metrics() ?? []),
    ],
    serving: partServing(values, "apiserver"),
    pki: undefined,
    clock: systemClock,
    logger,
  });
  snapshots?.start();
  const stopWatchdog = startWatchdog(logger, { fatal: () => store.fatal });
  stopOnSignals(
    {
      async stop() {
        stopWatchdog();
        await snapshots?.stop();
        await api.stop();
      },
    },
    logger,
  );
  start.ready({ port: api.server.port });
  notifySystemd("READY=1", logger);
  return undefined;
}
