// Runs the controllers: which ones, one event recorder a source, leader election when asked for.
//
// start() resolves when the controllers run, or, with leader election, when the candidacy does: then they start with
// leadership, and `lost` resolves when it is gone (the process should end, as the reference's does).
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Logger } from "pino";
import type { Clock, Timer } from "../api/clock.ts";
import type { Client } from "../client/client.ts";
import { EventRecorder } from "../client/event-recorder.ts";
import { createLeaderElection } from "../client/leader-election.ts";
import type { LeaderElection } from "../client/leader-election.ts";
import type {
  Controller,
  ControllerContext,
  ControllerMetrics,
} from "./context.ts";
import { Discovery } from "./discovery/resource-discovery.ts";
import { initializers } from "./initializers.ts";
import type { Initializer } from "./initializers.ts";
import { defaultControllerOptions } from "./options.ts";
import type { ControllerOptions } from "./options.ts";

interface ControllerManagerOptions {
  client: Client;
  clock: Clock;
  logger: Logger;
  options?: Partial<ControllerOptions>;
  metrics?: ControllerMetrics;
}

export interface ControllerManager {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Canonical names of the controllers that run. */
  readonly running: readonly string[];
  /** Resolves when leadership was lost; never without leader election. */
  readonly lost: Promise<void>;
}

/** Throws when options.controllers names an unknown one. */
export function createControllerManager(
  given: ControllerManagerOptions,
): ControllerManager {
  const options = { ...defaultControllerOptions, ...given.options };
  return new Manager(given, options, chosenControllers(options.controllers));
}

/**
 * Which controllers a --controllers list means: `*` all on by default, `name` also that one, `-name` not that one; the
 * exact name wins over `*`. Throws on a name that no controller has.
 */
function chosenControllers(list: readonly string[]): Initializer[] {
  for (const entry of list) {
    const name = entry.replace(/^-/, "");
    if (entry !== "*" && !find(name))
      throw new Error(
        `--controllers: "${name}" is not in the list of known controllers`,
      );
  }
  return initializers.filter((initializer) => {
    const names = [initializer.name, initializer.alias];
    if (list.some((entry) => names.includes(entry))) return true;
    if (list.some((entry) => names.some((name) => entry === `-${name}`)))
      return false;
    return list.includes("*") && !initializer.offByDefault;
  });
}

const find = (name: string): Initializer | undefined =>
  initializers.find(
    (initializer) => initializer.name === name || initializer.alias === name,
  );

class Manager implements ControllerManager {
  readonly lost: Promise<void>;
  #resolveLost: () => void = () => {};
  readonly #recorders = new Map<string, EventRecorder>();
  readonly #controllers = new Map<string, Controller>();
  #election: LeaderElection | undefined;
  #stopped = false;
  #nextStart: Timer | undefined;

  constructor(
    private readonly given: ControllerManagerOptions,
    private readonly options: ControllerOptions,
    private readonly chosen: readonly Initializer[],
  ) {
    this.lost = new Promise((resolve) => (this.#resolveLost = resolve));
  }

  get running(): readonly string[] {
    return [...this.#controllers.keys()];
  }

  async start(): Promise<void> {
    if (!this.options.leaderElect) return this.#run();
    const { client, clock, logger } = this.given;
    const { options } = this;
    const election = createLeaderElection({
      client,
      clock,
      logger,
      namespace: options.leaderElectResourceNamespace,
      name: options.leaderElectResourceName,
      identity: `${hostname()}_${randomUUID()}`,
      leaseDurationMs: options.leaderElectLeaseDurationMs,
      renewDeadlineMs: options.leaderElectRenewDeadlineMs,
      retryPeriodMs: options.leaderElectRetryPeriodMs,
    });
    this.#election = election;
    void election.lead().then(
      () => {
        if (!this.#stopped) this.#run();
        void election.lost.then(() => this.#resolveLost());
      },
      () => {},
    );
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#nextStart?.cancel();
    const stopping = [...this.#controllers.values()].map((controller) =>
      controller.stop(),
    );
    await Promise.all(stopping);
    this.#controllers.clear();
    for (const recorder of this.#recorders.values()) recorder.stop();
    await this.#election?.stop();
  }

  #run(): void {
    const { client, clock, logger, metrics } = this.given;
    const context: ControllerContext = {
      client,
      clock,
      logger,
      options: this.options,
      ...(metrics ? { metrics } : {}),
      recorder: (component) => {
        let recorder = this.#recorders.get(component);
        if (!recorder) {
          recorder = new EventRecorder({ client, clock, logger, component });
          this.#recorders.set(component, recorder);
        }
        return recorder;
      },
    };
    const discovery = new Discovery(client, clock);
    const startOne = (initializer: Initializer): void => {
      const controller = initializer.create(context, discovery);
      if (!controller) return;
      this.#controllers.set(initializer.name, controller);
      controller.start();
    };
    const intervalMs = this.options.controllerStartIntervalMs;
    if (intervalMs > 0) return this.#startEach(intervalMs, startOne, 0);
    for (const initializer of this.chosen) startOne(initializer);
  }

  #startEach(
    intervalMs: number,
    startOne: (initializer: Initializer) => void,
    at: number,
  ): void {
    const initializer = this.chosen[at];
    if (!initializer || this.#stopped) return;
    startOne(initializer);
    this.#nextStart = this.given.clock.after(intervalMs, () =>
      this.#startEach(intervalMs, startOne, at + 1),
    );
  }
}
