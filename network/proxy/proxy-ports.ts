// The ports of a service proxy that runs alone, as the reference has them: whether the node takes connections of load
// balancers (/healthz, with its Node), whether the proxy works (/livez), metrics, and the mode.
import type { Server } from "node:http";
import type { Clock } from "../../api/clock.ts";
import {
  metricsContentType,
  metricsText,
  type Family,
} from "../../api/metrics/family.ts";

import {
  closePlainPort,
  openPlainPort,
  plainText,
  type PlainAnswer,
} from "../plain-port.ts";
import type { ProxyMode } from "./backends.ts";

/** Rules that were asked for and are not written after this time make the proxy unhealthy. */
const stuckMs = 60_000;

interface ProxyHealth {
  readonly mode: ProxyMode;
  /** The kernel has what was asked for last. */
  readonly inStep: () => boolean;
  /** The Node is not about to be deleted. */
  readonly nodeEligible: () => boolean;
  readonly metrics: () => readonly Family[];
  readonly clock: Clock;
}

export class ProxyPorts {
  readonly #health: ProxyHealth;
  readonly #servers: Server[] = [];
  #inStepMs: number;

  constructor(health: ProxyHealth) {
    this.#health = health;
    this.#inStepMs = health.clock.now();
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
          body: metricsText(this.#health.metrics()),
        };
      if (path === "/proxyMode") return plainText(200, this.#health.mode);
      return path === "/healthz" ? plainText(200, "ok") : undefined;
    });
  }

  stop(): void {
    for (const server of this.#servers) closePlainPort(server);
  }

  #healthz(withNode: boolean): PlainAnswer {
    const { clock, inStep, nodeEligible } = this.#health;
    const nowMs = clock.now();
    if (inStep()) this.#inStepMs = nowMs;
    const works = nowMs - this.#inStepMs < stuckMs;
    const eligible = nodeEligible();
    return {
      status: works && (!withNode || eligible) ? 200 : 503,
      type: "application/json",
      body: JSON.stringify({
        lastUpdated: new Date(this.#inStepMs).toISOString(),
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
