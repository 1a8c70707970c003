// Connections to API servers that last as long as a part that runs alone: when this machine loses an address, all of them
// are made again, as those from that address hear nothing any more and nothing ends them before the server's own time-out.
import type { Logger } from "pino";
import { systemClock } from "../../../api/clock.ts";
import {
  createHttpTransport,
  type HttpTransportOptions,
} from "../../../client/http-transport.ts";
import type { Transport } from "../../../client/transport.ts";
import { findProgram } from "../../../cri/process.ts";
import type { HostLinks } from "../../../network/links/host-links.ts";
import { reconnecting } from "./own-addresses.ts";

export class LastingConnections {
  readonly #logger: Logger;
  /** By what makes each one again. */
  readonly #open = new Set<() => Promise<void>>();
  #links: Promise<HostLinks | undefined> | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The links are followed while there is one. */
  open(options: HttpTransportOptions): Transport {
    const transport = createHttpTransport(options);
    const again = (): Promise<void> => transport.updateTls(options.tls ?? {});
    this.#open.add(again);
    this.#links ??= this.#follow();
    return {
      request: (request) => transport.request(request),
      watch: (resource, watchOptions) =>
        transport.watch(resource, watchOptions),
      raw: (method, path, body) => transport.raw(method, path, body),
      close: async () => {
        this.#open.delete(again);
        if (this.#open.size === 0) await this.stop();
        await transport.close();
      },
    };
  }

  /** No connection is made again from now on. */
  async stop(): Promise<void> {
    const links = await this.#links;
    links?.stop();
    this.#links = undefined;
  }

  /** Without `ip`, in a small container for instance, nothing reports changes. */
  async #follow(): Promise<HostLinks | undefined> {
    if (!(await findProgram("ip"))) {
      this.#logger.info(
        "the program ip is not installed: when this machine's address changes, watches go on only after the API server has ended them",
      );
      return undefined;
    }
    const { HostLinks } = await import("../../../network/links/host-links.ts");
    const links = new HostLinks({ clock: systemClock, logger: this.#logger });
    links.onChange(
      reconnecting(this.#logger, async () => {
        await Promise.all([...this.#open].map((again) => again()));
      }),
    );
    return links;
  }
}
