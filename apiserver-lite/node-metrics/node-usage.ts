// What the nodes and their pods use, by asking the nodes' agents when a request asks for it. A rate needs two samples: the one
// before, when it is not too old, else one that is taken now. Answers are kept for some seconds and shared by
// the requests of that time; without requests no agent is asked. Bounded by the number of nodes.
import type { Clock } from "../../api/clock.ts";
import { sleep } from "../../api/queueing/backoff.ts";
import {
  lacks,
  merged,
  parseSummary,
  ratesBetween,
  type Taken,
  type UsageRates,
} from "./usage-sample.ts";

interface NodeUsageOptions {
  /** Text of stats.Summary. */
  readonly read: (nodeName: string) => Promise<string>;
  readonly clock: Clock;
}

interface Known {
  last?: Taken;
  rates?: UsageRates;
  ratesAtMs: number;
  asking?: Promise<UsageRates>;
}

/** Rates are given again for this long. */
const freshMs = 10_000;
/** A sample older than this is no base: an average over minutes is not what is asked for. */
const oldestBaseMs = 60_000;
/** Rates over less are noise. */
const shortestMs = 1000;

export class NodeUsage {
  readonly #nodes = new Map<string, Known>();

  constructor(private readonly options: NodeUsageOptions) {}

  /** Rejects when the node can't be asked or answers nonsense. */
  rates(nodeName: string): Promise<UsageRates> {
    const known = this.#nodes.get(nodeName) ?? { ratesAtMs: -Infinity };
    this.#nodes.set(nodeName, known);
    const nowMs = this.options.clock.monotonic();
    if (known.rates && nowMs - known.ratesAtMs < freshMs)
      return Promise.resolve(known.rates);
    known.asking ??= this.#ask(nodeName, known).finally(
      () => delete known.asking,
    );
    return known.asking;
  }

  /** Forgets the nodes that are no more. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#nodes.keys())
      if (!names.has(name)) this.#nodes.delete(name);
  }

  async #ask(nodeName: string, known: Known): Promise<UsageRates> {
    const base = this.#base(known);
    let now = await this.#take(nodeName);
    let rates = base && ratesBetween(base, now);
    // Nothing is known of before, or of containers that began since.
    if (!rates || lacks(rates, now.sample)) {
      const first = now;
      await sleep(this.options.clock, shortestMs);
      now = await this.#take(nodeName);
      const recent = ratesBetween(first, now);
      rates = base ? merged(ratesBetween(base, now), recent) : recent;
    }
    known.last = now;
    known.rates = rates;
    known.ratesAtMs = now.atMs;
    return rates;
  }

  #base({ last }: Known): Taken | undefined {
    const ageMs = last
      ? this.options.clock.monotonic() - last.atMs
      : Number.POSITIVE_INFINITY;
    return ageMs >= shortestMs && ageMs <= oldestBaseMs ? last : undefined;
  }

  async #take(nodeName: string): Promise<Taken> {
    const text = await this.options.read(nodeName);
    return { sample: parseSummary(text), atMs: this.options.clock.monotonic() };
  }
}
