// The queues of one priority level and the seats its requests share. Each flow has a hand of queues; a request goes to the
// one of them with the least work. Seats go to the queues in turn by virtual time: R is the seat-seconds each busy queue
// has been given so far, a queue's `nextR` is the R at which its next request would begin if all queues were served at
// once at equal rates, and the request that would end first begins first (fair queueing for server requests, KEP-1040).
//
// Worked example: limit 1, requests of one seat that are estimated at 3 ms. Queue A has ten requests waiting and nextR 0;
// B's first comes at R 0. A's first begins, A's nextR is 0.003; then B's, whose end 0.003 is before A's 0.006; then A's.
//
// Invariants: `seatsInUse` is at most the limit, but for one request that is wider than the limit and runs alone; a queue
// holds at most `queueLength` waiting requests; a request that runs is given back by one `finish`; nothing waits while
// the request whose turn it is fits into a limit above 0 and the turn of the loop (loop-gate.ts) has room for it. A request that finds free seats and an empty level is begun without a queue's visit.
import type { Clock } from "../../api/clock.ts";
import type { SeatDemand } from "./demand.ts";
import type { LoopGate } from "./loop-gate.ts";
import type { LevelGauges, Refusal } from "./flow-metrics.ts";
import { estimatedSeconds, Queue, type QueuedRequest } from "./queue.ts";
import { RequestList } from "../../api/queueing/request-list.ts";

export interface QueueSettings {
  /** 0: nothing waits. */
  readonly queues: number;
  readonly queueLength: number;
  /** Without limit. */
  readonly exempt: boolean;
}

interface QueueSetOptions {
  readonly clock: Clock;
  readonly gate: LoopGate;
  readonly gauges: LevelGauges;
  readonly demand: SeatDemand;
  /** Called when nothing waits or runs any more. */
  readonly idle: () => void;
}

export class QueueSet {
  #settings: QueueSettings = { queues: 0, queueLength: 0, exempt: false };
  #limit = 0;
  /** More than the settings say while the surplus still has requests. */
  readonly queues: Queue[] = [];
  /** Begun without a queue. */
  readonly queueless = new RequestList<QueuedRequest>();
  #busyQueues = 0;
  #lastServed = -1;
  #enqueued = 0;
  #lastMs: number;
  /** What waits for the loop's next turn has seats: it is not served as fast as the seats allow. */
  #held = false;
  currentR = 0;
  waiting = 0;
  waitingSeats = 0;
  executing = 0;
  seatsInUse = 0;
  dispatched = 0;
  refused = 0;
  cancelled = 0;

  constructor(private readonly options: QueueSetOptions) {
    this.#lastMs = options.clock.monotonic();
  }

  get isIdle(): boolean {
    return this.waiting === 0 && this.executing === 0;
  }

  /** @param limit seats */
  configure(settings: QueueSettings, limit: number, denominator: number): void {
    const nowMs = this.#advance();
    this.#settings = settings;
    this.#limit = limit;
    while (this.queues.length < settings.queues) this.queues.push(new Queue());
    this.#dropSurplus();
    const { gauges } = this.options;
    const places =
      Math.max(1, settings.queueLength) * Math.max(1, settings.queues);
    gauges.waiting.setDenominator(places, nowMs);
    gauges.executing.setDenominator(denominator, nowMs);
    gauges.seats.setDenominator(denominator, nowMs);
    gauges.demand.setDenominator(denominator, nowMs);
    this.#dispatch(nowMs);
  }

  /** `admit` is called when it is dispatched from a queue, unless `cancel` was before: after "waits", or before "runs". */
  start(request: QueuedRequest): "runs" | "waits" | Refusal {
    const nowMs = this.#advance();
    request.arrivedMs = nowMs;
    request.arrivalR = this.currentR;
    if (this.#settings.queues < 1) {
      if (!this.#fits(request)) {
        this.refused++;
        return "concurrency-limit";
      }
      this.#run(request, nowMs);
      return "runs";
    }
    const queue = this.#queueFor(request.hand);
    if (queue.waiting.size >= this.#settings.queueLength) {
      this.refused++;
      return "queue-full";
    }
    request.queue = queue;
    if (!queue.busy) {
      queue.nextR = this.currentR;
      this.#busyQueues++;
    } else if (queue.waiting.size === 0) this.#boundBy(queue, request);
    request.counts.queueLength.observe(queue.waiting.size + 1);
    if (
      this.waiting === 0 &&
      this.seatsInUse < this.#limit &&
      this.#fits(request) &&
      !(queue.executing.size > 0 && this.options.gate.scarce) &&
      this.options.gate.mayBegin()
    ) {
      this.#run(request, nowMs);
      return "runs";
    }
    this.#enqueue(request, queue, nowMs);
    // It may be narrower than those that wait for seats.
    this.#dispatch(nowMs);
    return queue.waiting.has(request) ? "waits" : "runs";
  }

  /** The request waits no longer. False: it did not wait. */
  cancel(request: QueuedRequest): boolean {
    const { queue } = request;
    if (!queue?.waiting.has(request)) return false;
    const nowMs = this.#advance();
    this.#leaveQueue(request, queue, nowMs);
    this.#noteDemand(nowMs);
    this.#settle(queue);
    this.refused++;
    this.cancelled++;
    // What it held up, being wide, may fit now.
    this.#dispatch(nowMs);
    this.#noteIdle();
    return true;
  }

  /** A request that ran is over, now, which is returned. Its seats may linger for the work that follows it. */
  finish(request: QueuedRequest): number {
    const nowMs = this.#advance();
    const { queue, counts } = request;
    this.executing--;
    counts.executingRequests--;
    this.options.gauges.executing.add(-1, nowMs);
    if (queue) {
      queue.executing.delete(request);
      const tookSeconds = (nowMs - request.startedMs) / 1000;
      queue.nextR -= request.initialSeats * (estimatedSeconds - tookSeconds);
      this.#settle(queue);
    } else this.queueless.delete(request);
    if (request.lingerMs > 0)
      this.options.clock.after(request.lingerMs, () => {
        const laterMs = this.#advance();
        this.#giveSeats(request, laterMs);
        this.#dispatch(laterMs);
      });
    else this.#giveSeats(request, nowMs);
    this.#dispatch(nowMs);
    this.#noteIdle();
    return nowMs;
  }

  #queueFor(hand: readonly number[]): Queue {
    // Not always from the first: flows with overlapping hands spread.
    const offset = this.#enqueued++ % hand.length;
    let best: Queue | undefined;
    for (let at = 0; at < hand.length; at++) {
      const queue = this.queues[hand[(offset + at) % hand.length]!]!;
      if (!best || queue.waitingWork < best.waitingWork) best = queue;
      if (best.waitingWork === 0) break;
    }
    return best!;
  }

  #fits({ seats }: QueuedRequest): boolean {
    if (this.#settings.exempt) return true;
    if (seats > this.#limit) return this.executing === 0;
    return this.seatsInUse + seats <= this.#limit;
  }

  /** In a turn of the loop: what waits for no seats. */
  dispatch(most: number): void {
    this.#dispatch(this.#advance(), most);
  }

  /** All that may begin, in virtual order. */
  #dispatch(nowMs: number, most = Infinity): void {
    const { gate } = this.options;
    this.#held = false;
    // A level without seats holds its requests until they are given up.
    while (this.waiting > 0 && this.seatsInUse < this.#limit) {
      const at = this.#nextQueue(gate.scarce);
      const queue = this.queues[at];
      if (!queue) return this.#hold();
      const request = queue.oldest!;
      if (!this.#fits(request)) {
        request.counts.noAccommodation++;
        return;
      }
      if (most-- <= 0 || !gate.mayBegin()) return this.#hold();
      this.#lastServed = at;
      this.#leaveQueue(request, queue, nowMs);
      this.#run(request, nowMs);
      request.admit();
    }
  }

  /** The loop's next turn goes on. */
  #hold(): void {
    this.#held = true;
    this.options.gate.later(this);
  }

  /**
   * The queue whose oldest request would end first; of several the one after the queue served last. -1: there is none
   * among those that have nothing running, if these only are asked for.
   */
  #nextQueue(idleOnly: boolean): number {
    const { queues } = this;
    let next = -1;
    let start = 0;
    let earliest = Infinity;
    let lowest = Infinity;
    let highest = -Infinity;
    let lowestDiscounted = Infinity;
    let highestDiscounted = -Infinity;
    for (let step = 1; step <= queues.length; step++) {
      const at = (this.#lastServed + step) % queues.length;
      const queue = queues[at]!;
      if (queue.waiting.size === 0) continue;
      if (idleOnly && queue.executing.size > 0) continue;
      const { nextR } = queue;
      const discounted = nextR - queue.seatsInUse * estimatedSeconds;
      lowest = Math.min(lowest, nextR);
      highest = Math.max(highest, nextR);
      lowestDiscounted = Math.min(lowestDiscounted, discounted);
      highestDiscounted = Math.max(highestDiscounted, discounted);
      const end = nextR + queue.oldest!.work;
      if (end >= earliest) continue;
      earliest = end;
      next = at;
      start = nextR;
    }
    if (next < 0) return next;
    this.options.gauges.dispatch = {
      r: this.currentR,
      s: start,
      bounds: [lowest, highest],
      discounted: [lowestDiscounted, highestDiscounted],
    };
    return next;
  }

  #run(request: QueuedRequest, nowMs: number): void {
    if (request.finalSeats > this.#limit && !this.#settings.exempt) {
      // The same work with the seats there are.
      const seats = Math.max(1, this.#limit);
      request.lingerMs *= request.finalSeats / seats;
      request.finalSeats = seats;
    }
    const { queue, counts, seats } = request;
    const { gauges } = this.options;
    request.startedMs = nowMs;
    this.executing++;
    this.dispatched++;
    this.seatsInUse += seats;
    counts.dispatched++;
    counts.executingRequests++;
    counts.executingSeats += seats;
    gauges.executing.add(1, nowMs);
    gauges.seats.add(seats, nowMs);
    this.#noteDemand(nowMs);
    if (!queue) {
      this.queueless.add(request);
      return;
    }
    queue.executing.add(request);
    queue.seatsInUse += seats;
    queue.nextR += request.work;
    this.#settle(queue);
  }

  #enqueue(request: QueuedRequest, queue: Queue, nowMs: number): void {
    const { counts, seats } = request;
    queue.waiting.add(request);
    queue.waitingWork += request.work;
    this.waiting++;
    this.waitingSeats += seats;
    counts.waitingRequests++;
    counts.waitingSeats += seats;
    this.options.gauges.waiting.add(1, nowMs);
    this.#noteDemand(nowMs);
  }

  #leaveQueue(request: QueuedRequest, queue: Queue, nowMs: number): void {
    const { counts, seats } = request;
    queue.waiting.delete(request);
    // No sum of rounded numbers: an empty queue has no work.
    queue.waitingWork =
      queue.waiting.size === 0 ? 0 : queue.waitingWork - request.work;
    this.waiting--;
    this.waitingSeats -= seats;
    counts.waitingRequests--;
    counts.waitingSeats -= seats;
    this.options.gauges.waiting.add(-1, nowMs);
  }

  #giveSeats({ queue, counts, seats }: QueuedRequest, nowMs: number): void {
    this.seatsInUse -= seats;
    counts.executingSeats -= seats;
    this.options.gauges.seats.add(-seats, nowMs);
    if (queue) queue.seatsInUse -= seats;
    this.#noteDemand(nowMs);
    this.#dropSurplus();
  }

  /** After a change of a queue: it does not begin before its oldest request came, and may have become idle. */
  #settle(queue: Queue): void {
    const { oldest } = queue;
    if (oldest) this.#boundBy(queue, oldest);
    else if (queue.executing.size === 0) this.#busyQueues--;
  }

  /** Without it a queue that seldom has work would save up turns. */
  #boundBy(queue: Queue, { arrivalR }: QueuedRequest): void {
    if (queue.nextR < arrivalR) queue.nextR = arrivalR;
  }

  #dropSurplus(): void {
    const { queues } = this;
    while (queues.length > this.#settings.queues && !queues.at(-1)!.busy)
      queues.pop();
  }

  #noteDemand(nowMs: number): void {
    const { demand, gauges } = this.options;
    const seats = this.seatsInUse + this.waitingSeats;
    demand.set(seats, nowMs);
    gauges.demand.set(seats, nowMs);
  }

  #noteIdle(): void {
    if (this.isIdle) this.options.idle();
  }

  /** Brings virtual time up to now. */
  #advance(): number {
    const nowMs = this.options.clock.monotonic();
    const passedMs = nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    if (passedMs > 0 && this.#busyQueues > 0) {
      // Time in which free seats give nothing to anybody must not count: those that waited through it would go before
      // all that comes later.
      const wanted = this.seatsInUse + (this.#held ? 0 : this.waitingSeats);
      const rate = Math.min(wanted, this.#limit) / this.#busyQueues;
      this.currentR += (rate * passedMs) / 1000;
    }
    return nowMs;
  }
}
