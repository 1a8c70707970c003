// --max-requests-inflight and --max-mutating-requests-inflight: beyond them requests wait in a bounded queue, where one is
// set, or are answered 429. A place is taken when there is work to do, that is after a body has been received, and kept
// until the work is over, also when its client has been answered that it takes too long. The memory of bodies that
// are being received is bounded in bytes instead. Long-running requests (watch, proxy, log, exec …) have no place.
//
// A request that finds a place waits for no promise. One that is queued leaves the queue when its client goes away, when
// it has been answered, or after the longest wait; whatever happens, its place is given back once.
import { systemClock, type Clock } from "../../api/clock.ts";
import type { UserInfo } from "../../api/contracts.ts";
import type { BodyGate } from "../../http-kit/body.ts";
import { isLongRunning } from "../request/deadline.ts";
import type { RequestInfo } from "../request/request-info.ts";
import { PlainAnswer } from "../request/route.ts";
import { Seats, Share } from "./seats.ts";

const readOnly = new Set(["get", "list", "watch"]);

/** Of all bodies that are being received or worked on: a hundred of the largest. */
const maxBodiesBytes = 300 * 1024 * 1024;
/** What a request costs while its body is waited for. */
const waitingBytes = 4096;

interface LimiterOptions {
  /** Requests at once; 0: no limit. */
  readonly readOnly: number;
  readonly mutating: number;
  readonly bodiesBytes?: number;
  /** Of each of the two; default: no request waits. */
  readonly queue?: { readonly length: number; readonly maxWaitMs: number };
  readonly clock?: Clock;
}

/** What the limiter looks at; `signal` only when the request has to wait. */
interface LimitedRequest {
  readonly info: RequestInfo;
  readonly user: UserInfo;
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

export class Limiter {
  readonly #readOnly: Seats;
  readonly #mutating: Seats;
  readonly #bodies: Share;
  readonly #maxWaitMs: number;
  readonly #clock: Clock;
  /** Requests that have been begun, with or without a place. */
  requests = 0;

  constructor(options: LimiterOptions) {
    const { queue = { length: 0, maxWaitMs: 0 } } = options;
    this.#readOnly = new Seats(options.readOnly, queue.length);
    this.#mutating = new Seats(options.mutating, queue.length);
    this.#bodies = new Share(options.bodiesBytes ?? maxBodiesBytes);
    this.#maxWaitMs = queue.maxWaitMs;
    this.#clock = options.clock ?? systemClock;
  }

  /** Now, by kind of request. */
  get inFlight(): { readOnly: number; mutating: number } {
    return { readOnly: this.#readOnly.used, mutating: this.#mutating.used };
  }

  get inQueue(): { readOnly: number; mutating: number } {
    return {
      readOnly: this.#readOnly.waiting,
      mutating: this.#mutating.waiting,
    };
  }

  /** Undefined for long-running requests. The place is not taken yet. */
  place(request: LimitedRequest): Place | undefined {
    const { info } = request;
    if (isLongRunning(info)) return undefined;
    const reads = !info.resourceRequest || readOnly.has(info.verb);
    this.requests++;
    return new Place(request, {
      seats: reads ? this.#readOnly : this.#mutating,
      bodies: this.#bodies,
      clock: this.#clock,
      maxWaitMs: this.#maxWaitMs,
      over: this.#over,
    });
  }

  readonly #over = (): void => void this.requests--;
}

interface PlaceOptions {
  readonly seats: Seats;
  readonly bodies: Share;
  readonly clock: Clock;
  readonly maxWaitMs: number;
  readonly over: () => void;
}

/** How many seats a request takes. Fairness will estimate what a list costs here. */
const width = 1;

/** One request's. `leave` has to be called in the end; more calls do nothing. */
export class Place implements BodyGate {
  #taken = false;
  #bytes = 0;
  #left = false;
  /** Set while it waits for a place. */
  #giveUp: (() => void) | undefined;

  constructor(
    private readonly request: LimitedRequest,
    private readonly options: PlaceOptions,
  ) {}

  /** A body is waited for. Throws a PlainAnswer of 429. */
  expect(): void {
    this.received(waitingBytes);
  }

  received(bytes: number): void {
    const { request, options } = this;
    if (this.#left || !options.bodies.take(request.user, bytes))
      throw tooMany();
    this.#bytes += bytes;
  }

  /** Throws, or rejects with, a PlainAnswer of 429. Without a promise where there is a place now. */
  take(): void | Promise<void> {
    if (this.#taken) return;
    if (this.#left) throw tooMany();
    if (!this.options.seats.enter(this.request.user, width))
      return this.#wait();
    this.#taken = true;
  }

  /** The request has been answered: if it still waits for a place, it needs none. */
  answered(): void {
    this.#giveUp?.();
  }

  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#giveUp?.();
    const { request, options } = this;
    if (this.#taken) options.seats.give(request.user, width);
    if (this.#bytes > 0) options.bodies.give(request.user, this.#bytes);
    options.over();
  }

  /** Throws when the queue is full. */
  #wait(): Promise<void> {
    const { request, options } = this;
    let admitted!: () => void;
    let refused!: (error: Error) => void;
    const entered = new Promise<void>((resolve, reject) => {
      admitted = resolve;
      refused = reject;
    });
    const stop = options.seats.wait(request.user, width, () => {
      this.#taken = true;
      this.#giveUp = undefined;
      timer.cancel();
      admitted();
    });
    if (!stop) throw tooMany();
    const giveUp = (): void => {
      if (this.#giveUp !== giveUp) return;
      this.#giveUp = undefined;
      timer.cancel();
      stop();
      refused(tooMany());
    };
    const timer = options.clock.after(options.maxWaitMs, giveUp);
    this.#giveUp = giveUp;
    const { signal } = request;
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
    return entered;
  }
}

function tooMany(): PlainAnswer {
  return new PlainAnswer(429, "Too many requests, please try again later.\n", {
    "retry-after": "1",
    "x-content-type-options": "nosniff",
  });
}
