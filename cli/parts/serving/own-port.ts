// The HTTPS port of a part that runs alone (controllers, scheduler), as its options describe it: address, certificate,
// who may read what, metrics. Port 0 means none.
import type { Logger } from "pino";
import type { OptionValues } from "../../options/parse.ts";
import { emulatedVersionOf, gatesOfPart } from "../api/emulated-version.ts";
import { delegatedAccess } from "../delegated-access.ts";
import { clientAuthentication } from "./client-authentication.ts";
import {
  startPartPort,
  type PartPort,
  type PartPortOptions,
  type PortTls,
} from "../../../http-kit/part-port.ts";
import { DependencyError } from "../../options/table.ts";
import { metricsFilter } from "../metrics-options.ts";
import type { PartMetrics } from "../part-metrics.ts";
import { partServingPair } from "./made-pair.ts";
import { programFamilies } from "../program-families.ts";
import { servingTlsOf } from "./serving-tls.ts";

function portTls(
  values: OptionValues,
  name: string,
  clientCa: string | undefined,
): PortTls {
  const pair = partServingPair(values, name);
  return {
    certificate: pair.certificate,
    key: pair.key,
    ...(clientCa ? { clientCa } : {}),
  };
}

/** @param part its name in the made certificate's file, how messages call the port, and its metrics */
export async function openOwnPort(
  values: OptionValues,
  logger: Logger,
  part: {
    name: string;
    what: string;
    metrics: PartMetrics;
    moreMetrics?: PartPortOptions["moreMetrics"];
  },
): Promise<{ stop(): Promise<void> }> {
  const access = await delegatedAccess(values, logger);
  const port = values.number("secure-port");
  let health: PartPort | undefined;
  try {
    const filter = values.has("disabled-metrics")
      ? await metricsFilter(values)
      : undefined;
    const gates = gatesOfPart(values, () => undefined);
    const program = programFamilies(values, gates, emulatedVersionOf(values));
    const clients = await clientAuthentication(values, access.reviewer, logger);
    if (port > 0)
      health = await startPartPort({
        address: values.text("bind-address"),
        port,
        tls: portTls(values, part.name, clients.clientCa),
        servingTls: servingTlsOf(values, (message) => logger.warn(message)),
        alwaysAllow: values.list("authorization-always-allow-paths"),
        ...access,
        ...(clients.frontProxy ? { frontProxy: clients.frontProxy } : {}),
        healthy: () => Promise.resolve(),
        ...(part.moreMetrics ? { moreMetrics: part.moreMetrics } : {}),
        metrics: () => [...program(), ...part.metrics.families()],
        ...(filter ? { metricsFilter: filter } : {}),
        profiling: values.has("profiling") && values.flag("profiling"),
        what: part.what,
        logger,
      }).catch((error: Error) => {
        throw new DependencyError(error.message);
      });
  } catch (error) {
    await access.close();
    throw error;
  }
  return {
    async stop() {
      await health?.stop();
      await access.close();
    },
  };
}
