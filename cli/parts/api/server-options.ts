// From the API server's options to what createApiServer takes of them: limits, times, and what is served how. What is wrong
// with a value is a UsageError that names the option.
import type { Logger } from "pino";
import type { Catalogue } from "../../../api/catalogue.ts";
import { storedEncodingOf } from "../../../api/codec/stored-form.ts";
import {
  type AllowedOrigins,
  compileOrigins,
  type createApiServer,
} from "../../../apiserver-lite/index.ts";
import { apiServerOptions } from "../../options/apiserver.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { addressInRange } from "../addresses.ts";
import { metricsFilter } from "../metrics-options.ts";
import { servingTlsOf } from "../serving/serving-tls.ts";
import { zpageOptions } from "../zpages.ts";
import { emulatedVersionOf, gatesOfPart } from "./emulated-version.ts";
import { chosenCatalogue } from "./runtime-config.ts";
import { uncachedResources } from "./watch-cache-options.ts";

/** A start takes less; until then it is code that is compiled that holds the event loop, and no request. */
const warmUpMs = 10_000;

async function allowedOrigins(
  values: OptionValues,
): Promise<AllowedOrigins | undefined> {
  const name = "cors-allowed-origins";
  try {
    return await compileOrigins(values.list(name));
  } catch (error) {
    throw new UsageError(
      `invalid argument for "--${name}": ${(error as Error).message}`,
    );
  }
}

function hsts(directives: readonly string[]): string | undefined {
  for (const directive of directives) {
    if (!/^(max-age=\d+|includeSubDomains|preload)$/.test(directive)) {
      throw new UsageError(
        `invalid argument "${directive}" for "--strict-transport-security-directives": must be max-age=SECONDS, includeSubDomains or preload`,
      );
    }
  }
  return directives.length > 0 ? directives.join("; ") : undefined;
}

/** The limits in flight, which together are the seats of priority and fairness. Throws UsageError. */
function requestLimits(values: OptionValues) {
  const priorityAndFairness = values.flag("enable-priority-and-fairness");
  const maxRequestsInFlight = values.number("max-requests-inflight");
  const maxMutatingRequestsInFlight = values.number(
    "max-mutating-requests-inflight",
  );
  if (
    priorityAndFairness &&
    maxRequestsInFlight + maxMutatingRequestsInFlight === 0
  )
    throw new UsageError(
      "--max-requests-inflight and --max-mutating-requests-inflight must add up to something positive with --enable-priority-and-fairness",
    );
  return {
    priorityAndFairness,
    maxRequestsInFlight,
    maxMutatingRequestsInFlight,
  };
}

/** Asked for by its name; AllAlpha turns on what there is. */
function refusePeerProxy(gates: Readonly<Record<string, boolean>>): void {
  if (gates["UnknownVersionInteroperabilityProxy"])
    throw new UsageError(
      "--feature-gates: UnknownVersionInteroperabilityProxy=true is not implemented yet",
    );
}

export async function apiServerOptionsOf(
  values: OptionValues,
  logger: Logger,
): Promise<
  Omit<Parameters<typeof createApiServer>[0], "store" | "clock" | "logger"> & {
    readonly catalogue: Catalogue;
  }
> {
  const serviceCidrs = values.list("service-cluster-ip-range");
  const uncached = uncachedResources(values);
  const debugSocketPath = values.optionalText("debug-socket-path");
  const sts = hsts(values.list("strict-transport-security-directives"));
  const maxStreams = values.number("http2-max-streams-per-connection");
  const emulated = emulatedVersionOf(values);
  const featureGates = gatesOfPart(values, (text) => logger.warn(text));
  if (values.map("feature-gates")["UnknownVersionInteroperabilityProxy"])
    refusePeerProxy(featureGates);
  const origins = await allowedOrigins(values);
  const filter = await metricsFilter(values);
  return {
    catalogue: chosenCatalogue(values, emulated),
    servingTls: servingTlsOf(values, (message) => logger.warn(message)),
    disableHttp2: values.flag("disable-http2-serving"),
    featureGates,
    publishEndpoints: values.text("endpoint-reconciler-type") !== "none",
    ...(serviceCidrs[0]
      ? {
          kubernetesServiceAddress: addressInRange(
            serviceCidrs[0],
            1,
            "service-cluster-ip-range",
          ),
        }
      : {}),
    ...requestLimits(values),
    requestTimeoutMs: values.number("request-timeout"),
    minRequestTimeoutMs: values.number("min-request-timeout") * 1000,
    eventTtlSeconds: Math.round(values.number("event-ttl") / 1000),
    maxObjectBytes: values.number("max-object-bytes"),
    storedEncoding: storedEncodingOf(values.text("storage-media-type")),
    ...(uncached ? { uncached } : {}),
    ...(filter ? { metricsFilter: filter } : {}),
    garbageCollection: values.flag("enable-garbage-collector"),
    countStoredObjects: values.number("etcd-count-metric-poll-period") > 0,
    goawayChance: values.number("goaway-chance"),
    ...(maxStreams > 0 ? { http2MaxStreamsPerConnection: maxStreams } : {}),
    ...(origins ? { allowedOrigins: origins } : {}),
    ...(sts ? { strictTransportSecurity: sts } : {}),
    livezGraceMs: values.number("livez-grace-period"),
    profiling: values.flag("profiling"),
    zpages: zpageOptions(
      "kube-apiserver",
      values,
      apiServerOptions,
      (gate) => featureGates[gate] ?? false,
      emulated,
    ),
    ...(debugSocketPath ? { debugSocketPath } : {}),
    storeCheckTimeoutMs: {
      health: values.number("etcd-healthcheck-timeout"),
      readiness: values.number("etcd-readycheck-timeout"),
    },
    // The reference's default of one worker would only be slow: deletes in flight share commits.
    ...(values.isSet("delete-collection-workers")
      ? { deleteCollectionWorkers: values.number("delete-collection-workers") }
      : {}),
    shutdownGraceMs: values.number("request-timeout"),
    shutdownWatchGraceMs: values.number(
      "shutdown-watch-termination-grace-period",
    ),
    shutdownDelayMs: values.number("shutdown-delay-duration"),
    shutdownSendRetryAfter: values.flag("shutdown-send-retry-after"),
    warmUpMs,
  };
}
