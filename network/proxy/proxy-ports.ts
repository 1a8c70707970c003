// The ports of a service proxy that runs alone, as the reference has them: whether the node takes connections of load
// balancers (/healthz, with its Node), whether the proxy works (/livez), metrics, and the mode.
import { createServer, type Server } from "node:http";
import type { Clock } from "../../api/clock.ts";
import {
  metricsContentType,
  metricsText,
  type Family,
} from "../../api/metrics/family.ts";

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

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const text = (status: number, body: string): Answer => ({
  status,
  type: "text/plain; charset=utf-8",
  body,
});

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
      if (path === "/proxyMode") return text(200, this.#health.mode);
      return path === "/healthz" ? text(200, "ok") : undefined;
    });
  }

  stop(): void {
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  #healthz(withNode: boolean): Answer {
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

  #open(
    host: string,
    port: number,
    answer: (path: string) => Answer | undefined,
  ): Promise<void> {
    const server = createServer((request, response) => {
      const { method = "GET", url = "/" } = request;
      const found =
        method === "GET" || method === "HEAD"
          ? (answer(url.split("?", 1)[0]!) ?? text(404, "404 page not found\n"))
          : text(405, "method not allowed\n");
      response.writeHead(found.status, {
        "content-type": found.type,
        "x-content-type-options": "nosniff",
      });
      response.end(method === "HEAD" ? undefined : found.body);
    });
    server.headersTimeout = 5000;
    server.requestTimeout = 5000;
    server.maxConnections = 256;
    this.#servers.push(server);
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
  }
}
