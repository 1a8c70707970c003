// How many requests are worked on at once: by priority and fairness (flow-control.ts), or, without it, by
// --max-requests-inflight and --max-mutating-requests-inflight. What finds no place waits in a bounded queue, where there
// is one, or is answered 429. A place is taken when there is work to do, that is after a body has been received, and kept
// until the work is over, also when its client has been answered that it takes too long. The memory of bodies that
// are being received is bounded in bytes instead. Long-running requests (proxy, log, exec …) have no place; a watch has
// one, under priority and fairness, until its initial events are sent. An answer whose client does not read on gives its
// place back, and is cut off where there is no memory for what it keeps.
//
// A request that finds a place waits for no promise. One that is queued leaves the queue when its client goes away, when
// it has been answered, or after the longest wait; whatever happens, its place is given back once.
import { systemClock, type Clock, type Timer } from "../../api/clock.ts";
import type { UserInfo } from "../../api/contracts.ts";
import type { BodyGate } from "../../http-kit/body.ts";
import type { Exchange } from "../../http-kit/exchange.ts";
import { isLongRunning } from "../request/deadline.ts";
import type { RequestInfo } from "../request/request-info.ts";
import { PlainAnswer } from "../request/route.ts";
import type { Claim, Entering, Waiter } from "./claim.ts";
import type { FlowControl } from "./flow-control.ts";
import { Seats, Share } from "./seats.ts";
import { Stalls, type Stalling } from "../request/stalls.ts";

const readOnly = new Set(["get", "list", "watch"]);

/** Of all bodies that are being received or worked on, and of answers that are not read: a hundred of the largest bodies. */
const maxBodiesBytes = 300 * 1024 * 1024;
/** What a request costs while its body is waited for. */
const waitingBytes = 4096;
/** What an answer holds that is not read: parts of its text. */
const unreadBytes = 256 * 1024;

interface LimiterOptions {
  /** Requests at once; 0: no limit. Without effect beside `flows`. */
  readonly readOnly: number;
  readonly mutating: number;
  /** Undefined: priority and fairness is off. */
  readonly flows?: FlowControl | undefined;
  readonly bodiesBytes?: number;
  /** Of each of the two; default: no request waits. */
  readonly queue?: { readonly length: number; readonly maxWaitMs: number };
  readonly clock?: Clock;
}

/** What the limiter looks at; `exchange` only when the request has to wait. */
interface LimitedRequest {
  readonly info: RequestInfo;
  readonly user: UserInfo;
  readonly query: URLSearchParams;
  /** How long the answer may take; 0: nothing is said. */
  readonly limitMs: number;
  /** Closed when the answer is no longer wanted. */
  readonly exchange: Pick<Exchange, "closed" | "onClose" | "waits" | "destroy">;
}

export class Limiter {
  readonly #readOnly: Seats;
  readonly #mutating: Seats;
  readonly #maxWaitMs: number;
  readonly #counted: PlaceOptions;
  readonly #uncounted: PlaceOptions;
  readonly #flows: FlowControl | undefined;
  /** Requests that have been begun, with or without a place. */
  requests = 0;

  constructor(options: LimiterOptions) {
    const { queue = { length: 0, maxWaitMs: 0 } } = options;
    this.#readOnly = new Seats(options.readOnly, queue.length);
    this.#mutating = new Seats(options.mutating, queue.length);
    const bodies = new Share(options.bodiesBytes ?? maxBodiesBytes);
    this.#maxWaitMs = queue.maxWaitMs;
    const clock = options.clock ?? systemClock;
    const shared = { bodies, clock, stalls: new Stalls(clock) };
    this.#counted = { ...shared, over: () => void this.requests-- };
    this.#uncounted = { ...shared, over: () => undefined };
    this.#flows = options.flows;
  }

  /** Now, by kind of request. */
  get inFlight(): { readOnly: number; mutating: number } {
    return (
      this.#flows?.inFlight ?? {
        readOnly: this.#readOnly.used,
        mutating: this.#mutating.used,
      }
    );
  }

  get inQueue(): { readOnly: number; mutating: number } {
    return (
      this.#flows?.inQueue ?? {
        readOnly: this.#readOnly.waiting,
        mutating: this.#mutating.waiting,
      }
    );
  }

  /** Undefined for long-running requests. The place is not taken yet. */
  place(request: LimitedRequest): Place | undefined {
    const claim = this.#claim(request);
    if (!claim) return undefined;
    this.requests++;
    return new Place(request, claim, this.#counted);
  }

  /** Of a request of this process, which the limits in flight do not concern. */
  placeOfPart(request: LimitedRequest): Place | undefined {
    const claim = this.#flows && this.#claim(request);
    return claim && new Place(request, claim, this.#uncounted);
  }

  #claim(request: LimitedRequest): Claim | undefined {
    const { info, user } = request;
    if (isLongRunning(info) && !(this.#flows && info.verb === "watch"))
      return undefined;
    if (this.#flows) return this.#flows.claim(request, request.limitMs);
    const reads = !info.resourceRequest || readOnly.has(info.verb);
    const seats = reads ? this.#readOnly : this.#mutating;
    return new SeatClaim(seats, user, this.#maxWaitMs);
  }
}

/** A seat of the limits in flight. */
class SeatClaim implements Claim {
  #taken = false;
  #stop: (() => void) | undefined;

  constructor(
    private readonly seats: Seats,
    private readonly user: UserInfo,
    readonly maxWaitMs: number,
  ) {}

  enter(waiter: Waiter): Entering {
    this.#taken = this.seats.enter(this.user, 1);
    if (this.#taken) return "runs";
    this.#stop = this.seats.wait(this.user, 1, () => {
      this.#taken = true;
      this.#stop = undefined;
      waiter.admitted();
    });
    return this.#stop ? "waits" : "refused";
  }

  stopWaiting(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  leave(): void {
    if (this.#taken) this.seats.give(this.user, 1);
    this.#taken = false;
  }

  refuse(): number {
    return 1;
  }
}

/** What ends a request's waiting for a place: unset when it waits no longer. */
interface Waiting {
  giveUp: (() => void) | undefined;
}

/**
 * The callback stays with the stream until the client has read its answer: so it holds nothing but the cell. In a
 * function of its own, as all callbacks made in one share what any of them holds.
 */
function giveUpOnClose(
  exchange: Pick<Exchange, "onClose">,
  waiting: Waiting,
): void {
  exchange.onClose(() => waiting.giveUp?.());
}

/** What all places share. */
interface PlaceOptions {
  readonly bodies: Share;
  readonly clock: Clock;
  readonly stalls: Stalls;
  readonly over: () => void;
}

/** One request's. `leave` has to be called in the end; more calls do nothing. */
export class Place implements BodyGate, Waiter, Stalling {
  #taken = false;
  #bytes = 0;
  /** What an answer keeps whose client does not read on, beyond what every list is charged; -1: it reads. */
  #unreadBytes = -1;
  waitedMs = 0;
  stall: Stalling["stall"];
  #left = false;
  /** Set while it waits for a place. */
  #waiting: Waiting | undefined;
  #waitsNoLonger: (() => void) | undefined;
  #timer: Timer | undefined;

  constructor(
    private readonly request: LimitedRequest,
    private readonly claim: Claim,
    private readonly options: PlaceOptions,
  ) {}

  /** Which flow the request belongs to, for its answer. */
  get flow(): Claim["flow"] {
    return this.claim.flow;
  }

  /** A body is waited for. Throws a PlainAnswer of 429. */
  expect(): void {
    this.received(waitingBytes);
  }

  /** The answer may be long, and its client may not read it. Throws a PlainAnswer of 429. */
  expectUnread(): void {
    this.received(unreadBytes);
  }

  received(bytes: number): void {
    const { request, options } = this;
    if (this.#left || !options.bodies.take(request.user, bytes))
      throw this.#tooMany();
    this.#bytes += bytes;
  }

  /** Throws, or rejects with, a PlainAnswer of 429. Without a promise where there is a place now. */
  take(): void | Promise<void> {
    if (this.#taken) return;
    if (this.#left) throw this.#tooMany();
    const entering = this.claim.enter(this);
    if (entering === "refused") return this.#refuse();
    if (entering === "waits") return this.#wait();
    this.#taken = true;
  }

  /** The client does not read on. @param bytes what the answer keeps in memory meanwhile, beside its text */
  stalls(bytes: number): void {
    if (!this.#taken || this.#left || this.#unreadBytes >= 0) return;
    this.#unreadBytes = bytes;
    this.options.stalls.begin(this);
  }

  /** It reads again. */
  goesOn(): void {
    if (this.#unreadBytes < 0) return;
    this.options.stalls.end(this);
    this.#unreadBytes = -1;
  }

  /** Others may have its place. It goes on without one when its client reads. */
  stalled(): void {
    const { request, claim, options } = this;
    if (this.#left) return;
    const bytes = Math.max(0, this.#unreadBytes);
    if (!options.bodies.take(request.user, bytes))
      return request.exchange.destroy();
    this.#bytes += bytes;
    this.#taken = false;
    claim.leave();
  }

  /** The request has been answered: if it still waits for a place, it needs none. */
  answered(): void {
    this.#waiting?.giveUp?.();
  }

  /** A watch has ended: it left its place long before. */
  over(): void {
    this.claim.over?.();
  }

  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#waiting?.giveUp?.();
    this.goesOn();
    const { request, options } = this;
    this.claim.leave();
    if (this.#bytes > 0) options.bodies.give(request.user, this.#bytes);
    options.over();
  }

  #resolve: (() => void) | undefined;

  /** It waited, and has its place now. */
  admitted(): void {
    this.#taken = true;
    this.#waitsNot();
    this.#resolve?.();
  }

  #waitsNot(): void {
    if (this.#waiting) this.#waiting.giveUp = undefined;
    this.#waiting = undefined;
    this.#waitsNoLonger?.();
    this.#timer?.cancel();
  }

  #wait(): Promise<void> {
    const { request, claim, options } = this;
    let refused!: (error: Error) => void;
    const entered = new Promise<void>((resolve, reject) => {
      this.#resolve = resolve;
      refused = reject;
    });
    const giveUp = (): void => {
      if (this.#waiting !== waiting) return;
      this.#waitsNot();
      claim.stopWaiting();
      refused(this.#tooMany());
    };
    const waiting: Waiting = { giveUp };
    this.#waiting = waiting;
    this.#timer = options.clock.after(claim.maxWaitMs, giveUp);
    const { exchange } = request;
    this.#waitsNoLonger = exchange.waits?.();
    if (exchange.closed) giveUp();
    else giveUpOnClose(exchange, waiting);
    return entered;
  }

  /** Throws, or rejects later, where the server has no time for refusals. */
  #refuse(): Promise<never> {
    const { claim } = this;
    let late: ((error: Error) => void) | undefined;
    let error: PlainAnswer | undefined;
    const answer = (): void => {
      error = this.#tooMany();
      late?.(error);
    };
    if (claim.whenRefused) claim.whenRefused(answer);
    else answer();
    if (error) throw error;
    return new Promise((_resolve, reject) => (late = reject));
  }

  #tooMany(): PlainAnswer {
    return new PlainAnswer(
      429,
      "Too many requests, please try again later.\n",
      {
        "retry-after": String(this.claim.refuse()),
        "x-content-type-options": "nosniff",
      },
    );
  }
}
