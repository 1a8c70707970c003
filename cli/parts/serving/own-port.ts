// The HTTPS port of a part that runs alone (controllers, scheduler), as its options describe it: address, certificate,
// who may read what, metrics. Port 0 means none.
import type { Logger } from "pino";
import { systemClock, type Clock } from "../../../api/clock.ts";
import type { OptionValues } from "../../options/parse.ts";
import { emulatedVersionOf, gatesOfPart } from "../api/emulated-version.ts";
import { delegatedAccess } from "../delegated-access.ts";
import {
  clientAuthentication,
  givenAuthorities,
} from "./client-authentication.ts";
import {
  startPartPort,
  type PartPort,
  type PartPortOptions,
  type PortTls,
} from "../../../http-kit/part-port.ts";
import { DependencyError } from "../../options/table.ts";
import { metricsFilter } from "../metrics-options.ts";
import type { PartMetrics } from "../part-metrics.ts";
import type { PublishedAuthentication } from "../../../client/access/authentication-config.ts";
import { FollowedCertificates } from "./followed-certificates.ts";
import {
  partServing,
  trustFiles,
  type ServingSource,
} from "./serving-source.ts";
import { programFamilies } from "../program-families.ts";
import { namedPairs, servingTlsOf } from "./serving-tls.ts";

/**
 * What the files of the options say at the moment.
 * @param published whose clients and front proxies are believed where no option says so
 */
function portTls(
  values: OptionValues,
  source: ServingSource,
  published: PublishedAuthentication,
): PortTls {
  const {
    clientCa = published.clientCa,
    frontProxyCa = published.requestHeader?.authority,
  } = givenAuthorities(values);
  const { certificate, key } = source.read();
  return {
    ...{ certificate, key, named: namedPairs(values) },
    ...(clientCa ? { clientCa } : {}),
    ...(frontProxyCa ? { frontProxyCa } : {}),
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
    clock?: Clock;
  },
): Promise<{ stop(): Promise<void> }> {
  const access = await delegatedAccess(values, logger);
  const port = values.number("secure-port");
  let health: PartPort | undefined;
  let followed: FollowedCertificates<PortTls> | undefined;
  let unfollow: (() => void) | undefined;
  try {
    const filter = values.has("disabled-metrics")
      ? await metricsFilter(values)
      : undefined;
    const gates = gatesOfPart(values, () => undefined);
    const program = programFamilies(values, gates, emulatedVersionOf(values));
    const clients = await clientAuthentication(values, access.reviewer, logger);
    if (port > 0) {
      const source = partServing(values, part.name);
      let published: PublishedAuthentication = clients;
      const read = (): PortTls => portTls(values, source, published);
      const opened = await startPartPort({
        address: values.text("bind-address"),
        port,
        tls: read(),
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
      health = opened;
      followed = new FollowedCertificates({
        files: [...source.files, ...trustFiles(values)],
        ...{ read, clock: part.clock ?? systemClock, logger },
        changed: (tls) => opened.updateTls(tls),
      });
      await followed.start();
      unfollow = clients.follow?.((found) => {
        published = found;
        followed?.renew();
      });
    }
  } catch (error) {
    await health?.stop();
    await access.close();
    throw error;
  }
  return {
    async stop() {
      unfollow?.();
      followed?.stop();
      await health?.stop();
      await access.close();
    },
  };
}
