// `orbit apiserver`: the API server alone. Keys and certificates are those of its options; without --tls-cert-file a
// self-signed pair is made in --cert-dir.
import * as os from "node:os";
import * as path from "node:path";
import { systemClock } from "../api/clock.ts";
import {
  guardProcess,
  notifySystemd,
  startWatchdog,
  stopOnSignals,
} from "./lifecycle.ts";
import { createLogger } from "./logging.ts";
import { apiServerOptions } from "./options/apiserver.ts";
import { helpText, wantsHelp } from "./options/help.ts";
import { parseOptions, type OptionValues } from "./options/parse.ts";
import {
  agentServingPair,
  givenServingPair,
} from "./parts/agent-certificate.ts";
import { startApiPart } from "./parts/apiserver.ts";
import { chooseStore } from "./parts/store.ts";

function servingPair(values: OptionValues): {
  certificate: string;
  key: string;
} {
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
  const startedMs = performance.now();
  if (wantsHelp(argv, apiServerOptions)) {
    process.stdout.write(
      helpText(
        "orbit apiserver [options]",
        "The API server.",
        apiServerOptions,
      ),
    );
    return 0;
  }
  const values = parseOptions(apiServerOptions, argv);
  const logger = createLogger({
    format: values.text("logging-format") as "text" | "json",
    verbosity: values.number("v"),
  });
  guardProcess(logger);
  const unused = values.withoutEffect();
  if (unused.length > 0)
    logger.warn(
      { options: unused },
      "these options are accepted but have no effect yet",
    );
  const backend =
    values.optionalText("storage-backend") ??
    (values.list("etcd-servers").length > 0 ? "etcd3" : "memory");
  const store = await chooseStore({
    kind: backend === "etcd3" ? "etcd" : backend,
    dataDirectory: path.resolve(values.text("cert-dir")),
    clock: systemClock,
    logger,
    values,
  });
  const api = await startApiPart({
    values,
    store,
    serving: servingPair(values),
    pki: undefined,
    clock: systemClock,
    logger,
  });
  const stopWatchdog = startWatchdog(logger);
  stopOnSignals(
    {
      async stop() {
        stopWatchdog();
        await api.stop();
      },
    },
    logger,
  );
  logger.info(
    { port: api.server.port },
    `ready in ${((performance.now() - startedMs) / 1000).toFixed(2)}s`,
  );
  notifySystemd("READY=1", logger);
  return undefined;
}
