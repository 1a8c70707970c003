// What happens to the agent's containers, as RuntimeEvents. Source: the daemon's event stream; safety net: a list, diffed,
// every 15 s. Invariants: an "exited" is given when lists show it and the log is copied to its end; after every reconnection comes
// one "lost"; subscribers never see an event twice for one exit.
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { Backoff } from "../../api/queueing/backoff.ts";
import { within } from "../deadline.ts";
import { EventListeners } from "../event-listeners.ts";
import type { RuntimeEvent } from "../runtime.ts";
import type { DockerConnection } from "./connection.ts";
import { labelFilter, readRecord } from "./records.ts";

type EventType = RuntimeEvent["type"];

type ContainerLife = "running" | "stopped";

interface Listed {
  ids: ReadonlySet<string>;
  /** Without those that were not started. */
  states: Map<string, ContainerLife>;
}

interface DaemonEvent {
  Type?: string;
  Action?: string;
  Actor?: { ID?: string };
}

/** The daemon's actions on containers; others, of exec for instance, are many and not asked for. */
const containerActions: Readonly<Record<string, EventType>> = {
  create: "created",
  start: "started",
  die: "exited",
  oom: "oom",
  destroy: "deleted",
};
const imageActions = ["delete", "import", "load", "pull", "tag", "untag"];

const relistMs = 15_000;
/** A first look soon after the stream opened catches what fell between the two. */
const relistAfterConnectMs = 200;
const pingTimeoutMs = 5_000;
/** How long an exit is kept back for the rest of the container's log. */
const logPatienceMs = 2_000;

interface EventSourceOptions {
  connection: DockerConnection;
  clock: Clock;
  logger: Logger;
  /** Before an exit is given. */
  beforeExit: (id: string) => Promise<void>;
  /** After each attempt to reach the daemon; true when it answered. */
  onConnect: (answered: boolean) => Promise<void>;
}

export class EventSource {
  readonly #options: EventSourceOptions;
  readonly #listeners: EventListeners;
  /** As last given to subscribers. */
  #known: Map<string, ContainerLife> | undefined;
  readonly #exiting = new Set<string>();
  readonly #reconnects = new Backoff({ baseMs: 100, maxMs: 2_000 });
  #streams: Readable[] = [];
  #timer: Timer | undefined;
  #relistTimer: Timer | undefined;
  #connectedBefore = false;
  #running = false;

  constructor(options: EventSourceOptions) {
    this.#options = options;
    this.#listeners = new EventListeners(options.logger);
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    void this.#connect();
  }

  stop(): void {
    this.#running = false;
    this.#timer?.cancel();
    this.#relistTimer?.cancel();
    for (const stream of this.#streams) stream.destroy();
    this.#streams = [];
  }

  /** Returns a disposer. */
  subscribe(listener: (event: RuntimeEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  async #connect(): Promise<void> {
    const { logger, onConnect } = this.#options;
    try {
      // Before the streams: what happens from here on differs from it.
      this.#known ??= (await this.#list(pingTimeoutMs)).states;
      this.#streams = await Promise.all([
        this.#open({
          type: ["container"],
          event: Object.keys(containerActions),
          ...labelFilter(undefined),
        }),
        this.#open({ type: ["image"], event: imageActions }),
      ]);
    } catch (error) {
      logger.debug({ err: error }, "the docker daemon does not answer");
      await onConnect(false);
      this.#reconnectLater();
      return;
    }
    await onConnect(true);
    if (!this.#running) return this.stop();
    this.#reconnects.reset();
    for (const stream of this.#streams) this.#read(stream);
    if (this.#connectedBefore) this.#listeners.emit({ type: "lost", id: "" });
    this.#connectedBefore = true;
    this.#relistLater(relistAfterConnectMs);
  }

  async #open(filters: Record<string, string[]>): Promise<Readable> {
    return (await this.#options.connection.call(
      "Events",
      (docker) => docker.getEvents({ filters }),
      pingTimeoutMs,
    )) as Readable;
  }

  #reconnectLater(): void {
    if (!this.#running) return;
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(
      this.#reconnects.nextMs(),
      () => void this.#connect(),
    );
  }

  #read(stream: Readable): void {
    const { logger } = this.#options;
    const lines = createInterface({ input: stream });
    lines.on("line", (line) => {
      try {
        this.#handle(JSON.parse(line) as DaemonEvent);
      } catch (error) {
        logger.warn({ err: error }, "a runtime event could not be read");
      }
    });
    lines.on("error", () => undefined);
    stream.on("error", () => undefined);
    stream.once("close", () => {
      if (!this.#running || !this.#streams.includes(stream)) return;
      for (const other of this.#streams) other.destroy();
      this.#streams = [];
      logger.warn("lost the runtime's event stream");
      this.#reconnectLater();
    });
  }

  #handle({ Type, Action = "", Actor }: DaemonEvent): void {
    const id = Actor?.ID ?? "";
    if (Type === "image") return this.#listeners.emit({ type: "image", id });
    const type = containerActions[Action];
    if (type === "exited") void this.#giveExit(id);
    else if (type !== undefined) this.#give(type, id);
  }

  async #giveExit(id: string): Promise<void> {
    if (this.#known?.get(id) === "stopped" || this.#exiting.has(id)) return;
    const { clock, beforeExit } = this.#options;
    this.#exiting.add(id);
    await within(clock, logPatienceMs, beforeExit(id)).catch(() => undefined);
    if (this.#exiting.delete(id)) this.#give("exited", id);
  }

  #give(type: EventType, id: string): void {
    if (type === "deleted") {
      // An exit that is kept back comes first.
      if (this.#exiting.delete(id)) this.#give("exited", id);
      this.#known?.delete(id);
    } else if (type === "started") this.#known?.set(id, "running");
    else if (type === "exited") this.#known?.set(id, "stopped");
    this.#listeners.emit({ type, id });
  }

  #relistLater(delayMs: number): void {
    this.#relistTimer?.cancel();
    if (!this.#running || this.#streams.length === 0) return;
    this.#relistTimer = this.#options.clock.after(delayMs, () => {
      this.#relist()
        .catch((error: unknown) =>
          this.#options.logger.debug(
            { err: error },
            "listing the runtime's containers failed",
          ),
        )
        .finally(() => this.#relistLater(relistMs));
    });
  }

  async #list(timeoutMs?: number): Promise<Listed> {
    const found = await this.#options.connection.call(
      "ListContainers",
      (docker, signal) =>
        docker.listContainers({
          all: true,
          filters: labelFilter(undefined),
          abortSignal: signal,
        }),
      timeoutMs,
    );
    const own = found.filter(({ Labels, Names }) => readRecord(Labels, Names));
    const states = new Map<string, ContainerLife>();
    for (const { Id, State } of own)
      if (State !== "created")
        states.set(Id, State === "running" ? "running" : "stopped");
    return { ids: new Set(own.map(({ Id }) => Id)), states };
  }

  async #relist(): Promise<void> {
    const before = new Map(this.#known);
    const { ids, states } = await this.#list();
    const known = this.#known;
    if (!known) return;
    for (const [id, state] of states) {
      // What an event changed meanwhile is newer than the list.
      if (known.get(id) !== before.get(id) || known.get(id) === state) continue;
      if (state === "running") this.#give("started", id);
      else void this.#giveExit(id);
    }
    for (const id of before.keys())
      if (!ids.has(id) && known.has(id)) this.#give("deleted", id);
  }
}
