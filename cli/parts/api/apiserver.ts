// The API server as a part: made from its options, the store and the cluster's PKI.
import type { Logger } from "pino";
import { isAlreadyExists } from "../../../api/errors.ts";
import {
  allocatorFamilies,
  type ApiServer,
  type ClusterPki,
  createApiServer,
  createMetricsReader,
  createStrategies,
  createTokenTracking,
  type DialerOptions,
  issuerDiscoveryPaths,
  jwksPath,
  ProxyHandler,
  serveNodeMetrics,
  systemPriorityClasses,
} from "../../../apiserver-lite/index.ts";
import type { Transport } from "../../../client/transport.ts";
import { AdmissionPart } from "./admission.ts";
import type { Clock } from "../../../api/clock.ts";
import type { Family } from "../../../api/metrics/family.ts";
import type { Store } from "../../../storage/store.ts";
import {
  publishAuthentication,
  type PublishedAuthentication,
} from "../../../client/access/authentication-config.ts";
import type { OptionValues } from "../../options/parse.ts";
import { DependencyError } from "../../options/table.ts";
import { advertisedAddress, urlHost } from "../addresses.ts";
import { createAudit } from "./audit.ts";
import { aggregationOptions } from "./aggregation.ts";
import { externalSigner } from "./authentication/external-signer.ts";
import { componentChecks } from "./component-checks.ts";
import { emulatedVersionOf } from "./emulated-version.ts";
import { readEncryption } from "./encryption/encryption.ts";
import { AuthenticationPublisher } from "../serving/authentication-publisher.ts";
import type { ServingSource } from "../serving/serving-source.ts";
import {
  FollowedApiCertificates,
  type ApiCertificates,
  type ClientAuthorities,
} from "./certificates.ts";
import { programFamilies } from "../program-families.ts";
import { remoteAccess } from "./remote-access.ts";
import { apiServerOptionsOf } from "./server-options.ts";
import { createTracing } from "./tracing.ts";
import { readEgress, type Egress } from "./egress/egress.ts";
import { serviceAddresses } from "./services.ts";
import { createSecurity, requestHeaderOf, type Security } from "./security.ts";

interface ApiPartOptions {
  values: OptionValues;
  store: Store;
  /** Undefined: the PKI's pair; plain HTTP without either (tests). */
  serving: ServingSource | undefined;
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
  /** metrics.k8s.io is served without an add-on. */
  nodeMetrics?: boolean;
  /** False: no service proxy makes the addresses of services lead to their pods here. */
  serviceAddresses?: boolean;
}

/** How the API server goes to node agents: as the options say, else as its own cluster's agents want it. */
function dialing(
  values: OptionValues,
  { agents }: ApiCertificates,
  egress: Egress,
): DialerOptions {
  const timeoutMs = values.number("kubelet-timeout");
  return {
    dial: egress.cluster,
    ...agents,
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

/** By which authorities this server knows clients and front proxies. */
const publishedOf = (
  values: OptionValues,
  { clientCa, headerCa }: ClientAuthorities,
): PublishedAuthentication => {
  const requestHeader = requestHeaderOf(values, headerCa);
  return {
    ...(clientCa ? { clientCa } : {}),
    ...(requestHeader ? { requestHeader } : {}),
  };
};

/** What is known once the server's parts are made. */
interface Made {
  security?: Security;
  proxy?: ProxyHandler;
  publisher?: AuthenticationPublisher;
}

/** Has all that uses certificates use renewed ones. */
const useRenewed =
  (
    server: ApiServer,
    values: OptionValues,
    { security, proxy, publisher }: Made,
    egress: Egress,
  ) =>
  (renewed: ApiCertificates): void => {
    if (renewed.serving) server.reloadCertificate(renewed.serving);
    server.setProxyCertificate(renewed.proxy);
    security!.updateAuthorities(renewed.authorities);
    proxy!.setDialing(dialing(values, renewed, egress));
    publisher!.publish(publishedOf(values, renewed.authorities));
  };

const discoveryPaths = (
  { issuer, issuerKeys: keys }: Security,
  values: OptionValues,
  address: string,
  port: () => number,
): ReturnType<typeof issuerDiscoveryPaths> =>
  issuerDiscoveryPaths({
    ...{ issuer, keys },
    jwksUri: () =>
      values.optionalText("service-account-jwks-uri") ??
      `https://${urlHost(values.optionalText("external-hostname") ?? address)}:${port()}${jwksPath}`,
  });

export interface ApiPart {
  readonly server: ApiServer;
  readonly security: Security;
  /** Uses renewed certificates from now on. */
  updatePki(pki: ClusterPki): void;
  /** The machine's addresses may be others than before. */
  updateAddress(): Promise<void>;
  stop(): Promise<void>;
}

export async function startApiPart(options: ApiPartOptions): Promise<ApiPart> {
  const { values, store, clock, pki, serving: source } = options;
  const logger = options.logger.child({ part: "apiserver" });
  const bindAddress = options.bindAddress ?? values.text("bind-address");
  const ownAddress = (): string =>
    advertisedAddress(bindAddress, values.optionalText("advertise-address"));
  const advertiseAddress = ownAddress();
  const services = serviceAddresses(values, { store, clock, logger });
  const asked = await whatIsAsked(options, logger);
  const { served, egress, audit, remote, encryption, admission } = asked;
  const strategies = createStrategies({
    featureGates: served.featureGates,
    allowPrivileged: values.flag("allow-privileged"),
    componentChecks: componentChecks(store, options.whole ?? false),
    ...(services.allocators ? { services: services.allocators } : {}),
  });
  const own = { values, source, pki, clock, logger };
  const followed = new FollowedApiCertificates(own);
  const certificates = followed.now;
  const header = requestHeaderOf(values, certificates.authorities.headerCa);
  const made: Made = {};
  const port = (): number => server.port;
  const aggregation = aggregationOptions(
    values,
    certificates.proxy,
    header,
    options.serviceAddresses ?? true,
    egress.cluster,
  );
  const server: ApiServer = createApiServer({
    ...served,
    ...{ sealOf: encryption.sealOf, tracer: asked.tracing?.tracer },
    ...(audit ? { auditor: audit } : {}),
    ...(certificates.serving ? { tls: certificates.serving } : {}),
    moreMetrics: () => [
      ...(services.allocators ? allocatorFamilies(services.allocators) : []),
      ...asked.families(),
      ...(made.security?.families() ?? []),
    ],
    ...{ store, logger, clock, aggregation },
    bindAddress,
    advertiseAddress,
    port: options.port ?? values.number("secure-port"),
    parts(state, loopback) {
      const context = {
        ...{ values, pki, remote, state, clock, logger, loopback, egress },
        ...{ tracer: asked.tracing?.tracer, externalSigner: asked.signer },
        featureGates: served.featureGates ?? {},
      };
      const security = createSecurity(context, certificates.authorities);
      const proxy = new ProxyHandler({
        ...{ state, logger },
        maxBytesPerSecond: values.number("max-connection-bytes-per-sec"),
        addressTypes: values.list("kubelet-preferred-address-types"),
        identityFields: aggregation.identityFields,
        ...dialing(values, certificates, egress),
      });
      Object.assign(made, { security, proxy });
      return {
        authenticators: [security.authenticator],
        authorizer: security.authorizer,
        admission: [
          ...admission.plugins(security.authorizer, context),
          ...security.admission,
        ],
        connect: proxy,
        webhookClients: admission.webhookClients(context),
        paths: discoveryPaths(security, values, advertiseAddress, port),
        strategyFor: (group, resource) =>
          security.strategyFor(group, resource, strategies(group, resource)),
        async start() {
          await security.start();
          remote.start();
          encryption.start();
          await services.start(state);
          if (options.nodeMetrics)
            await serveNodeMetrics({ state, proxy, clock, logger });
        },
        async bootstrap(transport) {
          admission.connect(transport);
          const writer = { transport, clock, logger };
          made.publisher = new AuthenticationPublisher(writer);
          await Promise.all([
            security.startPolicy(transport, served.featureGates ?? {}),
            createPriorityClasses(transport),
            ...(options.nodeMetrics ? [createMetricsReader(transport)] : []),
            createTokenTracking(transport, clock),
            publishAuthentication(
              transport,
              publishedOf(values, certificates.authorities),
            ),
          ]);
        },
        async stop() {
          encryption.stop();
          services.stop();
          proxy.close();
          await security.stop();
          asked.signer?.close();
          await remote.close();
          await admission.close();
        },
      };
    },
  });
  await start(server, encryption.checks);
  followed.start(useRenewed(server, values, made, egress));
  return {
    server,
    security: made.security!,
    updatePki: (renewed) => followed.updatePki(renewed),
    updateAddress: () => server.advertise(ownAddress()),
    async stop() {
      followed.stop();
      made.publisher?.stop();
      await server.stop();
      await Promise.all([audit?.close(), asked.tracing?.stop()]);
    },
  };
}

/** What the options ask for beside the server itself. Rejects with a UsageError. */
async function whatIsAsked(
  { values, store, clock, pki, moreMetrics }: ApiPartOptions,
  logger: Logger,
) {
  const served = await apiServerOptionsOf(values, logger);
  const egress = await readEgress(values);
  const { controlPlane: dial } = egress;
  const audit = await createAudit(values, clock, logger, dial);
  const remote = await remoteAccess(values, clock, logger, dial);
  const encryption = await readEncryption({ values, served, clock, logger });
  const parts = { clock, logger, egress };
  const tracing = await createTracing(values, served.featureGates, parts);
  if (tracing) store.traceCalls?.(tracing.grpc);
  const admission = await AdmissionPart.create(values, served, !!pki, dial);
  const signer = await externalSigner(values, served.featureGates, parts);
  const program = programFamilies(
    values,
    served.featureGates ?? {},
    emulatedVersionOf(values),
  );
  const families = (): readonly Family[] => [
    ...program(),
    ...(signer?.families() ?? []),
    ...admission.families(moreMetrics),
    ...remote.authorizers.families(),
    ...encryption.families(),
    ...egress.families(),
  ];
  return {
    ...{ served, egress, audit, remote, encryption, tracing, admission },
    signer,
    families,
  };
}

/** Throws a DependencyError for a port or a store that can't be had. */
async function start(
  server: ApiServer,
  checks: readonly Parameters<ApiServer["addHealthCheck"]>[0][],
): Promise<void> {
  for (const check of checks) server.addHealthCheck(check);
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
}
