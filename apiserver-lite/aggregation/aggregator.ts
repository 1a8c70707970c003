// The aggregation layer: group versions that other servers answer for, by their APIServices. Requests for those go to
// their servers; all others are none of the aggregator's. It also keeps the APIServices of this server's own groups.
import type { TimeSlices } from "../loop/time-slices.ts";
import type { Catalogue } from "../../api/catalogue.ts";
import type { Clock } from "../../api/clock.ts";
import type { UserInfo } from "../../api/contracts.ts";
import type { GroupVersionResource } from "../../api/object.ts";
import type { Family } from "../../api/metrics/family.ts";
import type { CertificatePair } from "../../api/pki/certificate.ts";
import type { Tracer } from "../../api/tracing/tracer.ts";
import type { Dial } from "../../client/egress/egress-dialer.ts";
import type { Logger } from "pino";
import type { Transport } from "../../client/transport.ts";
import { noIdentityFields, type IdentityFields } from "../proxy/headers.ts";
import { Tunnels } from "../proxy/tunnels.ts";
import type { RequestInfo } from "../request/request-info.ts";
import type { ClusterState } from "../resources/state.ts";
import type { Handler, HttpRequest } from "../serving/http-request.ts";
import { AggregatedGroups } from "./aggregated-groups.ts";
import { AvailabilityMetrics } from "./availability-metrics.ts";
import { Availability } from "./availability.ts";
import { ExtensionDiscovery } from "./extension-discovery.ts";
import { ExtensionOpenApi } from "./extension-openapi.ts";
import { ExtensionProxy, plainError } from "./extension-proxy.ts";
import { ExtensionTransport } from "./extension-transport.ts";
import { LocalRegistration } from "./local-registration.ts";
import { apiServicesResource, registrationGroup } from "./registration.ts";
import { type RemoteService, RemoteServices } from "./remote-services.ts";
import {
  createServiceResolver,
  type ResolverOptions,
  type Routing,
  type ServiceResolver,
} from "./service-resolver.ts";

/** Documents of group versions; each server has its own. */
const openApiRoot = "/openapi/v3/apis/";

/** How aggregated servers are reached, and what they are shown. */
export interface AggregationOptions {
  /** What this server is known by; undefined: it has no certificate. */
  readonly proxyCertificate?: CertificatePair | undefined;
  /** Default: no-data-path. */
  readonly routing?: Routing;
  /** Default true. */
  readonly rejectForwardingRedirect?: boolean;
  /** Header fields, in lower case, by which front proxies name users to this server. */
  readonly identityFields?: IdentityFields;
  /** Of upgraded connections, in each direction; 0: no limit. */
  readonly maxBytesPerSecond?: number;
  /** How connections leave; undefined: directly. */
  readonly dial?: Dial | undefined;
}

interface AggregatorParts {
  readonly state: ClusterState;
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly slices: TimeSlices;
  /** UIDs of users are passed on. */
  readonly withUid: boolean;
  readonly ownPlace: ResolverOptions["ownPlace"];
  /** Undefined: nothing is traced. */
  readonly tracer?: Tracer | undefined;
}

export class Aggregator {
  readonly remotes: RemoteServices;
  readonly resolve: ServiceResolver;
  readonly groups: AggregatedGroups;
  readonly openApi: ExtensionOpenApi;
  readonly #discovery: ExtensionDiscovery;
  readonly #metrics = new AvailabilityMetrics();
  readonly #tunnels: Tunnels;
  readonly #proxy: ExtensionProxy;
  #registration: LocalRegistration | undefined;
  #availability: Availability | undefined;
  #stop: (() => void) | undefined;
  readonly #listeners: (() => void)[] = [];
  readonly #openApiListeners: (() => void)[] = [];

  constructor(
    private readonly parts: AggregatorParts,
    options: AggregationOptions,
  ) {
    const { state, ownPlace, withUid } = parts;
    const { routing = "no-data-path" } = options;
    this.remotes = new RemoteServices(
      ...([state, options.proxyCertificate, options.dial] as const),
    );
    this.resolve = createServiceResolver({ state, routing, ownPlace });
    const { remotes, resolve } = this;
    const { catalogue, clock, logger, slices } = parts;
    this.#discovery = new ExtensionDiscovery({
      ...{ remotes, resolve, clock, logger, slices },
      changed: () => this.#changed(),
    });
    this.openApi = new ExtensionOpenApi({
      ...{ remotes, resolve, clock, logger, slices },
      changed: () => {
        for (const listener of this.#openApiListeners) listener();
      },
    });
    this.groups = new AggregatedGroups({
      ...{ state, catalogue, remotes },
      discovery: this.#discovery,
    });
    this.#tunnels = new Tunnels(options.maxBytesPerSecond);
    this.#proxy = new ExtensionProxy({
      clock,
      tracer: parts.tracer,
      tunnels: this.#tunnels,
      withUid,
      ownIdentity: options.identityFields ?? noIdentityFields,
      rejectRedirects: options.rejectForwardingRedirect ?? true,
    });
  }

  /** Knows the servers: requests for them can be routed. The cache is loaded. */
  start(): void {
    this.remotes.start();
    this.#discovery.start();
    this.openApi.start();
    this.#stop = this.parts.state.onChange(
      registrationGroup,
      apiServicesResource.resource,
      () => this.#changed(),
    );
  }

  /** Calls back when what discovery says changed. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Calls back when OpenAPI documents of other servers changed. */
  onOpenApiChange(listener: () => void): void {
    this.#openApiListeners.push(listener);
  }

  #changed(): void {
    this.groups.invalidate();
    for (const listener of this.#listeners) listener();
  }

  /** Keeps APIServices. Resolves when this server's own groups have theirs. */
  async run(transport: Pick<Transport, "request">): Promise<void> {
    const { state, catalogue, clock, logger } = this.parts;
    const shared = { state, transport, clock, logger };
    this.#registration = new LocalRegistration({ ...shared, catalogue });
    await this.#registration.start();
    this.#availability = new Availability({
      ...shared,
      remotes: this.remotes,
      resolve: this.resolve,
      metrics: this.#metrics,
    });
    this.#availability.start();
  }

  async stop(): Promise<void> {
    this.#stop?.();
    await Promise.all([
      this.#registration?.stop(),
      this.#availability?.stop(),
      this.#discovery.stop(),
      this.openApi.stop(),
    ]);
    this.remotes.stop();
    this.#tunnels.close();
  }

  setCertificate(certificate: CertificatePair | undefined): void {
    this.remotes.setCertificate(certificate);
  }

  families(): Family[] {
    return this.#metrics.families();
  }

  /** For this process's own parts. Undefined: this server's own resource. */
  transportOf(
    { group, version }: GroupVersionResource,
    user: UserInfo,
  ): ExtensionTransport | undefined {
    if (this.remotes.size === 0) return undefined;
    const name = `${version}.${group}`;
    if (!this.remotes.get(name)) return undefined;
    const remote = (): RemoteService | undefined => this.remotes.get(name);
    const { slices } = this.parts;
    return new ExtensionTransport(
      { remote, resolve: this.resolve, slices },
      user,
    );
  }

  /** Undefined: no other server's. */
  route({ path }: RequestInfo): Handler | undefined {
    if (this.remotes.size === 0) return undefined;
    const remote = this.#remoteAt(path);
    return remote && ((request) => this.#serve(request, remote));
  }

  #remoteAt(path: string): RemoteService | undefined {
    if (path.startsWith(openApiRoot)) return this.#documentAt(path);
    if (!path.startsWith("/api")) return undefined;
    const [, root, group = "", version = ""] = path.split("/", 4);
    if (root === "api") return this.remotes.get("v1.");
    if (root !== "apis" || version === "") return undefined;
    return this.remotes.get(`${version}.${group}`);
  }

  #documentAt(path: string): RemoteService | undefined {
    const [group = "", version = "", rest] = path
      .slice(openApiRoot.length)
      .split("/", 3);
    const name = `${version}.${group}`;
    return rest === undefined && this.openApi.hasV3(name)
      ? this.remotes.get(name)
      : undefined;
  }

  #serve(request: HttpRequest, remote: RemoteService): Promise<void> {
    const { server, service } = remote;
    if (!remote.available) throw plainError(503, "service unavailable");
    if (server.problem) throw plainError(500, server.problem);
    let place;
    try {
      place = this.resolve(service);
    } catch (error) {
      this.parts.logger.warn(
        { apiService: remote.name, err: error },
        "the service of an aggregated API can't be resolved",
      );
      throw plainError(503, "service unavailable");
    }
    return this.#proxy.serve(request, { server, place });
  }
}
