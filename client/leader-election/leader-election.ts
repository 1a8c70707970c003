// One of several processes leads: who holds a Lease and keeps renewing it. Timing as the reference: a lease of 15 s, the
// leader gives up when it could not renew for 10 s, all try every 2 s (with jitter). Clocks of the processes need not
// agree: a candidate waits the lease's duration from when it saw the record change, on its own clock.
import type { Logger } from "pino";
import { formatMicroTime } from "../../api/clock.ts";
import type { Clock } from "../../api/clock.ts";
import { isNotFound } from "../../api/errors.ts";
import type { Lease, LeaseSpec } from "../../api/types/coordination-v1.ts";
import { sleep } from "../../api/queueing/backoff.ts";
import type { Client } from "../client.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import { leases } from "../resources.ts";
import type { LeaderMetrics } from "./leader-metrics.ts";

interface LeaderElectionOptions {
  client: Client;
  clock: Clock;
  logger: Logger;
  namespace: string;
  name: string;
  /** Unique among the candidates. */
  identity: string;
  leaseDurationMs?: number;
  renewDeadlineMs?: number;
  retryPeriodMs?: number;
  metrics?: LeaderMetrics;
}

export interface LeaderElection {
  /** Resolves when this process leads; rejects when stopped before. */
  lead(): Promise<void>;
  /** Resolves when leadership was lost (or given up by stop). */
  readonly lost: Promise<void>;
  readonly leading: boolean;
  /** Gives the lease back, so that another can take it at once. */
  stop(): Promise<void>;
}

export function createLeaderElection(
  options: LeaderElectionOptions,
): LeaderElection {
  return new LeaseElection(options);
}

class LeaseElection implements LeaderElection {
  leading = false;
  readonly lost: Promise<void>;
  #resolveLost: () => void = () => {};
  readonly #stopped = new AbortController();
  #seen: { spec: LeaseSpec; atMs: number } | undefined;
  /** As this process wrote it last: it is renewed without being read, as long as nothing else wrote it. */
  #held: Lease | undefined;
  #renewing: Promise<void> | undefined;
  readonly #leaseDurationMs: number;
  readonly #renewDeadlineMs: number;
  readonly #retryPeriodMs: number;

  constructor(private readonly options: LeaderElectionOptions) {
    this.#leaseDurationMs = options.leaseDurationMs ?? 15_000;
    this.#renewDeadlineMs = options.renewDeadlineMs ?? 10_000;
    this.#retryPeriodMs = options.retryPeriodMs ?? 2_000;
    this.lost = new Promise((resolve) => (this.#resolveLost = resolve));
    options.metrics?.leads(options.name, false);
  }

  async lead(): Promise<void> {
    const { clock, logger, name } = this.options;
    let told = false;
    while (!this.#stopped.signal.aborted) {
      try {
        if (await this.#acquire()) {
          logger.info({ lease: name }, "became leader");
          this.#leads(true);
          this.#renewing = this.#renew();
          return;
        }
      } catch (error) {
        // Said loudly once: without the right to the lease this process would wait forever in silence.
        logger[told ? "debug" : "warn"](
          { err: error, lease: name },
          "could not take the lease; trying again",
        );
        told = true;
      }
      await sleep(
        clock,
        this.#retryPeriodMs * (1 + 0.2 * Math.random()),
        this.#stopped.signal,
      );
    }
    throw new Error("leader election was stopped");
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#renewing;
    this.#resolveLost();
  }

  #leads(is: boolean): void {
    const { metrics, name } = this.options;
    this.leading = is;
    metrics?.leads(name, is);
  }

  async #renew(): Promise<void> {
    const { clock, logger, name } = this.options;
    let renewedMs = clock.monotonic();
    for (;;) {
      await sleep(clock, this.#retryPeriodMs, this.#stopped.signal);
      if (this.#stopped.signal.aborted) break;
      const begunMs = clock.monotonic();
      try {
        const renewed = await this.#renewBefore(
          renewedMs + this.#renewDeadlineMs,
        );
        if (renewed) {
          renewedMs = begunMs;
          continue;
        }
        break; // Another holds it, or no answer came in time.
      } catch (error) {
        logger.debug({ err: error, lease: name }, "could not renew the lease");
      }
      if (clock.monotonic() - renewedMs > this.#renewDeadlineMs) break;
    }
    this.#leads(false);
    if (this.#stopped.signal.aborted) await this.#release();
    else logger.error({ lease: name }, "lost leadership");
    this.#resolveLost();
  }

  /** As #acquire, but a request without an answer at the deadline is a failure: others may lead soon after it. */
  async #renewBefore(deadlineMs: number): Promise<boolean> {
    const { clock } = this.options;
    const waiting = new AbortController();
    const acquired = this.#extend();
    // What comes too late was reported as a failure already.
    acquired.catch(() => undefined);
    try {
      return await Promise.race([
        acquired,
        sleep(clock, deadlineMs - clock.monotonic(), waiting.signal).then(
          () => false,
        ),
      ]);
    } finally {
      waiting.abort();
    }
  }

  /** Renews what this process wrote last; where that fails, whatever there is. */
  async #extend(): Promise<boolean> {
    const { client, clock, metrics, name } = this.options;
    const held = this.#held;
    this.#held = undefined;
    if (held)
      try {
        const renewTime = formatMicroTime(clock.now());
        this.#hold(
          await client
            .resource(leases)
            .update({ ...held, spec: { ...held.spec, renewTime } }),
        );
        return true;
      } catch {
        // Another has written it, or the request failed: what there is decides.
      }
    metrics?.readFirst(name);
    return this.#acquire();
  }

  #hold(lease: Lease): void {
    this.#held = lease;
    this.#seen = {
      spec: lease.spec ?? {},
      atMs: this.options.clock.monotonic(),
    };
  }

  /** Takes or renews the lease; false when another holds it. */
  async #acquire(): Promise<boolean> {
    const { client, clock, namespace, name, identity } = this.options;
    const now = formatMicroTime(clock.now());
    const leaseDurationSeconds = Math.ceil(this.#leaseDurationMs / 1000);
    let lease: Lease;
    try {
      lease = await client.resource(leases).get(name, namespace);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const made = await client.resource(leases).create({
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name, namespace },
        spec: {
          holderIdentity: identity,
          leaseDurationSeconds,
          acquireTime: now,
          renewTime: now,
          leaseTransitions: 0,
        },
      });
      this.#hold(made);
      return true;
    }
    const spec = lease.spec ?? {};
    if (!this.#seen || !sameJson(this.#seen.spec, spec))
      this.#seen = { spec, atMs: clock.monotonic() };
    const mine = spec.holderIdentity === identity;
    const free = !spec.holderIdentity;
    const validMs = (spec.leaseDurationSeconds ?? 0) * 1000;
    const expired = this.#seen.atMs + validMs < clock.monotonic();
    if (!mine && !free && !expired) return false;
    const updated = await client.resource(leases).update({
      ...lease,
      spec: {
        ...spec,
        holderIdentity: identity,
        leaseDurationSeconds,
        renewTime: now,
        ...(mine
          ? {}
          : {
              acquireTime: now,
              leaseTransitions: (spec.leaseTransitions ?? 0) + 1,
            }),
      },
    });
    this.#hold(updated);
    return true;
  }

  async #release(): Promise<void> {
    const { client, clock, logger, namespace, name, identity } = this.options;
    try {
      const lease = await client.resource(leases).get(name, namespace);
      if (lease.spec?.holderIdentity !== identity) return;
      await client.resource(leases).update({
        ...lease,
        spec: {
          ...lease.spec,
          holderIdentity: "",
          leaseDurationSeconds: 1,
          renewTime: formatMicroTime(clock.now()),
        },
      });
    } catch (error) {
      logger.debug({ err: error, lease: name }, "could not release the lease");
    }
  }
}
