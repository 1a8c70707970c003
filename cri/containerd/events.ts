// What happens to containers and sandboxes, as RuntimeEvents. Source: containerd's own events service; safety net: a
// list of sandboxes and containers, diffed, every 15 s (every second where the runtime has no events service).
// Invariants: an "exited" is given only when a list shows the container stopped (CRI learns of an exit some milliseconds
// after the event); after every reconnection comes one "lost"; subscribers never see an event twice for one exit.
import { Backoff } from "../../api/queueing/backoff.ts";
import { grpcCodes } from "../../grpc/channel.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { ClientReadableStream } from "@grpc/grpc-js";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type { RuntimeEvent } from "../runtime.ts";
import { causeCode, toRuntimeError, type Connection } from "./connection.ts";
import { containerdMethods } from "./services.ts";

export interface EventSource {
  start(): void;
  stop(): void;
  subscribe(listener: (event: RuntimeEvent) => void): () => void;
}

interface Envelope {
  topic: string;
  event?: { value: Buffer };
}

/** topic → message of its payload, event type, field with the id. */
const topics: Readonly<
  Record<
    string,
    readonly [message: string, type: RuntimeEvent["type"], field: string]
  >
> = {
  "/containers/create": ["ContainerCreate", "created", "id"],
  "/containers/delete": ["ContainerDelete", "deleted", "id"],
  "/tasks/start": ["TaskStart", "started", "container_id"],
  "/tasks/exit": ["TaskExit", "exited", "container_id"],
  "/tasks/oom": ["TaskOOM", "oom", "container_id"],
  "/images/create": ["ImageEvent", "image", "name"],
  "/images/update": ["ImageEvent", "image", "name"],
  "/images/delete": ["ImageEvent", "image", "name"],
};

const filters = Object.keys(topics).map(
  (topic) => `namespace==k8s.io,topic=="${topic}"`,
);

const relistWithEventsMs = 15_000;
const relistWithoutEventsMs = 1_000;
/** A first look soon after the stream opened catches what fell between the two. */
const relistAfterConnectMs = 200;
const statusTimeoutMs = 5_000;
const initializingTimeoutMs = 30_000;
const initializingPollMs = 10;
/** Waits between looks at a container whose exit was announced; afterwards the event is given in any case. */
const settleDelaysMs = [0, 2, 4, 8, 16, 32, 64, 128, 256, 512];
/** Exits being verified at once; more are given unverified. */
const maxSettling = 256;

const runningContainer = 1;
const readySandbox = 0;

interface EventSourceOptions {
  connection: Connection;
  clock: Clock;
  logger: Logger;
  /** After each attempt to reach the runtime; true when it answered. */
  onConnect(answered: boolean): void;
}

export function createEventSource(options: EventSourceOptions): EventSource {
  const { connection, clock, logger, onConnect } = options;
  const listeners = new Set<(event: RuntimeEvent) => void>();
  /** id → "running" or "stopped", as last given to subscribers. */
  let known: Map<string, "running" | "stopped"> | undefined;
  const settling = new Set<string>();
  const timers = new Set<Timer>();
  let stream: ClientReadableStream<unknown> | undefined;
  let relistTimer: Timer | undefined;
  let relisting = false;
  let withEvents = true;
  let connectedBefore = false;
  const reconnects = new Backoff({ baseMs: 100, maxMs: 2_000 });
  let running = false;

  function emit(event: RuntimeEvent): void {
    for (const listener of listeners)
      try {
        listener(event);
      } catch (error) {
        logger.error({ err: error }, "a listener of runtime events failed");
      }
  }

  function later(delayMs: number, action: () => void): Timer {
    const timer = clock.after(delayMs, () => {
      timers.delete(timer);
      if (running) action();
    });
    timers.add(timer);
    return timer;
  }

  function give(
    type: "started" | "exited" | "deleted" | "created",
    id: string,
  ): void {
    if (type === "exited" && known?.get(id) === "stopped") return;
    if (type === "deleted") {
      known?.delete(id);
      settling.delete(id);
    } else if (type !== "created")
      known?.set(id, type === "started" ? "running" : "stopped");
    emit({ type, id });
  }

  /** What the CRI side still takes for running under the id; undefined: nothing. */
  async function runningAs(
    id: string,
    known?: "sandbox",
  ): Promise<"container" | "sandbox" | undefined> {
    if (!known) {
      const { containers } = await connection.call("ListContainers", {
        filter: { id },
      });
      if (containers.length > 0)
        return containers.some(({ state }) => state === runningContainer)
          ? "container"
          : undefined;
    }
    const { items } = await connection.call("ListPodSandbox", {
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
  function settleExit(id: string, attempt: number, sandbox?: "sandbox"): void {
    if (!settling.has(id)) return; // deleted meanwhile
    const delayMs = settleDelaysMs[attempt];
    if (delayMs === undefined) {
      settling.delete(id);
      give("exited", id);
      return;
    }
    later(delayMs, () => {
      runningAs(id, sandbox).then(
        (still) => {
          if (still === "sandbox") settleExit(id, attempt + 2, still);
          else settleExit(id, still ? attempt + 1 : settleDelaysMs.length);
        },
        () => settleExit(id, settleDelaysMs.length),
      );
    });
  }

  function handle({ topic, event }: Envelope): void {
    const row = topics[topic];
    if (row === undefined || event === undefined) return;
    const [message, type, field] = row;
    const payload = connection.decode(message, event.value) as Record<
      string,
      string
    >;
    const id = payload[field] ?? "";
    if (type === "oom" || type === "image") emit({ type, id });
    else if (type === "created" || type === "started" || type === "deleted")
      give(type, id);
    // The exit of an exec'd process names the exec as `id`.
    else if (payload["id"] === "" || payload["id"] === id) {
      if (settling.has(id)) return;
      if (settling.size >= maxSettling) give("exited", id);
      else {
        settling.add(id);
        settleExit(id, 0);
      }
    }
  }

  async function relist(): Promise<void> {
    if (relisting || listeners.size === 0) return;
    relisting = true;
    try {
      const [{ items }, { containers }] = await Promise.all([
        connection.call("ListPodSandbox", {}),
        connection.call("ListContainers", {}),
      ]);
      const now = new Map<string, "running" | "stopped" | "created">();
      for (const { id, state } of items)
        now.set(id, state === readySandbox ? "running" : "stopped");
      for (const { id, state } of containers)
        now.set(
          id,
          state === runningContainer
            ? "running"
            : state === 0
              ? "created"
              : "stopped",
        );
      const before = known;
      if (before === undefined) {
        known = new Map(
          [...now].filter(
            (entry): entry is [string, "running" | "stopped"] =>
              entry[1] !== "created",
          ),
        );
        return;
      }
      for (const [id, state] of now) {
        if (settling.has(id) || before.get(id) === state) continue;
        if (state === "running") give("started", id);
        else if (state === "stopped") give("exited", id);
      }
      for (const id of [...before.keys()])
        if (!now.has(id)) give("deleted", id);
    } catch (error) {
      logger.debug({ err: error }, "listing the runtime's containers failed");
    } finally {
      relisting = false;
    }
  }

  function scheduleRelist(delayMs: number): void {
    relistTimer?.cancel();
    relistTimer = later(delayMs, () => {
      void relist().then(() => {
        if (running)
          scheduleRelist(
            withEvents ? relistWithEventsMs : relistWithoutEventsMs,
          );
      });
    });
  }

  function reconnectLater(): void {
    later(reconnects.nextMs(), () => void connect());
  }

  /**
   * An open stream says nothing until its first event, so a plain call tells whether the runtime is there: one that is
   * refused while containerd reads back its pods, which is waited for.
   */
  async function answers(): Promise<boolean> {
    const end = clock.monotonic() + initializingTimeoutMs;
    for (;;) {
      try {
        await connection.call("Status", {}, statusTimeoutMs);
        return true;
      } catch (error) {
        const initializing = /not initialized yet/.test(
          (error as Error).message,
        );
        if (!running || !initializing || clock.monotonic() > end) return false;
        await sleep(initializingPollMs);
      }
    }
  }

  async function connect(): Promise<void> {
    if (!(await answers())) {
      if (running) reconnectLater();
      onConnect(false);
      return;
    }
    if (!running) return;
    onConnect(true);
    reconnects.reset();
    const opened = connection.serverStream(containerdMethods.subscribe, {
      filters,
    });
    stream = opened;
    opened.on("data", (envelope: unknown) => {
      try {
        handle(envelope as Envelope);
      } catch (error) {
        logger.warn({ err: error }, "a runtime event could not be read");
      }
    });
    let ended = false;
    const end = (error?: unknown): void => {
      if (ended) return;
      ended = true;
      if (stream === opened) stream = undefined;
      if (!running) return;
      if (error !== undefined && causeCode(error) === grpcCodes.unimplemented) {
        withEvents = false;
        scheduleRelist(0);
        return;
      }
      if (error !== undefined)
        logger.warn(
          { err: toRuntimeError(error, "Subscribe") },
          "lost the runtime's event stream",
        );
      reconnectLater();
    };
    opened.on("error", end);
    opened.on("end", () => end());
    if (connectedBefore) emit({ type: "lost", id: "" });
    connectedBefore = true;
    scheduleRelist(relistAfterConnectMs);
  }

  return {
    start() {
      if (running) return;
      running = true;
      void connect();
    },
    stop() {
      running = false;
      for (const timer of timers) timer.cancel();
      timers.clear();
      settling.clear();
      stream?.cancel();
      stream = undefined;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
