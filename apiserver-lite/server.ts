// The API server's life cycle; wiring.ts puts its parts together.
//
// Start: store → watch cache → parts (authorizers …) → port → system objects → ready. Stop: /readyz fails → delay, still
// serving → no new connections (or, with shutdownSendRetryAfter, 429 to every new request) → requests in flight finish
// (bounded) → watches end → port closed → cache and store closed.
import { addressKind } from "../api/address-kind.ts";
import { hostname, networkInterfaces } from "node:os";
import { systemClock, type Clock } from "../api/clock.ts";
import type { CertificatePair } from "../api/pki/certificate.ts";
import type { UserInfo } from "../api/contracts.ts";
import type { Transport } from "../client/transport.ts";
import { EndpointLeases } from "./bootstrap/endpoint-leases.ts";
import { DanglingSchemas } from "./bootstrap/dangling-schemas.ts";
import { IdentityLease } from "./bootstrap/identity-lease.ts";
import { publishStorageVersions } from "./bootstrap/storage-versions.ts";
import { FlowObjects } from "./bootstrap/flow-objects.ts";
import {
  createSystemNamespaces,
  createSystemObjects,
  publishEndpoints,
} from "./bootstrap/system-objects.ts";
import { servedOnly } from "./bootstrap/served-only.ts";
import { type HealthCheck } from "./health/health.ts";
import { serverChecks } from "./health/server-checks.ts";
import type { ServingCertificate } from "../http-kit/listener.ts";
import { rawInProcess } from "./in-process/in-process-exchange.ts";
import { InProcessTransport } from "./in-process/transport.ts";
import type { Registry } from "./registry/registry.ts";
import type { ApiServerOptions } from "./server-options.ts";
import { defaultBookmarkIntervalMs, wire } from "./wiring.ts";

export interface ApiServer {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Of the open port. */
  readonly port: number;
  /** Calls as `user`, past authorization: for this process's own parts. */
  transport(user: UserInfo, component?: string): Transport;
  readonly registry: Registry;
  /** New serving certificate for new connections. */
  reloadCertificate(tls: ServingCertificate): void;
  /** What aggregated servers know this one by, for new connections. */
  setProxyCertificate(certificate: CertificatePair | undefined): void;
  /** Named checks beside the server's own. */
  addHealthCheck(check: HealthCheck): void;
  /** The address at which others reach this server, for the endpoints of the kubernetes Service. */
  advertise(address: string): Promise<void>;
}

/** The identity of the server itself. */
export const superuser: UserInfo = {
  name: "system:apiserver",
  groups: ["system:masters"],
  extra: {},
};

export function createApiServer(options: ApiServerOptions): ApiServer {
  return new Server(options);
}

/** At the stop: how long bodies may still come. */
const shutdownBodiesMs = 1000;

class Server implements ApiServer {
  readonly #wiring: ReturnType<typeof wire>;
  readonly #checks: HealthCheck[] = [];
  readonly #clock: Clock;
  /** Undefined: there are no endpoints of the kubernetes Service to keep. */
  #publishEndpoints:
    ((addresses: readonly string[]) => Promise<void>) | undefined;
  /** The address that was published last. */
  #advertised: string | undefined;
  #endpointLeases: EndpointLeases | undefined;
  #identity: IdentityLease | undefined;
  #flowObjects: FlowObjects | undefined;
  #danglingSchemas: DanglingSchemas | undefined;
  #startedMs = 0;
  #state: "new" | "ready" | "leaving" | "draining" | "stopped" = "new";

  constructor(private readonly options: ApiServerOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#wiring = wire(options, this.#clock, {
      port: () => this.port,
      handshakeErrors: () => this.#wiring.listener?.handshakeErrors ?? 0,
      healthChecks: () => this.#healthChecks(),
      refusing: () =>
        this.#state === "draining" && options.shutdownSendRetryAfter
          ? { retryAfterSeconds: 5 }
          : undefined,
    });
  }

  get registry(): Registry {
    return this.#wiring.registry;
  }

  get port(): number {
    return this.#wiring.listener?.port ?? 0;
  }

  async start(): Promise<void> {
    this.#startedMs = this.#clock.monotonic();
    this.#wiring.loopWatch.start(this.options.warmUpMs);
    await this.options.store.start();
    await this.#wiring.debugSocket?.listen();
    await this.registry.start();
    this.#wiring.flows?.start();
    this.#wiring.aggregator.start();
    await this.#wiring.parts.start?.();
    await this.#wiring.customDefinitions.start(
      this.transport(superuser, "orbit-apiserver"),
    );
    this.registry.cache.endStart();
    const transport = servedOnly(
      this.transport(superuser, "orbit-apiserver"),
      this.registry,
    );
    if (this.#gate("APIServerIdentity", true))
      this.#identity = new IdentityLease({
        transport,
        hostname: hostname(),
        clock: this.#clock,
        logger: this.options.logger,
      });
    const announced = this.#gate("StorageVersionAPI", false);
    if (this.#identity && announced)
      await this.#announceVersions(this.#identity, transport);
    await this.#wiring.listener?.listen();
    const {
      bindAddress = "127.0.0.1",
      advertiseAddress = bindAddress,
      kubernetesServiceAddress,
    } = this.options;
    const advertisePort = this.port || 6443;
    await createSystemObjects({
      transport,
      logger: this.options.logger,
      advertisePort,
      serviceAddress: kubernetesServiceAddress,
    });
    const identified = announced ? undefined : this.#identity?.start();
    await this.#keepFlowObjects(transport);
    if (kubernetesServiceAddress && (this.options.publishEndpoints ?? true)) {
      this.#publishEndpoints = (addresses) =>
        publishEndpoints({ transport, advertisePort }, addresses);
      await this.advertise(advertiseAddress);
    }
    await Promise.all([
      identified,
      this.#wiring.parts.bootstrap?.(transport),
      this.#wiring.aggregator.run(transport),
    ]);
    this.#state = "ready";
  }

  #gate(name: string, byDefault: boolean): boolean {
    return this.options.featureGates?.[name] ?? byDefault;
  }

  /** Entries of a server without a lease are removed by those who collect them: first the lease. */
  async #announceVersions(
    identity: IdentityLease,
    transport: Pick<Transport, "request">,
  ): Promise<void> {
    await createSystemNamespaces({ transport });
    await identity.start();
    await publishStorageVersions({
      transport,
      kinds: this.registry.kinds.all(),
      serverId: identity.id,
      clock: this.#clock,
    });
  }

  /** The objects of priority and fairness, and what they say of themselves. */
  async #keepFlowObjects(transport: Pick<Transport, "request">): Promise<void> {
    const { logger } = this.options;
    const { registry: state } = this;
    const { flows } = this.#wiring;
    const options = { transport, state, clock: this.#clock, logger };
    this.#flowObjects = new FlowObjects(options);
    await this.#flowObjects.start();
    if (!flows) return;
    const hasLevel = (name: string): boolean => flows.hasLevel(name);
    this.#danglingSchemas = new DanglingSchemas({ ...options, hasLevel });
    await this.#danglingSchemas.start();
  }

  /** A server that is its store's only writer is the only endpoint. */
  async advertise(given: string): Promise<void> {
    const { store, storedEncoding = "protobuf", logger } = this.options;
    const publish = this.#publishEndpoints;
    const address = reachableAddress(given);
    if (!publish || address === this.#advertised) return;
    this.#advertised = address;
    if (!store.shared) return publish([address]);
    await this.#endpointLeases?.stop();
    this.#endpointLeases = new EndpointLeases({
      store,
      encoding: storedEncoding,
      address,
      publish,
      clock: this.#clock,
      logger,
    });
    await this.#endpointLeases.start();
  }

  async stop(): Promise<void> {
    if (this.#state === "stopped") return;
    const {
      shutdownDelayMs = 0,
      shutdownGraceMs = 10_000,
      shutdownWatchGraceMs = 0,
      shutdownSendRetryAfter = false,
    } = this.options;
    const started = this.#state !== "new";
    this.#state = "leaving";
    if (started && shutdownDelayMs > 0) await this.#sleep(shutdownDelayMs);
    this.#state = "draining";
    if (!shutdownSendRetryAfter) this.#wiring.listener?.drain();
    if (shutdownWatchGraceMs <= 0) this.#wiring.resources.endWatches();
    const busy = (): boolean => this.#wiring.limiter.requests > 0;
    const bodiesMs = Math.min(shutdownBodiesMs, shutdownGraceMs);
    await this.#until(busy, bodiesMs);
    this.#wiring.resources.refuseUnreceived();
    await this.#until(busy, shutdownGraceMs - bodiesMs);
    if (shutdownWatchGraceMs > 0) {
      this.#wiring.resources.endWatches(shutdownWatchGraceMs * 0.8);
      await this.#until(
        () => this.#wiring.resources.watches > 0,
        shutdownWatchGraceMs,
      );
      this.#wiring.resources.endWatches();
    }
    this.#identity?.stop();
    this.#danglingSchemas?.stop();
    this.#flowObjects?.stop();
    await this.#endpointLeases?.stop();
    this.#wiring.listener?.destroy();
    this.#wiring.debugSocket?.close();
    await this.#wiring.customDefinitions.stop();
    this.#wiring.webhookClients.close();
    await this.#wiring.aggregator.stop();
    await this.#wiring.parts.stop?.();
    this.#wiring.flows?.stop();
    this.registry.stop();
    this.#wiring.loopWatch.stop();
    await this.options.store.stop();
    this.#state = "stopped";
  }

  transport(user: UserInfo, component = "orbit"): Transport {
    const { logger, auditor, bookmarkIntervalMs } = this.options;
    return new InProcessTransport({
      registry: this.registry,
      user,
      component,
      elsewhere: (resource, asUser) =>
        this.#wiring.aggregator.transportOf(resource, asUser),
      rawRequest: (asUser, method, path, body) =>
        rawInProcess(this.#wiring.front, asUser, method, path, body),
      bookmarkIntervalMs: bookmarkIntervalMs ?? defaultBookmarkIntervalMs,
      logger,
      observe: this.#wiring.observe,
      auditor,
      limiter: this.#wiring.limiter,
    });
  }

  reloadCertificate(tls: ServingCertificate): void {
    this.#wiring.listener?.reload(tls);
  }

  setProxyCertificate(certificate: CertificatePair | undefined): void {
    this.#wiring.aggregator.setCertificate(certificate);
  }

  addHealthCheck(check: HealthCheck): void {
    this.#checks.push(check);
  }

  async #until(busy: () => boolean, maxMs: number): Promise<void> {
    const until = this.#clock.monotonic() + maxMs;
    while (busy() && this.#clock.monotonic() < until) await this.#sleep(20);
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(ms, resolve));
  }

  #healthChecks(): HealthCheck[] {
    const { store, storeCheckTimeoutMs, livezGraceMs = 0 } = this.options;
    return serverChecks({
      store,
      storeCheckTimeoutMs,
      lost: this.registry.cache.lost,
      others: this.#checks,
      started: this.#state !== "new",
      stopping: this.#state === "leaving" || this.#state === "draining",
      livezGrace: this.#clock.monotonic() - this.#startedMs < livezGraceMs,
    });
  }
}

/** The unspecified and loopback addresses can't be reached from pods: the first other address of this machine then. */
function reachableAddress(address: string): string {
  const kind = addressKind(address);
  if (kind !== "unspecified" && kind !== "loopback") return address;
  for (const list of Object.values(networkInterfaces()))
    for (const { internal, family, address: own } of list ?? [])
      if (!internal && family === "IPv4") return own;
  return address;
}
