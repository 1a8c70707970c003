// Whose connections are read. What thousands of connections send at once is decrypted and parsed before anything behind
// the listener can be fair; so a tenant that sends more than is served is left unread for a moment, and its bytes wait in
// the kernel, where they cost nothing. Connections belong to a lane: that of the user authenticated last on them, or of
// their address. A lane is held (none of its connections is read) when too many of its requests came in one turn of the
// loop, or wait to begin. Held connections are read again, the longest held first, as its requests begin; after
// `maxHoldMs` in any case, so that limits and refusals of those who wait for seats stay what they are. New connections,
// whose handshakes are the dearest, begin one a turn, addresses in turn.
//
// One read of an HTTP/2 connection may bring a hundred requests. Who sends them, what they ask for and whether there is
// a seat takes six times as long as to read them, so only a few of a lane are handed on in the turn in which they come;
// the others follow a few a turn, in their order.
//
//   lane "loud", 1,000 connections, 8 requests begin in a turn: 64 are parsed and wait, 936 connections are held; each
//   turn 8 begin and 8 connections are read. A request of lane "quiet" is read in the turn in which it comes.
//
// While others ask as well, a lane that floods gets on at a pace (flood-pace.ts).
//
// Invariants: a connection is in one lane, read or held; nothing is scheduled while nothing is held and no request is
// kept back; each request is handed on once, those of a lane in their order; the cost of a request of a lane that is
// not held is a few comparisons and two counters.

import type { Socket } from "node:net";
import { Listed, RequestList } from "../../api/queueing/request-list.ts";
import { FloodPace } from "./flood-pace.ts";
import { Lane, maxOfLane, type Arriving } from "./lane.ts";
import { readingHandleOf, type ReadingHandle } from "./reading-handle.ts";

/** Requests that are handed on in one turn, of a lane as they come and of all lanes from before: as many begin. */
const passedATurn = 8;
/** Connections that are read again in one turn. */
const releasedATurn = 8;
const maxHoldMs = 250;

/** One connection. Its list: those of its lane that are read, or those that are held. */
export class Intaken extends Listed {
  lane: Lane<Intaken> | undefined;
  heldMs = 0;
  #closed = false;

  constructor(
    private readonly intake: Intake,
    readonly handle: ReadingHandle,
    readonly address: string,
  ) {
    super();
  }

  /**
   * A request of the connection came. It is handed on now or later.
   * @param tenant of its last request; undefined: not known
   */
  arrived(request: Arriving, tenant: string | undefined): void {
    this.intake.arrived(this, request, tenant);
  }

  /** A request of the connection waits to begin. To be called back when it waits no longer. */
  waits(): () => void {
    return this.#closed ? () => undefined : this.intake.waits(this);
  }

  /** It is closed. */
  closed(): void {
    this.#closed = true;
    this.intake.forget(this);
  }

  /** It is no HTTP any more: it is not held from here on. */
  upgraded(): void {
    if (this.intake.forget(this)) read(this);
  }
}

interface IntakeOptions {
  /** Calls back in the next turn of the loop. */
  readonly nextTurn?: (callback: () => void) => void;
  readonly now?: () => number;
  readonly after?: (ms: number, callback: () => void) => void;
}

export class Intake {
  readonly #byHandle = new WeakMap<ReadingHandle, Intaken>();
  readonly #lanes = new Map<string, Lane<Intaken>>();
  /** Lanes with held connections; the next one first. */
  readonly #holding = new Set<Lane<Intaken>>();
  /** New connections by address; the next address first. */
  readonly #fresh = new Map<string, Set<Intaken>>();
  /** Lanes with requests that are kept back; the next one first. */
  readonly #behind = new RequestList<Lane<Intaken>>();
  /** Turns so far. */
  #turns = 0;
  readonly #pace = new FloodPace();
  #pacing = false;
  #scheduled = false;
  #timing = false;
  readonly #nextTurn: (callback: () => void) => void;
  readonly #now: () => number;
  readonly #after: (ms: number, callback: () => void) => void;

  constructor(options: IntakeOptions = {}) {
    this.#nextTurn = options.nextTurn ?? setImmediate;
    this.#now = options.now ?? (() => performance.now());
    this.#after =
      options.after ??
      ((ms, callback) => void setTimeout(callback, ms).unref());
  }

  /** Connections that are not read, new ones among them. */
  get held(): number {
    let count = 0;
    for (const { held } of this.#holding) count += held.size;
    for (const fresh of this.#fresh.values()) count += fresh.size;
    return count;
  }

  /** Tenants and addresses with connections. */
  get lanes(): number {
    return this.#lanes.size;
  }

  /** A new connection; see `add`. */
  accept(socket: Socket, handshakes: boolean): void {
    // Node begins to read by then.
    process.nextTick(() => {
      const handle = readingHandleOf(socket);
      if (!handle || socket.destroyed) return;
      const one = this.add(handle, socket.remoteAddress ?? "", handshakes);
      this.#byHandle.set(handle, one);
      socket.once("close", () => one.closed());
    });
  }

  /** Undefined: the connection was not accepted here, or is closed. @param socket its own, or TLS's above it */
  of(socket: Socket): Intaken | undefined {
    const handle = readingHandleOf(socket);
    return handle && this.#byHandle.get(handle);
  }

  /** A new connection. @param handshakes it is not read before its turn: what it begins with is dear */
  add(handle: ReadingHandle, address: string, handshakes: boolean): Intaken {
    const one = new Intaken(this, handle, address);
    if (!handshakes) return one;
    handle.readStop();
    const others = this.#fresh.get(address);
    if (others) others.add(one);
    else this.#fresh.set(address, new Set([one]));
    this.#schedule();
    return one;
  }

  /** @internal */
  arrived(one: Intaken, request: Arriving, tenant: string | undefined): void {
    const name = tenant ?? one.address;
    if (one.lane?.name !== name) this.#enter(one, name);
    const lane = one.lane!;
    // Of a new connection it is not known yet whose it is.
    if (tenant !== undefined) this.#pace.asks(lane);
    if (this.#count(lane) === passedATurn) this.#schedule();
    if (lane.arrived <= passedATurn && lane.kept.length === 0)
      return request.handle();
    const sinceMs = this.#now();
    lane.kept.push({ request, sinceMs });
    lane.delays.add(sinceMs);
    if (!this.#behind.has(lane)) this.#behind.add(lane);
    this.#schedule();
    if (lane.arrived >= maxOfLane || lane.isFull) this.#hold(lane);
  }

  /** One more of this turn. */
  #count(lane: Lane<Intaken>): number {
    if (lane.turn !== this.#turns) {
      lane.turn = this.#turns;
      lane.arrived = 0;
    }
    return ++lane.arrived;
  }

  /** @internal */
  waits(one: Intaken): () => void {
    const lane = one.lane ?? this.#enter(one, one.address);
    if (++lane.waiting >= maxOfLane) this.#hold(lane);
    return () => {
      lane.waiting--;
      if (lane.held.size > 0 || lane.kept.length > 0) this.#schedule();
      else this.#dropEmpty(lane);
    };
  }

  /** @internal True: it was not read. */
  forget(one: Intaken): boolean {
    const { lane, address } = one;
    const fresh = this.#fresh.get(address);
    const begins = fresh?.delete(one) ?? false;
    if (fresh?.size === 0) this.#fresh.delete(address);
    if (!lane) return begins;
    const held = lane.held.has(one);
    (held ? lane.held : lane.reading).delete(one);
    one.lane = undefined;
    this.#dropEmpty(lane);
    return held;
  }

  #enter(one: Intaken, name: string): Lane<Intaken> {
    const { lane: before } = one;
    if (before) {
      if (before.reading.has(one)) before.reading.delete(one);
      else {
        before.held.delete(one);
        read(one);
      }
      this.#dropEmpty(before);
    }
    let lane = this.#lanes.get(name);
    if (!lane) this.#lanes.set(name, (lane = new Lane<Intaken>(name)));
    lane.reading.add(one);
    one.lane = lane;
    return lane;
  }

  #dropEmpty(lane: Lane<Intaken>): void {
    const { held, reading, waiting, kept, name } = lane;
    if (held.size === 0) this.#holding.delete(lane);
    if (held.size + reading.size + waiting + kept.length > 0) return;
    this.#lanes.delete(name);
  }

  /** None of its connections is read, also of those whose bytes are there already. */
  #hold(lane: Lane<Intaken>): void {
    if (lane.reading.size === 0) return;
    const heldMs = this.#now();
    for (let one = lane.reading.first; one; one = lane.reading.first) {
      one.handle.readStop();
      one.heldMs = heldMs;
      lane.reading.delete(one);
      lane.held.add(one);
    }
    this.#holding.add(lane);
    this.#schedule();
    this.#watch();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#nextTurn(this.#turn);
  }

  readonly #turn = (): void => {
    this.#scheduled = false;
    this.#turns++;
    this.#beginFresh();
    const nowMs = this.#now();
    const waitMs = this.#pace.waitMs(nowMs);
    this.#passOn(nowMs, waitMs > 0);
    this.#release(nowMs, waitMs > 0);
    if (waitMs > 0) this.#continueIn(waitMs);
  };

  /** Some requests of each lane in turn; none where enough of its requests wait to begin, but for those kept long. */
  #passOn(nowMs: number, paced: boolean): void {
    const longMs = nowMs - maxHoldMs;
    const behind = this.#behind;
    let left = passedATurn;
    for (let waiting = 0; left > 0 && waiting < behind.size;) {
      const lane = behind.first!;
      // Behind the others.
      behind.delete(lane);
      behind.add(lane);
      const next = lane.kept[0]!;
      const { flood } = lane.delays;
      if (flood && paced) {
        waiting++;
        continue;
      }
      if (lane.waiting >= maxOfLane && next.sinceMs > longMs) {
        this.#watch();
        waiting++;
        continue;
      }
      waiting = 0;
      if (flood) this.#pace.passed(nowMs);
      lane.kept.shift();
      if (lane.kept.length === 0) {
        behind.delete(lane);
        this.#dropEmpty(lane);
      }
      // The client has reset it.
      if (next.request.closed) continue;
      left--;
      this.#count(lane);
      next.request.handle();
    }
    if (left < passedATurn) this.#schedule();
  }

  /** For those who flood, where there are any. */
  #continueIn(waitMs: number): void {
    if (this.#pacing || this.#behind.size + this.#holding.size === 0) return;
    this.#pacing = true;
    this.#after(waitMs, () => {
      this.#pacing = false;
      this.#schedule();
    });
  }

  /** A handshake takes milliseconds: one begins in a turn, addresses in turn. */
  #beginFresh(): void {
    const [next] = this.#fresh;
    if (!next) return;
    const [address, waiting] = next;
    const [one] = waiting;
    waiting.delete(one!);
    this.#fresh.delete(address);
    if (waiting.size > 0) this.#fresh.set(address, waiting);
    this.#enter(one!, address);
    read(one!);
    if (this.#fresh.size > 0) this.#schedule();
  }

  /** Some of each lane in turn. */
  #release(nowMs: number, paced: boolean): void {
    let left = releasedATurn;
    for (let more = true; more;) {
      more = false;
      for (const lane of [...this.#holding]) {
        const one = lane.held.first;
        if (!one || lane.isFull) continue;
        const { flood } = lane.delays;
        if (flood && paced) continue;
        if (left-- === 0) return this.#schedule();
        if (flood) this.#pace.passed(nowMs);
        this.#readAgain(lane, one);
        more = true;
      }
    }
  }

  #readAgain(lane: Lane<Intaken>, one: Intaken): void {
    lane.held.delete(one);
    lane.reading.add(one);
    lane.delays.add(this.#now());
    // Behind the others, which have their turn before it is this one's again.
    if (lane.held.size === 0 || this.#holding.size > 1)
      this.#holding.delete(lane);
    if (lane.held.size > 0) this.#holding.add(lane);
    read(one);
  }

  /** Who waits for seats, for a long time perhaps, does not keep the others of its lane from being refused. */
  #watch(): void {
    if (this.#timing) return;
    this.#timing = true;
    this.#after(maxHoldMs / 4, () => {
      this.#timing = false;
      const before = this.#now() - maxHoldMs;
      for (const lane of [...this.#holding]) {
        // It gets on, at its pace.
        if (lane.delays.flood && lane.waiting < maxOfLane) continue;
        for (
          let one = lane.held.first;
          one && one.heldMs <= before;
          one = lane.held.first
        )
          this.#readAgain(lane, one);
      }
      if (this.#behind.size > 0) this.#schedule();
      if (this.#holding.size > 0) this.#watch();
    });
  }
}

function read({ handle }: Intaken): void {
  if (handle.reading !== false) handle.readStart();
}
