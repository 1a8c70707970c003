// One queue of a priority level, and a request in it. The queue set (queue-set.ts) keeps the fields of both.
import type { FlowCounts } from "./flow-metrics.ts";
import { Listed, RequestList } from "../../api/queueing/request-list.ts";
import type { WorkEstimate } from "./work-estimate.ts";

/** What a request is taken to last, before it is known. */
export const estimatedSeconds = 0.003;

/** Kept by the queue set; `counts` and `hand` are the flow's. */
export abstract class QueuedRequest extends Listed {
  queue: Queue | undefined;
  arrivedMs = 0;
  /** Virtual time of the arrival. */
  arrivalR = 0;
  /** 0: it has not begun. */
  startedMs = 0;
  initialSeats = 1;
  finalSeats = 0;
  lingerMs = 0;
  abstract readonly counts: FlowCounts;
  abstract readonly hand: readonly number[];

  estimate({ initialSeats, finalSeats, lingerMs }: WorkEstimate): void {
    this.initialSeats = initialSeats;
    this.finalSeats = finalSeats;
    this.lingerMs = lingerMs;
  }

  /** The most it takes at once; it holds them from beginning to end. */
  get seats(): number {
    return Math.max(this.initialSeats, this.finalSeats);
  }

  /** Seat-seconds. */
  get work(): number {
    return (
      this.initialSeats * estimatedSeconds +
      (this.finalSeats * this.lingerMs) / 1000
    );
  }

  /** It waited and may run now. Must not throw. */
  abstract admit(): void;
}

export class Queue {
  readonly waiting = new RequestList<QueuedRequest>();
  readonly executing = new RequestList<QueuedRequest>();
  /** Seat-seconds of those that wait. */
  waitingWork = 0;
  seatsInUse = 0;
  nextR = 0;

  get busy(): boolean {
    return this.waiting.size > 0 || this.executing.size > 0;
  }

  get oldest(): QueuedRequest | undefined {
    return this.waiting.first;
  }
}
