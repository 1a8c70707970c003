// The API server as a part: made from its options, the store and the cluster's PKI.
import type { CertificatePair } from "../../../api/pki/certificate.ts";
import type { Logger } from "pino";
import { isAlreadyExists } from "../../../api/errors.ts";
import {
  adoptServices,
  type AllowedOrigins,
  type ApiServer,
  type ClusterPki,
  compileOrigins,
  createApiServer,
  createServiceAllocators,
  createStrategies,
  createTokenTracking,
  type DialerOptions,
  followService,
  issuerDiscoveryPaths,
  jwksPath,
  ProxyHandler,
  type ServiceAllocators,
  type ServiceRangesOptions,
  shareAllocators,
  systemPriorityClasses,
} from "../../../apiserver-lite/index.ts";
import type { ServingCertificate } from "../../../http-kit/listener.ts";
import type { Transport } from "../../../client/transport.ts";
import { chooseAdmission } from "./admission.ts";
import type { Clock } from "../../../api/clock.ts";
import type { Family } from "../../../api/metrics/family.ts";
import type { Store } from "../../../storage/store.ts";
import { publishAuthentication } from "../../../client/access/authentication-config.ts";
import { storedEncodingOf } from "../../../api/codec/stored-form.ts";
import type { Service } from "../../../api/types/core-v1.ts";
import type { OptionValues } from "../../options/parse.ts";
import { DependencyError, UsageError } from "../../options/table.ts";
import { addressInRange, advertisedAddress, urlHost } from "../addresses.ts";
import { createAudit } from "./audit.ts";
import { componentChecks } from "./component-checks.ts";
import { readAuthorityFile, readPair } from "../option-files.ts";
import { metricsFilter } from "../metrics-options.ts";
import { remoteAccess } from "./remote-access.ts";
import { chosenCatalogue } from "./runtime-config.ts";
import { servingTlsOf } from "../serving-tls.ts";
import { uncachedResources } from "./watch-cache-options.ts";
import {
  clientAuthorities,
  createSecurity,
  requestHeaderOf,
  type Security,
} from "./security.ts";

interface ApiPartOptions {
  values: OptionValues;
  store: Store;
  /** Undefined: plain HTTP (tests). */
  serving: CertificatePair | undefined;
  pki: ClusterPki | undefined;
  clock: Clock;
  logger: Logger;
  /** Overrides --bind-address and --secure-port. */
  bindAddress?: string;
  port?: number;
  /** For /metrics, beside the server's own. */
  moreMetrics?: () => readonly Family[];
  /** Scheduler and controllers run in this process. */
  whole?: boolean;
}

/** How the API server goes to node agents: as the options say, else as its own cluster's agents want it. */
function dialing(
  values: OptionValues,
  pki: ClusterPki | undefined,
): DialerOptions {
  const authorityFile = values.optionalText("kubelet-certificate-authority");
  const timeoutMs = values.number("kubelet-timeout");
  return {
    clientCertificate:
      readPair(values, "kubelet-client-certificate", "kubelet-client-key") ??
      pki?.kubeletClient,
    agentAuthority: authorityFile
      ? readAuthorityFile("kubelet-certificate-authority", authorityFile)
      : pki?.clusterCa.certificate,
    ...(timeoutMs > 0 ? { connectTimeoutMs: timeoutMs } : {}),
  };
}

/** The two classes every cluster has. */
async function createPriorityClasses(
  transport: Pick<Transport, "request">,
): Promise<void> {
  const resource = {
    group: "scheduling.k8s.io",
    version: "v1",
    resource: "priorityclasses",
  };
  await Promise.all(
    systemPriorityClasses.map((body) =>
      transport
        .request({ verb: "create", resource, body })
        .catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error;
        }),
    ),
  );
}

export interface ApiPart {
  readonly server: ApiServer;
  readonly security: Security;
  /** Uses renewed certificates from now on. */
  updatePki(pki: ClusterPki): void;
  stop(): Promise<void>;
}

function nodePorts(text: string): { from: number; to: number } {
  const [, first, sign, last] = /^(\d+)([-+])(\d+)$/.exec(text)!;
  const from = Number(first);
  return { from, to: sign === "+" ? from + Number(last) : Number(last) };
}

/** Undefined without a range: services get no addresses then. */
function allocatorsOf(
  serviceCidrs: readonly string[],
  ports: { from: number; to: number },
  shared: ServiceRangesOptions | undefined,
): ServiceAllocators | undefined {
  if (serviceCidrs.length === 0) return undefined;
  const own = createServiceAllocators({ serviceCidrs, nodePorts: ports });
  return shared ? shareAllocators(own, shared) : own;
}

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

export async function startApiPart(options: ApiPartOptions): Promise<ApiPart> {
  const { values, store, clock, pki, serving } = options;
  const logger = options.logger.child({ part: "apiserver" });
  const bindAddress = options.bindAddress ?? values.text("bind-address");
  const serviceCidrs = values.list("service-cluster-ip-range");
  const storedEncoding = storedEncodingOf(values.text("storage-media-type"));
  const allocators = allocatorsOf(
    serviceCidrs,
    nodePorts(values.text("service-node-port-range")),
    store.shared
      ? { store, encoding: storedEncoding, clock, logger }
      : undefined,
  );
  const strategies = createStrategies({
    allowPrivileged: values.flag("allow-privileged"),
    componentChecks: componentChecks(store, options.whole ?? false),
    ...(allocators ? { services: allocators } : {}),
  });
  const agents = dialing(values, pki);
  const uncached = uncachedResources(values);
  const authorities = clientAuthorities(values, pki);
  const header = requestHeaderOf(values, authorities.headerCa);
  const security: { current?: Security } = {};
  const advertiseAddress = advertisedAddress(
    bindAddress,
    values.optionalText("advertise-address"),
  );
  let proxy: ProxyHandler | undefined;
  let unfollow = (): void => undefined;
  const catalogue = chosenCatalogue(values);
  const debugSocketPath = values.optionalText("debug-socket-path");
  const sts = hsts(values.list("strict-transport-security-directives"));
  const maxStreams = values.number("http2-max-streams-per-connection");
  const featureGates = Object.fromEntries(
    Object.entries(values.map("feature-gates")).map(([name, value]) => [
      name,
      value === "true",
    ]),
  );
  const origins = await allowedOrigins(values);
  const audit = await createAudit(values, clock, logger);
  const remote = await remoteAccess(values, clock, logger);
  const filter = await metricsFilter(values);
  const server: ApiServer = createApiServer({
    ...(audit ? { auditor: audit } : {}),
    store,
    logger,
    clock,
    catalogue,
    bindAddress,
    port: options.port ?? values.number("secure-port"),
    ...(serving ? { tls: servingTls(serving, values, pki) } : {}),
    servingTls: servingTlsOf(values, (message) => logger.warn(message)),
    disableHttp2: values.flag("disable-http2-serving"),
    featureGates,
    advertiseAddress,
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
    maxRequestsInFlight: values.number("max-requests-inflight"),
    maxMutatingRequestsInFlight: values.number(
      "max-mutating-requests-inflight",
    ),
    requestTimeoutMs: values.number("request-timeout"),
    minRequestTimeoutMs: values.number("min-request-timeout") * 1000,
    eventTtlSeconds: Math.round(values.number("event-ttl") / 1000),
    maxObjectBytes: values.number("max-object-bytes"),
    storedEncoding,
    ...(uncached ? { uncached } : {}),
    ...(filter ? { metricsFilter: filter } : {}),
    garbageCollection: values.flag("enable-garbage-collector"),
    countStoredObjects: values.number("etcd-count-metric-poll-period") > 0,
    goawayChance: values.number("goaway-chance"),
    ...(maxStreams > 0 ? { http2MaxStreamsPerConnection: maxStreams } : {}),
    ...(origins ? { allowedOrigins: origins } : {}),
    ...(sts ? { strictTransportSecurity: sts } : {}),
    ...(options.moreMetrics ? { moreMetrics: options.moreMetrics } : {}),
    priorityAndFairness: values.flag("enable-priority-and-fairness"),
    livezGraceMs: values.number("livez-grace-period"),
    profiling: values.flag("profiling"),
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
    parts(state) {
      const made = createSecurity({
        values,
        pki,
        remote,
        state,
        clock,
        logger,
      });
      security.current = made;
      const admission = chooseAdmission(
        values,
        made.authorizer,
        pki !== undefined,
      );
      proxy = new ProxyHandler({
        state,
        logger,
        maxBytesPerSecond: values.number("max-connection-bytes-per-sec"),
        addressTypes: values.list("kubelet-preferred-address-types"),
        ...agents,
      });
      return {
        authenticators: [made.authenticator],
        authorizer: made.authorizer,
        admission: [...admission, ...made.admission],
        connect: proxy,
        paths: issuerDiscoveryPaths({
          issuer: made.issuer,
          keys: made.issuerKeys,
          jwksUri: () =>
            values.optionalText("service-account-jwks-uri") ??
            `https://${urlHost(values.optionalText("external-hostname") ?? advertiseAddress)}:${server.port}${jwksPath}`,
        }),
        strategyFor: (group, resource) =>
          made.strategyFor(group, resource, strategies(group, resource)),
        async start() {
          await made.start();
          remote.start();
          if (!allocators) return;
          await allocators.ranges?.start(
            () => state.list("", "services") as unknown as Service[],
          );
          for (const problem of adoptServices(
            allocators,
            state.list("", "services") as unknown as Service[],
          )) {
            logger.warn(
              { problem },
              "a service's address or port can't be kept",
            );
          }
          if (store.shared)
            unfollow = state.onChange("", "services", ({ object, previous }) =>
              followService(
                allocators,
                object as unknown as Service | undefined,
                previous as unknown as Service | undefined,
              ),
            );
        },
        async bootstrap(transport) {
          await Promise.all([
            made.startPolicy(transport),
            createPriorityClasses(transport),
            createTokenTracking(transport, clock),
            publishAuthentication(transport, {
              ...(authorities.clientCa
                ? { clientCa: authorities.clientCa }
                : {}),
              ...(header ? { requestHeader: header } : {}),
            }),
          ]);
        },
        async stop() {
          unfollow();
          allocators?.ranges?.stop();
          proxy?.close();
          await made.stop();
          await remote.close();
        },
      };
    },
  });
  try {
    await server.start();
  } catch (error) {
    const { code } = error as { code?: string };
    await server.stop().catch(() => undefined);
    if (
      code === "EADDRINUSE" ||
      code === "EACCES" ||
      code === "EADDRNOTAVAIL" ||
      (error as Error).name === "StoreError"
    )
      throw new DependencyError(`the API server: ${(error as Error).message}`);
    throw error;
  }
  return {
    server,
    security: security.current!,
    updatePki(renewed) {
      server.reloadCertificate(servingTls(renewed.serving, values, renewed));
      security.current!.updatePki(renewed);
      proxy?.setDialing(dialing(values, renewed));
    },
    async stop() {
      await server.stop();
      await audit?.close();
    },
  };
}

function servingTls(
  { certificate, key }: CertificatePair,
  values: OptionValues,
  pki: ClusterPki | undefined,
): ServingCertificate {
  const { clientCa, headerCa } = clientAuthorities(values, pki);
  return {
    cert: certificate,
    key,
    clientCa: [clientCa, headerCa].filter(Boolean).join("\n"),
  };
}
