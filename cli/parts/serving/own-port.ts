// The HTTPS port of a part that runs alone (controllers, scheduler), as its options describe it: address, certificate,
// who may read what, metrics. Port 0 means none.
import type { Logger } from "pino";
import { systemClock, type Clock } from "../../../api/clock.ts";
import type { OptionValues } from "../../options/parse.ts";
import { emulatedVersionOf, gatesOfPart } from "../api/emulated-version.ts";
import { delegatedAccess } from "../delegated-access.ts";
import type { CertificatePair } from "../../../api/pki/certificate.ts";
import type { NamedPair } from "../../../api/pki/serving-tls.ts";
import {
  believed,
  clientAuthentication,
  type GivenAuthorities,
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
import { FollowedCertificates } from "./followed-certificates.ts";
import { authorityFiles, namedFiles, partServing } from "./serving-source.ts";
import { programFamilies } from "../program-families.ts";
import { servingTlsOf } from "./serving-tls.ts";

interface PortFiles extends GivenAuthorities {
  readonly serving: CertificatePair;
  readonly named: readonly NamedPair[];
}

/** @throws UsageError naming the option whose file can't be used */
const followFiles = (
  values: OptionValues,
  name: string,
  parts: { clock: Clock; logger: Logger },
): FollowedCertificates<PortFiles> =>
  new FollowedCertificates<PortFiles>({
    parts: {
      serving: partServing(values, name),
      named: namedFiles(values),
      clientCa: authorityFiles(values, "client-ca-file"),
      headerCa: authorityFiles(values, "requestheader-client-ca-file"),
    },
    ...parts,
  });

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
  let followed: FollowedCertificates<PortFiles> | undefined;
  let unfollow: (() => void) | undefined;
  try {
    const filter = values.has("disabled-metrics")
      ? await metricsFilter(values)
      : undefined;
    const gates = gatesOfPart(values, () => undefined);
    const program = programFamilies(values, gates, emulatedVersionOf(values));
    if (port > 0) {
      const { clock = systemClock } = part;
      const files = followFiles(values, part.name, { clock, logger });
      followed = files;
      const clients = await clientAuthentication(
        values,
        access.reviewer,
        files.values,
        logger,
      );
      let { published } = clients;
      const tls = (): PortTls => {
        const { serving, named } = files.values;
        const { certificate, key } = serving;
        return {
          ...{ certificate, key, named },
          ...believed(values, files.values, published),
        };
      };
      const opened = await startPartPort({
        address: values.text("bind-address"),
        port,
        tls: tls(),
        ...(clients.follow ? { asksForCertificates: true } : {}),
        servingTls: servingTlsOf(values, (message) => logger.warn(message)),
        alwaysAllow: values.list("authorization-always-allow-paths"),
        ...access,
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
      const use = (): void => opened.updateTls(tls());
      files.start(use);
      unfollow = clients.follow?.((found) => {
        published = found;
        use();
      });
    }
  } catch (error) {
    followed?.stop();
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
