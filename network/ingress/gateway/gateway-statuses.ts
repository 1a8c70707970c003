// Writes the statuses of GatewayClasses, Gateways and HTTPRoutes, each when it is to be another: conditions keep the time of
// their last change, and what other controllers wrote of a route stays.
import type { Logger } from "pino";
import { formatTime, type Clock } from "../../../api/clock.ts";
import { isConflict, isNotFound } from "../../../api/errors.ts";
import { splitKey, type KubeObject } from "../../../api/object.ts";
import type { Client, ResourceRef } from "../../../client/client.ts";
import type { Lister } from "../../../client/informer.ts";
import { WorkQueue } from "../../../client/work-queue.ts";
import { conditionsWith } from "./conditions.ts";
import { gatewayController } from "./gateway-class.ts";
import { gatewayStatus } from "./gateway-status.ts";
import type { PlannedListener } from "./listeners.ts";
import {
  gatewayClasses,
  gateways,
  httpRoutes,
  type Gateway,
  type GatewayClass,
  type HttpRoute,
} from "./objects.ts";
import type { RoutePlan } from "./route-plan.ts";

/** Keys are a kind's prefix and namespace/name. */
export const gatewayPrefix = "Gateway:";
export const routePrefix = "HTTPRoute:";
export const classPrefix = "GatewayClass:";

interface GatewayStatusesOptions {
  readonly client: Client;
  readonly classes: Lister<GatewayClass>;
  readonly gateways: Lister<Gateway>;
  readonly routes: Lister<HttpRoute>;
  /** By namespace/name; undefined: it is not ours. */
  readonly listenersOf: (
    gateway: string,
  ) => readonly PlannedListener[] | undefined;
  readonly planOf: (route: string) => RoutePlan | undefined;
  readonly attachedRoutes: (gateway: string, listener: string) => number;
  /** Of the nodes that serve. */
  readonly addresses: () => readonly string[];
  /** Whether this node writes: of several that serve one does. */
  readonly writes: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class GatewayStatuses {
  readonly #options: GatewayStatusesOptions;
  readonly #queue: WorkQueue;

  constructor(options: GatewayStatusesOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({
      name: "gateway-status",
      clock: options.clock,
      logger: options.logger,
      concurrency: 4,
      process: (key) => this.#writeStatus(key),
      isExpected: isConflict,
    });
  }

  start(): void {
    this.#queue.start();
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  /** Of the object something may have changed. */
  add(key: string): void {
    this.#queue.add(key);
  }

  async #writeStatus(key: string): Promise<void> {
    if (!this.#options.writes()) return;
    const at = key.indexOf(":") + 1;
    const name = key.slice(at);
    const kind = key.slice(0, at);
    if (kind === gatewayPrefix) return this.#writeGatewayStatus(name);
    if (kind === routePrefix) return this.#writeRouteStatus(name);
    const object = this.#options.classes.get(name);
    if (!object || object.spec.controllerName !== gatewayController) return;
    const refused = object.spec.parametersRef !== undefined;
    return this.#update(gatewayClasses, object, {
      ...object.status,
      conditions: conditionsWith(
        [
          {
            type: "Accepted",
            status: refused ? "False" : "True",
            reason: refused ? "InvalidParameters" : "Accepted",
            message: refused ? "parametersRef is not supported" : "",
          },
        ],
        object.status?.conditions,
        object.metadata.generation,
        this.#time(),
      ),
    });
  }

  async #writeGatewayStatus(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    const gateway = this.#options.gateways.get(name, namespace);
    const listeners = this.#options.listenersOf(key);
    if (!gateway || !listeners) return;
    await this.#update(
      gateways,
      gateway,
      gatewayStatus(gateway, listeners, {
        addresses: this.#options.addresses(),
        attachedRoutes: (listener) =>
          this.#options.attachedRoutes(key, listener),
        time: this.#time(),
      }),
    );
  }

  async #writeRouteStatus(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    const route = this.#options.routes.get(name, namespace);
    const planned = this.#options.planOf(key);
    if (!route || !planned) return;
    const before = route.status?.parents ?? [];
    const others = before.filter(
      (each) => each.controllerName !== gatewayController,
    );
    const own = planned.parents.map(({ parentRef, conditions }) => ({
      parentRef,
      controllerName: gatewayController,
      conditions: conditionsWith(
        conditions,
        before.find(
          (each) =>
            each.controllerName === gatewayController &&
            sameParent(each.parentRef, parentRef),
        )?.conditions,
        route.metadata.generation,
        this.#time(),
      ),
    }));
    if (own.length === 0 && others.length === before.length) return;
    await this.#update(httpRoutes, route, { parents: [...others, ...own] });
  }

  async #update<T extends KubeObject & { status?: object }>(
    ref: ResourceRef<T>,
    object: T,
    status: NonNullable<T["status"]>,
  ): Promise<void> {
    if (sortedText(object.status) === sortedText(status)) return;
    try {
      await this.#options.client
        .resource(ref)
        .updateStatus({ ...object, status });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  #time(): string {
    return formatTime(this.#options.clock.now());
  }
}

function sameParent(a: object, b: object): boolean {
  return sortedText(a) === sortedText(b);
}

/** The same for objects whose fields come in another order. */
function sortedText(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    each !== null && typeof each === "object" && !Array.isArray(each)
      ? Object.fromEntries(
          Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)),
        )
      : each,
  );
}
