// A part of `orbit server` that may run in one of several servers on one store: it runs while this server holds the part's
// Lease. A server that loses the Lease stops the part and is a candidate again: what else it serves goes on.
// Invariants: the part is stopped before the Lease is given back, and each term has a new part of its own.
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { Client } from "../../client/client.ts";
import {
  createLeaderElection,
  type LeaderElection,
} from "../../client/leader-election/leader-election.ts";
import { LeaderMetrics } from "../../client/leader-election/leader-metrics.ts";
import type { OptionValues } from "../options/parse.ts";
import type { PartMetrics } from "../parts/part-metrics.ts";
import { leaderLease, type LeaderLease } from "../parts/leader-lease.ts";
import type { Started } from "./started.ts";

interface Part {
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface ElectedPartOptions {
  client: Client;
  clock: Clock;
  logger: Logger;
  lease: LeaderLease;
  /** Of the part's port. */
  metrics: PartMetrics;
  /** One part for each term. */
  create: () => Part;
}

/**
 * Undefined: no election, since this is the only server of its store; --leader-elect of the part's own options decides where
 * it is given.
 * @param values of the part
 * @param name of the Lease
 */
export function electionOf(
  server: OptionValues,
  values: OptionValues,
  name: string,
): LeaderLease | undefined {
  const elect = values.isSet("leader-elect")
    ? values.flag("leader-elect")
    : server.text("store") === "etcd";
  const lease = leaderLease(values, name);
  return elect ? lease : undefined;
}

class ElectedPart {
  readonly #options: ElectedPartOptions;
  #election: LeaderElection | undefined;
  #part: Part | undefined;
  #terms: Promise<void> | undefined;
  #stopping = false;
  readonly #leads = new LeaderMetrics();

  constructor(options: ElectedPartOptions) {
    this.#options = options;
    options.metrics.add("leader-election", () => this.#leads.families());
  }

  /** Begins the candidacy. */
  start(): void {
    this.#terms = this.#lead();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#endTerm();
    await this.#election?.stop();
    await this.#terms;
  }

  async #lead(): Promise<void> {
    const { client, clock, logger, lease, create } = this.#options;
    while (!this.#stopping) {
      const election = createLeaderElection({
        client,
        clock,
        logger,
        metrics: this.#leads,
        ...lease,
      });
      this.#election = election;
      try {
        await election.lead();
      } catch {
        return;
      }
      if (this.#stopping) return;
      this.#part = create();
      try {
        await this.#part.start();
        await election.lost;
      } catch (err) {
        logger.error({ err }, "the part that was to lead could not start");
      }
      await this.#endTerm();
      await election.stop();
    }
  }

  async #endTerm(): Promise<void> {
    const part = this.#part;
    this.#part = undefined;
    await part?.stop();
  }
}

/** Starts a part at once, or, with a Lease, as soon as this server holds it. */
export async function startPart(
  started: Started,
  {
    lease,
    ...options
  }: Omit<ElectedPartOptions, "lease"> & { lease: LeaderLease | undefined },
): Promise<void> {
  if (lease) {
    const part = new ElectedPart({ ...options, lease });
    started.add(() => part.stop());
    part.start();
    return;
  }
  const part = options.create();
  started.add(() => part.stop());
  await part.start();
}
