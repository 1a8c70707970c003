// Runs the controllers: which ones, one event recorder a source, leader election when asked for.
//
// start() resolves when the controllers run, or, with leader election, when the candidacy does: then they start with
// leadership, and `lost` resolves when it is gone (the process should end, as the reference's does). Controllers that are
// migrated between managers have a second Lease, which only the leader of the first tries to get.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Logger } from "pino";
import type { Clock, Timer } from "../api/clock.ts";
import type { Client } from "../client/client.ts";
import { EventRecorder } from "../client/event-recorder.ts";
import { LeaderMetrics } from "../client/leader-election/leader-metrics.ts";
import { createLeaderElection } from "../client/leader-election/leader-election.ts";
import type { LeaderElection } from "../client/leader-election/leader-election.ts";
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
  /** The client of a service account of kube-system; without it all controllers act as `client`. */
  clientOf?: (account: string) => Client;
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
  readonly #clients = new Map<string, Client>();
  readonly #controllers = new Map<string, Controller>();
  readonly #elections: LeaderElection[] = [];
  #stopped = false;
  readonly #discovery: Discovery;
  readonly #leaderMetrics = new LeaderMetrics();
  readonly #nextStarts = new Set<Timer>();

  constructor(
    private readonly given: ControllerManagerOptions,
    private readonly options: ControllerOptions,
    private readonly chosen: readonly Initializer[],
  ) {
    this.lost = new Promise((resolve) => (this.#resolveLost = resolve));
    given.metrics?.add("leader-election", () => this.#leaderMetrics.families());
    this.#discovery = new Discovery(given.client, given.clock);
  }

  get running(): readonly string[] {
    return [...this.#controllers.keys()];
  }

  async start(): Promise<void> {
    const { leaderElect, leaderElectResourceName, leaderMigration } =
      this.options;
    if (!leaderElect) return this.#run(this.chosen);
    const identity = `${hostname()}_${randomUUID()}`;
    const { main, migrated } = byLock(this.chosen, leaderMigration);
    this.#warnOfAliases();
    this.#lead(leaderElectResourceName, identity, () => {
      this.#run(main);
      // After the first: one manager holds both, or the second waits with the first.
      if (leaderMigration)
        this.#lead(leaderMigration.leaderName, identity, () =>
          this.#run(migrated),
        );
    });
  }

  #lead(name: string, identity: string, led: () => void): void {
    const { client, clock, logger } = this.given;
    const { options } = this;
    const election = createLeaderElection({
      client,
      clock,
      logger,
      namespace: options.leaderElectResourceNamespace,
      name,
      identity,
      leaseDurationMs: options.leaderElectLeaseDurationMs,
      renewDeadlineMs: options.leaderElectRenewDeadlineMs,
      retryPeriodMs: options.leaderElectRetryPeriodMs,
      metrics: this.#leaderMetrics,
    });
    this.#elections.push(election);
    void election.lead().then(
      () => {
        if (!this.#stopped) led();
        void election.lost.then(() => this.#resolveLost());
      },
      () => {},
    );
  }

  /** The reference compares canonical names alone; a controller that was meant must not run in two managers unnoticed. */
  #warnOfAliases(): void {
    for (const { name } of this.options.leaderMigration?.controllers ?? []) {
      const meant = initializers.find(({ alias }) => alias === name);
      if (meant && meant.name !== name)
        this.given.logger.warn(
          `leader migration: "${name}" is no name of a controller: "${meant.name}" is`,
        );
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#nextStarts) timer.cancel();
    const stopping = [...this.#controllers.values()].map((controller) =>
      controller.stop(),
    );
    await Promise.all(stopping);
    this.#controllers.clear();
    for (const recorder of this.#recorders.values()) recorder.stop();
    for (const client of this.#clients.values()) await client.close();
    // The first is given back last, as it was taken first.
    for (const election of this.#elections.reverse()) await election.stop();
  }

  #run(chosen: readonly Initializer[]): void {
    const intervalMs = this.options.controllerStartIntervalMs;
    if (intervalMs > 0) return this.#startEach(intervalMs, chosen, 0);
    for (const initializer of chosen) this.#startOne(initializer);
  }

  #startOne(initializer: Initializer): void {
    const context = this.#context(initializer.account);
    const controller = initializer.create(context, this.#discovery);
    if (!controller) return;
    this.#controllers.set(initializer.name, controller);
    controller.start();
  }

  #context(account: string | undefined): ControllerContext {
    const { clock, logger, metrics } = this.given;
    const client = this.#clientAs(account);
    return {
      client,
      clock,
      logger,
      options: this.options,
      ...(metrics ? { metrics } : {}),
      recorder: (component) => {
        const key = `${account ?? ""}/${component}`;
        let recorder = this.#recorders.get(key);
        if (!recorder) {
          recorder = new EventRecorder({ client, clock, logger, component });
          this.#recorders.set(key, recorder);
        }
        return recorder;
      },
    };
  }

  /** What is watched is shared, and the manager's; what is asked and written is the account's. */
  #clientAs(account: string | undefined): Client {
    const { client, clientOf } = this.given;
    if (account === undefined || !clientOf) return client;
    let own = this.#clients.get(account);
    if (!own) this.#clients.set(account, (own = clientOf(account)));
    return {
      resource: own.resource.bind(own),
      raw: own.raw.bind(own),
      informer: client.informer.bind(client),
      close: () => Promise.resolve(),
    };
  }

  #startEach(
    intervalMs: number,
    chosen: readonly Initializer[],
    at: number,
  ): void {
    const initializer = chosen[at];
    if (!initializer || this.#stopped) return;
    this.#startOne(initializer);
    const timer = this.given.clock.after(intervalMs, () => {
      this.#nextStarts.delete(timer);
      this.#startEach(intervalMs, chosen, at + 1);
    });
    this.#nextStarts.add(timer);
  }
}

/** The controllers of the manager's own Lease and those of the migration's; another manager's are in neither. */
function byLock(
  chosen: readonly Initializer[],
  migration: ControllerOptions["leaderMigration"],
): { main: readonly Initializer[]; migrated: readonly Initializer[] } {
  const components = new Map(
    migration?.controllers.map(({ name, component }) => [name, component]),
  );
  // Its tokens may be those of the other managers: it is never migrated, as at the reference.
  components.delete("serviceaccount-token-controller");
  return {
    main: chosen.filter(({ name }) => !components.has(name)),
    migrated: chosen.filter(({ name }) =>
      ["*", "kube-controller-manager"].includes(components.get(name) ?? ""),
    ),
  };
}
