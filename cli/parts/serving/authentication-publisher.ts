// Makes known by which authorities this server knows clients and front proxies, each time that they change: one write after
// the other, the newest wins, and what fails is tried again.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../../api/clock.ts";
import { Backoff } from "../../../api/queueing/backoff.ts";
import {
  publishAuthentication,
  type PublishedAuthentication,
} from "../../../client/access/authentication-config.ts";
import type { Transport } from "../../../client/transport.ts";

const retries = { baseMs: 1000, maxMs: 60_000 };

interface PublisherOptions {
  readonly transport: Pick<Transport, "request">;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class AuthenticationPublisher {
  readonly #backoff = new Backoff(retries);
  #wanted: PublishedAuthentication | undefined;
  #writing = false;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(private readonly options: PublisherOptions) {}

  publish(authentication: PublishedAuthentication): void {
    this.#wanted = authentication;
    this.#timer?.cancel();
    if (!this.#writing) void this.#write();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Never rejects. */
  async #write(): Promise<void> {
    const { transport, clock, logger } = this.options;
    this.#writing = true;
    while (this.#wanted && !this.#stopped) {
      const wanted = this.#wanted;
      try {
        await publishAuthentication(transport, wanted);
        if (this.#wanted === wanted) this.#wanted = undefined;
        this.#backoff.reset();
      } catch (error) {
        logger.error({ err: error }, "authorities could not be published");
        if (this.#stopped) break;
        this.#timer = clock.after(
          this.#backoff.nextMs(),
          () => void this.#write(),
        );
        break;
      }
    }
    this.#writing = false;
  }
}
