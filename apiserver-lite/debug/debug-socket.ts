// --debug-socket-path: the profiling pages on a unix socket, without authentication: every user who may open the file may
// read them. A server that hangs in its filters can still be inspected that way.
import * as fs from "node:fs";
import { createServer, type Server } from "node:http";
import type { Logger } from "pino";
import { Http1Exchange } from "../../http-kit/exchange.ts";
import type { Profiling } from "../../http-kit/profiling.ts";

export class DebugSocket {
  readonly #server: Server;

  constructor(
    private readonly path: string,
    profiling: Profiling,
    logger: Logger,
  ) {
    this.#server = createServer((request, response) => {
      const exchange = new Http1Exchange(request, response, {
        remoteAddress: "",
        clientCertificate: undefined,
      });
      const url = new URL(request.url ?? "/", "http://socket");
      const serving = url.pathname.startsWith("/debug/pprof")
        ? profiling.serve(exchange, url.pathname, url.searchParams, true)
        : Promise.resolve(exchange.respond(404, {}, "404 page not found\n"));
      serving.catch((error: unknown) => {
        logger.debug({ err: error }, "debug socket");
        if (!exchange.started)
          exchange.respond(500, {}, `${(error as Error).message}\n`);
        else exchange.destroy();
      });
    });
  }

  /** A socket file left by a process that is gone is taken over. */
  async listen(): Promise<void> {
    if (fs.lstatSync(this.path, { throwIfNoEntry: false })?.isSocket())
      fs.unlinkSync(this.path);
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(this.path, resolve);
    });
    fs.chmodSync(this.path, 0o600);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
