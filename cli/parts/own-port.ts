// The HTTPS port of a part that runs alone (controllers, scheduler), as its options describe it: address, certificate,
// who may read what, metrics. Port 0 means none.
import * as os from "node:os";
import type { Logger } from "pino";
import { systemClock } from "../../api/clock.ts";
import type { OptionValues } from "../options/parse.ts";
import { agentServingPair } from "./agent-certificate.ts";
import { givenServingPair, readAuthorityFile } from "./option-files.ts";
import { delegatedAccess } from "./delegated-access.ts";
import { startHealthPort, type PortTls } from "./health-port.ts";
import type { PartMetrics } from "./part-metrics.ts";
import { servingTlsOf } from "./serving-tls.ts";

/** The serving pair of --tls-cert-file, else one made and kept in --cert-dir. */
function portTls(values: OptionValues, name: string): PortTls {
  const pair =
    givenServingPair(values) ??
    agentServingPair({
      directory: values.text("cert-dir"),
      name,
      nodeName: os.hostname(),
      clock: systemClock,
    });
  const clientCaFile = values.optionalText("client-ca-file");
  return {
    certificate: pair.certificate,
    key: pair.key,
    ...(clientCaFile
      ? { clientCa: readAuthorityFile("client-ca-file", clientCaFile) }
      : {}),
  };
}

/** @param part its name in the made certificate's file, how messages call the port, and its metrics */
export async function openOwnPort(
  values: OptionValues,
  logger: Logger,
  part: { name: string; what: string; metrics: PartMetrics },
): Promise<{ stop(): Promise<void> }> {
  const access = await delegatedAccess(values, logger);
  const port = values.number("secure-port");
  const health =
    port > 0
      ? await startHealthPort({
          address: values.text("bind-address"),
          port,
          tls: portTls(values, part.name),
          servingTls: servingTlsOf(values, (message) => logger.warn(message)),
          alwaysAllow: values.list("authorization-always-allow-paths"),
          ...access,
          healthy: () => Promise.resolve(),
          metrics: () => part.metrics.text(),
          what: part.what,
        })
      : undefined;
  return {
    async stop() {
      await health?.stop();
      await access.close();
    },
  };
}
