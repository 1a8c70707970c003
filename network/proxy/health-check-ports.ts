// The node ports on which a load balancer asks whether this node has endpoints of its own for a Service whose external
// traffic policy is Local: 200 with their number, 503 without any.
// Source: the reference's service health server.
import { createServer, type Server } from "node:http";
import type { Logger } from "pino";

interface Check {
  readonly port: number;
  readonly namespace: string;
  readonly name: string;
  localEndpoints: number;
  readonly server: Server;
}

export class HealthCheckPorts {
  readonly #checks = new Map<string, Check>();

  constructor(
    private readonly logger: Logger,
    /** Whether the rules are in the kernel. */
    private readonly healthy: () => boolean,
  ) {}

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
    known?.server.close();
    known?.server.closeAllConnections();
    this.#checks.delete(key);
    if (port === undefined) return;
    const check: Check = {
      port,
      namespace,
      name,
      localEndpoints,
      server: createServer((_request, response) => {
        const serves = check.localEndpoints > 0 && this.healthy();
        response.writeHead(serves ? 200 : 503, {
          "content-type": "application/json",
          "x-content-type-options": "nosniff",
          "x-load-balancing-endpoint-weight": String(check.localEndpoints),
        });
        response.end(
          JSON.stringify({
            service: { namespace, name },
            localEndpoints: check.localEndpoints,
            serviceProxyHealthy: this.healthy(),
          }),
        );
      }),
    };
    check.server.headersTimeout = 5000;
    check.server.requestTimeout = 5000;
    check.server.maxConnections = 256;
    check.server.on("error", (error) =>
      this.logger.error(
        { err: error, service: key, port },
        "the health check port of a Service can't be opened",
      ),
    );
    check.server.listen(port);
    this.#checks.set(key, check);
  }

  stop(): void {
    for (const { server } of this.#checks.values()) {
      server.close();
      server.closeAllConnections();
    }
    this.#checks.clear();
  }
}
