// What happens to containers and sandboxes, as RuntimeEvents. Source: containerd's own events service; safety net: a
// list of sandboxes and containers, diffed, every 15 s (every second where the runtime has no events service).
// Invariants: an "exited" is given only when a list shows the container stopped (CRI learns of an exit some milliseconds
// after the event) or a call of ours that ended it has answered, or again when it does; after every reconnection comes one
// "lost".
import { Backoff } from "../../api/queueing/backoff.ts";
import { grpcCodes } from "../../grpc/channel.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { ClientReadableStream } from "@grpc/grpc-js";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { EventListeners } from "../event-listeners.ts";
import type { RuntimeEvent } from "../runtime.ts";
import { causeCode, toRuntimeError, type Connection } from "./connection.ts";
import { isEnding } from "./ended-by-itself.ts";
import { filters, topics } from "./event-topics.ts";
import { containerdMethods } from "./services.ts";

interface Envelope {
  topic: string;
  event?: { value: Buffer };
}

const relistWithEventsMs = 15_000;
const relistWithoutEventsMs = 1_000;
/** A first look soon after the stream opened catches what fell between the two. */
const relistAfterConnectMs = 200;
const statusTimeoutMs = 5_000;
const initializingTimeoutMs = 30_000;
const initializingPollMs = 10;
/** Waits between looks at a container whose exit was announced; afterwards the event is given in any case. */
const settleDelaysMs = [0, 2, 4, 8, 16, 32, 64, 128, 256, 512];
/** An answer that comes so soon after the exit may be of a stop that found nothing to stop: CRI deletes the task first. */
const unsureMs = 10;
/** Exits being verified at once; more are given unverified. */
const maxSettling = 256;

const createdContainer = 0;
const runningContainer = 1;
const readySandbox = 0;

interface EventSourceOptions {
  connection: Connection;
  clock: Clock;
  logger: Logger;
  /** After each attempt to reach the runtime; true when it answered. */
  onConnect(answered: boolean): void;
}

export class EventSource {
  readonly #options: EventSourceOptions;
  readonly #listeners: EventListeners;
  /** id → "running" or "stopped", as last given to subscribers. */
  #known: Map<string, "running" | "stopped"> | undefined;
  /** id → those who wait for the CRI side to know of its exit. */
  readonly #settling = new Map<string, (() => void)[]>();
  /** id → calls of ours that end it. */
  readonly #ending = new Map<string, number>();
  /** Of these, what has exited, and when (monotonic). */
  readonly #exited = new Map<string, number>();
  readonly #timers = new Set<Timer>();
  #stream: ClientReadableStream<unknown> | undefined;
  #relistTimer: Timer | undefined;
  #relisting = false;
  #withEvents = true;
  #connectedBefore = false;
  readonly #reconnects = new Backoff({ baseMs: 100, maxMs: 2_000 });
  #running = false;

  constructor(options: EventSourceOptions) {
    this.#options = options;
    this.#listeners = new EventListeners(options.logger);
  }

  #later(delayMs: number, action: () => void): Timer {
    const timer = this.#options.clock.after(delayMs, () => {
      this.#timers.delete(timer);
      if (this.#running) action();
    });
    this.#timers.add(timer);
    return timer;
  }

  #give(type: "started" | "exited" | "deleted" | "created", id: string): void {
    if (type === "exited" && this.#known?.get(id) === "stopped") return;
    if (type === "deleted") {
      this.#known?.delete(id);
      this.#endSettling(id);
      this.#exited.delete(id);
    } else if (type !== "created")
      this.#known?.set(id, type === "started" ? "running" : "stopped");
    this.#listeners.emit({ type, id });
  }

  /** What the CRI side still takes for running under the id; undefined: nothing. */
  async #runningAs(
    id: string,
    kind?: "sandbox",
  ): Promise<"container" | "sandbox" | undefined> {
    if (!kind) {
      const { containers } = await this.#options.connection.call(
        "ListContainers",
        {
          filter: { id },
        },
      );
      if (containers.length > 0)
        // One that ends at once is shown as created, and then as running, before it is shown as exited.
        return containers.some(
          ({ state }) =>
            state === runningContainer || state === createdContainer,
        )
          ? "container"
          : undefined;
    }
    const { items } = await this.#options.connection.call("ListPodSandbox", {
      filter: { id },
    });
    return items.some(({ state }) => state === readySandbox)
      ? "sandbox"
      : undefined;
  }

  /**
   * Waits until the CRI side knows of the exit too, then gives the event. A sandbox that is being removed stays ready
   * while its network goes, for long when many go at once: it is looked at less often.
   */
  #settleExit(id: string, attempt: number, sandbox?: "sandbox"): void {
    if (!this.#settling.has(id)) return; // deleted meanwhile
    const delayMs = settleDelaysMs[attempt];
    if (delayMs === undefined) {
      this.#giveUnseen(id);
      return;
    }
    this.#later(delayMs, () => {
      this.#runningAs(id, sandbox).then(
        (still) => {
          if (still === "sandbox") this.#settleExit(id, attempt + 2, still);
          else if (still) this.#settleExit(id, attempt + 1);
          else if (this.#endSettling(id)) this.#give("exited", id);
        },
        () => this.#giveUnseen(id),
      );
    });
  }

  /** Lets those go on who wait for it. False: it was not settling. */
  #endSettling(id: string): boolean {
    const waiting = this.#settling.get(id);
    waiting?.forEach((resolve) => resolve());
    return waiting !== undefined && this.#settling.delete(id);
  }

  /** An exit that no list has shown: it is given again when one does. */
  #giveUnseen(id: string): void {
    if (!this.#endSettling(id)) return;
    this.#give("exited", id);
    this.#known?.set(id, "running");
  }

  #handle({ topic, event }: Envelope): void {
    const row = topics[topic];
    if (row === undefined || event === undefined) return;
    const [message, type, field] = row;
    const payload = this.#options.connection.decode(
      message,
      event.value,
    ) as Record<string, string>;
    const id = payload[field] ?? "";
    if (type === "oom" || type === "image") this.#listeners.emit({ type, id });
    else if (type === "created" || type === "started" || type === "deleted")
      this.#give(type, id);
    // The exit of an exec'd process names the exec as `id`.
    else if (payload["id"] === "" || payload["id"] === id) {
      const isKnown = this.#known?.get(id) === "stopped";
      if (this.#ending.has(id)) {
        if (!isKnown) this.#exited.set(id, this.#options.clock.monotonic());
        return;
      }
      // After the answer of a stop: that may have found nothing to stop.
      if (isKnown) this.#known?.set(id, "running");
      this.#settle(id);
    }
  }

  #settle(id: string): void {
    if (this.#settling.has(id)) return;
    const full = this.#settling.size >= maxSettling;
    this.#settling.set(id, []);
    if (full) this.#giveUnseen(id);
    else this.#settleExit(id, 0);
  }

  /**
   * Runs a call that stops (or removes) a container or a sandbox and answers when the CRI side knows of the exit: nothing is
   * asked about it meanwhile, which for many pods that end at once would be most of all calls. The stop of one that has
   * just ended by itself is answered at once, so that its exit is waited for here.
   */
  async whileEnding<T>(
    id: string,
    how: "stop" | "remove",
    call: () => Promise<T>,
  ): Promise<T> {
    this.#ending.set(id, (this.#ending.get(id) ?? 0) + 1);
    try {
      const result = await call();
      if (how === "stop" && this.#running) await this.#giveStopped(id);
      this.#exited.delete(id);
      return result;
    } catch (error) {
      // Its exit is looked for, also one that was not announced yet.
      const isOver =
        this.#exited.delete(id) || (how === "stop" && isEnding(error));
      if (isOver && this.#running) this.#settle(id);
      throw error;
    } finally {
      const others = this.#ending.get(id)! - 1;
      if (others > 0) this.#ending.set(id, others);
      else this.#ending.delete(id);
    }
  }

  /** A stop was answered, which is as good as a list unless the exit came just before. What is removed is given as such. */
  async #giveStopped(id: string): Promise<void> {
    const exitedMs = this.#exited.get(id);
    const nowMs = this.#options.clock.monotonic();
    if (exitedMs !== undefined && nowMs - exitedMs < unsureMs) this.#settle(id);
    const settling = this.#settling.get(id);
    if (!settling) this.#give("exited", id);
    else await new Promise<void>((resolve) => settling.push(resolve));
  }

  async #relist(): Promise<void> {
    if (this.#relisting || this.#listeners.isEmpty) return;
    this.#relisting = true;
    const asked = new Map(this.#known);
    /** What came meanwhile is newer than the list. */
    const isOutdated = (id: string): boolean =>
      this.#settling.has(id) || this.#known?.get(id) !== asked.get(id);
    try {
      const [{ items }, { containers }] = await Promise.all([
        this.#options.connection.call("ListPodSandbox", {}),
        this.#options.connection.call("ListContainers", {}),
      ]);
      const now = new Map<string, "running" | "stopped" | "created">();
      for (const { id, state } of items)
        now.set(id, state === readySandbox ? "running" : "stopped");
      for (const { id, state } of containers)
        now.set(
          id,
          state === runningContainer
            ? "running"
            : state === createdContainer
              ? "created"
              : "stopped",
        );
      const before = this.#known;
      if (before === undefined) {
        this.#known = new Map(
          [...now].filter(
            (entry): entry is [string, "running" | "stopped"] =>
              entry[1] !== "created",
          ),
        );
        return;
      }
      for (const [id, state] of now) {
        if (isOutdated(id) || before.get(id) === state) continue;
        if (state === "running") this.#give("started", id);
        else if (state === "stopped") this.#give("exited", id);
      }
      for (const id of asked.keys())
        if (!now.has(id) && !isOutdated(id)) this.#give("deleted", id);
    } catch (error) {
      this.#options.logger.debug(
        { err: error },
        "listing the runtime's containers failed",
      );
    } finally {
      this.#relisting = false;
    }
  }

  #scheduleRelist(delayMs: number): void {
    this.#relistTimer?.cancel();
    this.#relistTimer = this.#later(delayMs, () => {
      void this.#relist().then(() => {
        if (this.#running)
          this.#scheduleRelist(
            this.#withEvents ? relistWithEventsMs : relistWithoutEventsMs,
          );
      });
    });
  }

  #reconnectLater(): void {
    this.#later(this.#reconnects.nextMs(), () => void this.#connect());
  }

  /**
   * An open stream says nothing until its first event, so a plain call shows whether the runtime is there: one that is
   * refused while containerd reads back its pods, which is waited for.
   */
  async #answers(): Promise<boolean> {
    const end = this.#options.clock.monotonic() + initializingTimeoutMs;
    for (;;) {
      try {
        await this.#options.connection.call("Status", {}, statusTimeoutMs);
        return true;
      } catch (error) {
        const initializing = /not initialized yet/.test(
          (error as Error).message,
        );
        if (
          !this.#running ||
          !initializing ||
          this.#options.clock.monotonic() > end
        )
          return false;
        await sleep(initializingPollMs);
      }
    }
  }

  async #connect(): Promise<void> {
    if (!(await this.#answers())) {
      if (this.#running) this.#reconnectLater();
      this.#options.onConnect(false);
      return;
    }
    if (!this.#running) return;
    this.#options.onConnect(true);
    this.#reconnects.reset();
    const opened = this.#options.connection.serverStream(
      containerdMethods.subscribe,
      {
        filters,
      },
    );
    this.#stream = opened;
    opened.on("data", (envelope: unknown) => {
      try {
        this.#handle(envelope as Envelope);
      } catch (error) {
        this.#options.logger.warn(
          { err: error },
          "a runtime event could not be read",
        );
      }
    });
    let ended = false;
    const end = (error?: unknown): void => {
      if (ended) return;
      ended = true;
      if (this.#stream === opened) this.#stream = undefined;
      if (!this.#running) return;
      if (error !== undefined && causeCode(error) === grpcCodes.unimplemented) {
        this.#withEvents = false;
        this.#scheduleRelist(0);
        return;
      }
      if (error !== undefined)
        this.#options.logger.warn(
          { err: toRuntimeError(error, "Subscribe") },
          "lost the runtime's event stream",
        );
      this.#reconnectLater();
    };
    opened.on("error", end);
    opened.on("end", () => end());
    if (this.#connectedBefore) this.#listeners.emit({ type: "lost", id: "" });
    this.#connectedBefore = true;
    this.#scheduleRelist(relistAfterConnectMs);
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    void this.#connect();
  }

  stop(): void {
    this.#running = false;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    for (const id of [...this.#settling.keys()]) this.#endSettling(id);
    this.#exited.clear();
    this.#stream?.cancel();
    this.#stream = undefined;
  }

  /** Returns a disposer. */
  subscribe(listener: (event: RuntimeEvent) => void): () => void {
    return this.#listeners.add(listener);
  }
}
