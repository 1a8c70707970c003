// `orbit apiserver`: the API server alone. Keys and certificates are those of its options; without --tls-cert-file a
// self-signed pair is made in --cert-dir.
import type { CertificatePair } from "../api/pki/certificate.ts";
import * as os from "node:os";
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
import type { OptionValues } from "./options/parse.ts";
import { agentServingPair } from "./parts/agent-certificate.ts";
import { givenServingPair } from "./parts/option-files.ts";
import { startApiPart } from "./parts/api/apiserver.ts";
import { scheduledSnapshots } from "./parts/api/snapshots.ts";
import { chooseStore } from "./parts/api/store.ts";

function servingPair(values: OptionValues): CertificatePair {
  return (
    givenServingPair(values) ??
    agentServingPair({
      directory: values.text("cert-dir"),
      name: "apiserver",
      nodeName: os.hostname(),
      clock: systemClock,
    })
  );
}

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
    serving: servingPair(values),
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
