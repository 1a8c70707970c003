// The ports of a service proxy that runs alone, as the reference has them: whether the node takes connections of load
// balancers (/healthz, with its Node), whether the proxy works (/livez), metrics, and the mode.
import type { Server } from "node:http";
import type { Clock } from "../../api/clock.ts";
import { metricsContentType, metricsText } from "../../api/metrics/family.ts";
import {
  closePlainPort,
  openPlainPort,
  plainText,
  type PlainAnswer,
} from "../plain-port.ts";
import type { ProxyMode } from "./backends.ts";
import type { ServiceProxy } from "./proxy.ts";

interface ProxyHealth {
  readonly mode: ProxyMode;
  readonly proxy: Pick<ServiceProxy, "works" | "behindMs" | "metrics">;
  /** The Node is not about to be deleted. */
  readonly nodeEligible: () => boolean;
  readonly clock: Clock;
}

export class ProxyPorts {
  readonly #health: ProxyHealth;
  readonly #servers: Server[] = [];

  constructor(health: ProxyHealth) {
    this.#health = health;
  }

  /** Rejects when the address is taken. @param address `HOST:PORT` */
  async openHealth(host: string, port: number): Promise<void> {
    await this.#open(host, port, (path) => {
      if (path === "/healthz") return this.#healthz(true);
      return path === "/livez" ? this.#healthz(false) : undefined;
    });
  }

  async openMetrics(host: string, port: number): Promise<void> {
    await this.#open(host, port, (path) => {
      if (path === "/metrics")
        return {
          status: 200,
          type: metricsContentType,
          body: metricsText(this.#health.proxy.metrics.families()),
        };
      if (path === "/proxyMode") return plainText(200, this.#health.mode);
      return path === "/healthz" ? plainText(200, "ok") : undefined;
    });
  }

  stop(): void {
    for (const server of this.#servers) closePlainPort(server);
  }

  #healthz(withNode: boolean): PlainAnswer {
    const { clock, proxy, nodeEligible } = this.#health;
    const nowMs = clock.now();
    const eligible = nodeEligible();
    return {
      status: proxy.works && (!withNode || eligible) ? 200 : 503,
      type: "application/json",
      body: JSON.stringify({
        lastUpdated: new Date(nowMs - proxy.behindMs).toISOString(),
        currentTime: new Date(nowMs).toISOString(),
        ...(withNode ? { nodeEligible: eligible } : {}),
      }),
    };
  }

  async #open(
    host: string,
    port: number,
    answer: (path: string) => PlainAnswer | undefined,
  ): Promise<void> {
    this.#servers.push(await openPlainPort(host, port, answer));
  }
}
