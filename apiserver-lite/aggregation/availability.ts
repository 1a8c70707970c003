// Keeps the condition Available of the APIServices that other servers answer for: is there such a service, does it listen
// on the port, has it endpoints, and does the server answer for the group version? Looked at when the APIService, its
// service or its endpoints change, and every half a minute; after a failed look sooner. Local ones are always available.
import { formatTime, type Clock, type Timer } from "../../api/clock.ts";
import { isConflict, isNotFound } from "../../api/errors.ts";
import { setCondition } from "../../api/objects/conditions.ts";
import { sleep } from "../../api/queueing/backoff.ts";
import { sameValue } from "../../api/objects/json-equality.ts";
import type { UserInfo } from "../../api/contracts.ts";
import type { APIService } from "../../api/types/apiregistration-v1.ts";
import type { Endpoints, Service } from "../../api/types/core-v1.ts";
import type { Transport } from "../../client/transport.ts";
import { WorkQueue } from "../../client/work-queue.ts";
import type { Logger } from "pino";
import { localCondition } from "../resources/apiextensions/api-service.ts";
import type { ClusterState } from "../resources/state.ts";
import { typed } from "../resources/typed.ts";
import type { AvailabilityMetrics } from "./availability-metrics.ts";
import { readDocument } from "./extension-document.ts";
import type { Place } from "./extension-server.ts";
import {
  apiServicesResource,
  pathOf,
  registrationGroup,
  registrationOf,
  type ServicePort,
} from "./registration.ts";
import type { RemoteService, RemoteServices } from "./remote-services.ts";
import type { ServiceResolver } from "./service-resolver.ts";

const recheckMs = 30_000;
const timeoutMs = 5_000;
/** Each may find another endpoint; one that answers is enough. */
const attempts = 5;
const patienceMs = 1_000;

const checker: UserInfo = {
  name: "system:kube-aggregator",
  groups: ["system:masters"],
  extra: {},
};

interface AvailabilityOptions {
  readonly state: ClusterState;
  readonly transport: Pick<Transport, "request">;
  readonly remotes: RemoteServices;
  readonly resolve: ServiceResolver;
  readonly metrics: AvailabilityMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Finding {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
  /** To be looked at again soon. */
  readonly retry?: true;
}

export class Availability {
  readonly #queue: WorkQueue;
  readonly #stops: (() => void)[] = [];
  readonly #stopped = new AbortController();
  #timer: Timer | undefined;

  constructor(private readonly options: AvailabilityOptions) {
    const { clock, logger } = options;
    this.#queue = new WorkQueue({
      name: "remote-availability",
      clock,
      logger,
      concurrency: 5,
      process: (name) => this.#look(name),
      maxBackoffMs: recheckMs,
      isExpected: () => true,
    });
  }

  start(): void {
    const { state } = this.options;
    const { resource } = apiServicesResource;
    this.#stops.push(
      state.onChange(registrationGroup, resource, ({ object, previous }) =>
        this.#queue.add((object ?? previous)!.metadata.name ?? ""),
      ),
    );
    for (const plural of ["services", "endpoints"])
      this.#stops.push(
        state.onChange("", plural, ({ object, previous }) => {
          const { namespace, name } = (object ?? previous)!.metadata;
          this.#addUsersOf(namespace ?? "", name ?? "");
        }),
      );
    for (const { metadata } of state.list(registrationGroup, resource))
      this.#queue.add(metadata.name ?? "");
    this.#queue.start();
    this.#recheck();
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    for (const stop of this.#stops.splice(0)) stop();
    this.#stopped.abort();
    await this.#queue.stop();
  }

  #recheck(): void {
    const { clock, remotes } = this.options;
    this.#timer = clock.after(recheckMs, () => {
      for (const { name } of remotes.all()) this.#queue.add(name);
      this.#recheck();
    });
  }

  #addUsersOf(namespace: string, service: string): void {
    const { remotes } = this.options;
    if (remotes.size === 0) return;
    for (const remote of remotes.all())
      if (
        remote.service.name === service &&
        remote.service.namespace === namespace
      )
        this.#queue.add(remote.name);
  }

  async #look(name: string): Promise<void> {
    const { state, metrics, remotes } = this.options;
    const read = (): APIService | undefined =>
      typed<APIService>(
        state.read(registrationGroup, apiServicesResource.resource, "", name),
      );
    if (!read()) return metrics.forget(name);
    const remote = remotes.get(name);
    const finding: Finding = remote
      ? await this.#find(remote)
      : { ...localCondition };
    const present = read();
    // Its server is another one now: the change has put it into the queue.
    if (!present || remotes.get(name)?.server !== remote?.server) return;
    await this.#report(present, finding);
    if (finding.retry) throw new Error(finding.message);
  }

  async #report(
    object: APIService,
    { status, reason, message }: Finding,
  ): Promise<void> {
    const { transport, metrics, clock, logger } = this.options;
    const registration = registrationOf(object);
    const available = status === "True";
    metrics.set(registration.name, available);
    const condition = { type: "Available", status, reason, message };
    const before = object.status?.conditions ?? [];
    const conditions = setCondition(before, condition, formatTime(clock.now()));
    if (sameValue(before, conditions)) return;
    try {
      await transport.request({
        verb: "update",
        resource: apiServicesResource,
        name: registration.name,
        subresource: "status",
        body: { ...object, status: { ...object.status, conditions } },
      });
    } catch (error) {
      if (isConflict(error)) return this.#queue.add(registration.name);
      if (isNotFound(error)) return;
      throw error;
    }
    if (registration.available && !available)
      metrics.becameUnavailable(registration.name, reason);
    if (registration.available !== available)
      logger.info(
        { apiService: registration.name, available, reason, message },
        "the availability of an aggregated API changed",
      );
  }

  async #find(remote: RemoteService): Promise<Finding> {
    return this.#missing(remote.service) ?? (await this.#ask(remote));
  }

  /** What the cluster's own objects say. */
  #missing({ namespace, name, port }: ServicePort): Finding | undefined {
    const { state } = this.options;
    const where = `service/${name} in ${JSON.stringify(namespace)}`;
    const missing = (reason: string, message: string): Finding => ({
      status: "False",
      reason,
      message,
    });
    const service = typed<Service>(state.read("", "services", namespace, name));
    if (!service) return missing("ServiceNotFound", `${where} is not present`);
    if ((service.spec.type ?? "ClusterIP") !== "ClusterIP") return undefined;
    const listens = service.spec.ports?.find((one) => one.port === port);
    if (!listens)
      return missing(
        "ServicePortError",
        `${where} is not listening on port ${port}`,
      );
    const endpoints = typed<Endpoints>(
      state.read("", "endpoints", namespace, name),
    );
    if (!endpoints)
      return missing("EndpointsNotFound", `cannot find endpoints for ${where}`);
    const portName = listens.name ?? "";
    const active = endpoints.subsets?.some(
      ({ addresses, ports }) =>
        (addresses?.length ?? 0) > 0 &&
        ports?.some((one) => (one.name ?? "") === portName),
    );
    return active
      ? undefined
      : missing(
          "MissingEndpoints",
          `endpoints for ${where} have no addresses with port name ${JSON.stringify(portName)}`,
        );
  }

  /** The server's certificate is not checked: it is only asked whether it is there. */
  async #ask(remote: RemoteService): Promise<Finding> {
    const found = new AbortController();
    const signal = AbortSignal.any([found.signal, this.#stopped.signal]);
    const ask = (): Promise<void> => this.#askOnce(remote, signal);
    const first = ask();
    // The others are asked when the first place fails, or takes its time.
    const slow = sleep(this.options.clock, patienceMs, signal);
    const next = Promise.race([first.catch(() => undefined), slow]);
    const others = Array.from({ length: attempts - 1 }, () =>
      next.then(() => (signal.aborted ? undefined : ask())),
    );
    try {
      await Promise.any([first, ...others]);
      return { status: "True", reason: "Passed", message: "all checks passed" };
    } catch (error) {
      const last: unknown = (error as AggregateError).errors.at(-1);
      return {
        status: "False",
        reason: "FailedDiscoveryCheck",
        message: last instanceof Error ? last.message : String(last),
        retry: true,
      };
    } finally {
      found.abort();
    }
  }

  async #askOnce(remote: RemoteService, signal: AbortSignal): Promise<void> {
    const place = this.options.resolve(remote.service);
    const path = pathOf(remote);
    const url = urlOf(place, path);
    let status: number;
    try {
      ({ status } = await readDocument(remote.server.unchecked, place, {
        path,
        user: checker,
        timeoutMs,
        maxBytes: 0,
        signal,
      }));
    } catch (error) {
      throw new Error(
        `failing or missing response from ${url}: Get ${JSON.stringify(url)}: ${(error as Error).message}`,
        { cause: error },
      );
    }
    if (status < 200 || status > 299)
      throw new Error(
        `failing or missing response from ${url}: bad status from ${url}: ${status}`,
      );
  }
}

function urlOf({ host, port }: Place, path: string): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return `https://${name}:${port}${path}`;
}
