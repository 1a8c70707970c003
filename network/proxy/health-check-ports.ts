// The node ports on which a load balancer asks whether this node has endpoints of its own for a Service whose external
// traffic policy is Local: 200 with their number, 503 without any. Of the node's addresses those answer that take node ports.
// A port that can't be opened is tried again. Source: the reference's service health server.
import { createServer, type Server } from "node:http";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { AddressRanges, plainAddress } from "../address-ranges.ts";

const retryMs = 10_000;

interface HealthCheckOptions {
  /** Of the node's addresses; a family of which no range is named is not limited. */
  readonly addressRanges: readonly string[];
  /** Changes of rules reach the kernel. */
  readonly works: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Check {
  readonly port: number;
  readonly server: Server;
  localEndpoints: number;
  retry?: Timer;
}

export class HealthCheckPorts {
  readonly #options: HealthCheckOptions;
  readonly #checks = new Map<string, Check>();
  readonly #takes: (address: string) => boolean;

  constructor(options: HealthCheckOptions) {
    this.#options = options;
    const { addressRanges } = options;
    const ranges = new AddressRanges(addressRanges);
    const limited = (six: boolean): boolean =>
      addressRanges.some((range) => range.includes(":") === six);
    const [four, six] = [limited(false), limited(true)];
    this.#takes = (address) =>
      !(address.includes(":") ? six : four) || ranges.contains(address);
  }

  /** @param port undefined: the Service has none */
  set(
    namespace: string,
    name: string,
    port: number | undefined,
    localEndpoints: number,
  ): void {
    const key = `${namespace}/${name}`;
    const known = this.#checks.get(key);
    if (known && known.port === port) {
      known.localEndpoints = localEndpoints;
      return;
    }
    if (known) close(known);
    this.#checks.delete(key);
    if (port === undefined) return;
    const check: Check = {
      port,
      localEndpoints,
      server: this.#server({ namespace, name }, () => check.localEndpoints),
    };
    this.#checks.set(key, check);
    const { clock, logger } = this.#options;
    check.server.on("error", (error) => {
      logger.error(
        { err: error, service: key, port },
        "the health check port of a Service can't be opened",
      );
      if (!check.server.listening)
        check.retry = clock.after(retryMs, () => check.server.listen(port));
    });
    check.server.listen(port);
  }

  stop(): void {
    for (const check of this.#checks.values()) close(check);
    this.#checks.clear();
  }

  #server(
    service: { namespace: string; name: string },
    localEndpoints: () => number,
  ): Server {
    const server = createServer((_request, response) => {
      const count = localEndpoints();
      const works = this.#options.works();
      response.writeHead(count > 0 && works ? 200 : 503, {
        "content-type": "application/json",
        "x-content-type-options": "nosniff",
        "x-load-balancing-endpoint-weight": String(count),
      });
      response.end(
        JSON.stringify({
          service,
          localEndpoints: count,
          serviceProxyHealthy: works,
        }),
      );
    });
    server.headersTimeout = 5000;
    server.requestTimeout = 5000;
    server.maxConnections = 256;
    return server.on("connection", (socket) => {
      if (!this.#takes(plainAddress(socket.localAddress ?? "")))
        socket.destroy();
    });
  }
}

function close({ server, retry }: Check): void {
  retry?.cancel();
  server.close();
  server.closeAllConnections();
}
