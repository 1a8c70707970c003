// Questions that are not the cluster's: asked of the host's resolvers, or of those of a stub domain. The same question of
// several clients is asked once; answers are kept for as long as they say, 30 s at most; a server that fails rests for a
// while. Everything is bounded: questions under way, also of one client, kept answers, time.
import { LRUCache } from "lru-cache";
import type { Clock } from "../../api/clock.ts";
import { encodeCode } from "./message.ts";
import { rcodes, type Query } from "./query.ts";
import {
  readUpstreamAnswer,
  aged,
  type UpstreamAnswer,
} from "./upstream-answer.ts";
import { askOverTcp, askOverUdp, type Upstream } from "./upstream-socket.ts";

/** Seconds. */
const longestKept = 30;
const failureKept = 5;
const maxKept = 10_000;
const maxKeptBytes = 16 * 1024 * 1024;
const maxUnderWay = 1000;
/** One client's, so that names it makes up do not keep others from asking. */
const maxOfClient = 250;
/** Clients that wait for an answer; many may ask the same question. */
const maxWaiting = 10_000;
/** How long a server has to answer. */
const defaultTryMs = 2000;
const restMs = 5000;

interface Kept {
  readonly answer: UpstreamAnswer;
  readonly sinceMs: number;
  readonly untilMs: number;
}

interface ForwarderCounts {
  hits: number;
  misses: number;
  /** By upstream `address:port`. */
  readonly requests: Map<string, number>;
  readonly failures: Map<string, number>;
  /** Refused, because too many questions were under way. */
  refused: number;
}

export class Forwarder {
  readonly counts: ForwarderCounts = {
    hits: 0,
    misses: 0,
    requests: new Map(),
    failures: new Map(),
    refused: 0,
  };
  readonly #clock: Clock;
  readonly #kept = new LRUCache<string, Kept>({
    max: maxKept,
    maxSize: maxKeptBytes,
    sizeCalculation: ({ answer }, key) =>
      answer.bytes.length + key.length + 200,
  });
  readonly #underWay = new Map<string, Promise<UpstreamAnswer>>();
  /** How many of them each client began. */
  readonly #begun = new Map<string, number>();
  readonly #restsUntil = new Map<string, number>();
  #waiting = 0;
  #upstreams: readonly Upstream[] = [];
  /** Longest domain first. */
  #stubs: readonly { domain: string; upstreams: readonly Upstream[] }[] = [];
  #generation = 0;

  constructor(
    clock: Clock,
    private readonly tryMs = defaultTryMs,
  ) {
    this.#clock = clock;
  }

  /** @param stubs by domain, lower case */
  configure(
    upstreams: readonly Upstream[],
    stubs: Readonly<Record<string, readonly Upstream[]>>,
  ): void {
    this.#upstreams = upstreams;
    this.#stubs = Object.entries(stubs)
      .map(([domain, servers]) => ({ domain, upstreams: servers }))
      .toSorted((a, b) => b.domain.length - a.domain.length);
    this.#generation++;
    this.#kept.clear();
    this.#restsUntil.clear();
  }

  get upstreams(): readonly Upstream[] {
    return this.#upstreams;
  }

  /** A kept answer, without its client's ID, question and flags. */
  kept(query: Query): Buffer | undefined {
    const found = this.#kept.get(query.key);
    const now = this.#clock.monotonic();
    if (!found || now >= found.untilMs) {
      this.counts.misses++;
      return undefined;
    }
    this.counts.hits++;
    return aged(
      found.answer,
      Math.floor((now - found.sinceMs) / 1000),
      longestKept,
    );
  }

  /**
   * The answer, made for no client in particular. Never rejects: SERVFAIL, or REFUSED when there is too much under way.
   * @param client its address
   */
  async ask(query: Query, client: string): Promise<Buffer> {
    const pending = this.#underWay.get(query.key);
    if (
      this.#waiting >= maxWaiting ||
      (!pending &&
        (this.#underWay.size >= maxUnderWay ||
          (this.#begun.get(client) ?? 0) >= maxOfClient))
    ) {
      this.counts.refused++;
      return encodeCode(query, rcodes.refused);
    }
    this.#waiting++;
    try {
      return (await (pending ?? this.#start(query, client))).bytes;
    } finally {
      this.#waiting--;
    }
  }

  #start(query: Query, client: string): Promise<UpstreamAnswer> {
    const asked = this.#resolve(query).finally(() => {
      this.#underWay.delete(query.key);
      const others = this.#begun.get(client)! - 1;
      if (others > 0) this.#begun.set(client, others);
      else this.#begun.delete(client);
    });
    this.#underWay.set(query.key, asked);
    count(this.#begun, client);
    return asked;
  }

  #serversFor(labels: readonly string[]): readonly Upstream[] {
    const name = labels.join(".");
    const stub = this.#stubs.find(
      ({ domain }) => name === domain || name.endsWith(`.${domain}`),
    );
    return stub ? stub.upstreams : this.#upstreams;
  }

  async #resolve(query: Query): Promise<UpstreamAnswer> {
    const generation = this.#generation;
    const question = query.bytes.subarray(12, query.questionEnd);
    const now = this.#clock.monotonic();
    const all = this.#serversFor(query.labels);
    const rested = all.filter(
      (each) => now >= (this.#restsUntil.get(keyOf(each)) ?? 0),
    );
    let last: UpstreamAnswer | undefined;
    // Those that rest are asked all the same when no other answers.
    for (const server of [
      ...rested,
      ...all.filter((each) => !rested.includes(each)),
    ].slice(0, 3)) {
      const answer = await this.#askOne(server, question, query);
      if (!answer) continue;
      last = answer;
      // A server that fails or refuses may be the wrong one for the name.
      if (
        answer.rcode !== rcodes.serverFailure &&
        answer.rcode !== rcodes.refused
      )
        break;
    }
    last ??= {
      bytes: encodeCode(
        { ...query, edns: undefined } as Query,
        rcodes.serverFailure,
      ),
      ttls: [],
      rcode: rcodes.serverFailure,
      truncated: false,
      lifetime: 0,
      negative: false,
    };
    const lifetime =
      last.rcode === rcodes.serverFailure ? failureKept : last.lifetime;
    if (lifetime > 0 && generation === this.#generation) {
      const sinceMs = this.#clock.monotonic();
      this.#kept.set(query.key, {
        answer: last,
        sinceMs,
        untilMs: sinceMs + lifetime * 1000,
      });
    }
    return last;
  }

  async #askOne(
    server: Upstream,
    question: Buffer,
    query: Query,
  ): Promise<UpstreamAnswer | undefined> {
    const key = keyOf(server);
    count(this.counts.requests, key);
    try {
      const first = readUpstreamAnswer(
        await askOverUdp(server, question, this.tryMs),
        query,
        longestKept,
      );
      if (first && !first.truncated) return first;
      const whole = readUpstreamAnswer(
        await askOverTcp(server, question, this.tryMs),
        query,
        longestKept,
      );
      if (whole) return whole;
    } catch {
      this.#restsUntil.set(key, this.#clock.monotonic() + restMs);
    }
    count(this.counts.failures, key);
    return undefined;
  }
}

function keyOf({ address, port }: Upstream): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
