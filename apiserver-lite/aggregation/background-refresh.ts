// What this server keeps of the documents of aggregated servers is read in the background: when an APIService comes,
// changes or goes, and once a minute; one that fails again with back-off. One a kind of documents; no request waits for it.
// Owns its queue, timer and reads: stop() ends them.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { WorkQueue } from "../../client/work-queue.ts";
import type { TimeSlices } from "../loop/time-slices.ts";
import { readDocument } from "./extension-document.ts";
import type { RemoteService, RemoteServices } from "./remote-services.ts";
import type { ServiceResolver } from "./service-resolver.ts";

const periodMs = 60_000;
/** Servers that are asked at once: one that hangs delays no other. */
const concurrency = 32;

export interface RefreshOptions {
  readonly remotes: RemoteServices;
  readonly resolve: ServiceResolver;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly slices: TimeSlices;
  /** Called when what is known changed. */
  changed(): void;
}

interface RefreshRules {
  readonly name: string;
  /** Reads what the server of this APIService says, or forgets what it said. */
  refresh(name: string): Promise<void>;
  /** Is a change of an APIService a reason? */
  isReason(
    now: RemoteService | undefined,
    before: RemoteService | undefined,
  ): boolean;
  /** Is it asked once a minute? */
  isAsked(remote: RemoteService): boolean;
  /** Of what fails; default: the queue's. */
  readonly backoff?: {
    readonly baseBackoffMs: number;
    readonly maxBackoffMs: number;
  };
}

type Asked = Omit<Parameters<typeof readDocument>[2], "signal">;

export class BackgroundRefresh {
  readonly #queue: WorkQueue;
  readonly #stopped = new AbortController();
  #timer: Timer | undefined;

  constructor(
    private readonly options: RefreshOptions,
    private readonly rules: RefreshRules,
  ) {
    const { clock, logger } = options;
    this.#queue = new WorkQueue({
      ...{ name: rules.name, clock, logger, concurrency },
      process: (name) => rules.refresh(name),
      ...rules.backoff,
    });
  }

  start(): void {
    const { remotes } = this.options;
    remotes.onChange((name, now, before) => {
      if (!this.rules.isReason(now, before)) return;
      this.#queue.forget(name);
      this.#queue.add(name);
    });
    for (const { name } of remotes.all()) this.#queue.add(name);
    this.#queue.start();
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#stopped.abort();
    await this.#queue.stop();
  }

  read(
    { server, service }: RemoteService,
    asked: Asked,
  ): ReturnType<typeof readDocument> {
    const signal = this.#stopped.signal;
    const place = this.options.resolve(service);
    return readDocument(server, place, { ...asked, signal });
  }

  #schedule(): void {
    const { clock, remotes } = this.options;
    this.#timer = clock.after(periodMs, () => {
      for (const remote of remotes.all())
        if (this.rules.isAsked(remote)) this.#queue.add(remote.name);
      this.#schedule();
    });
  }
}
