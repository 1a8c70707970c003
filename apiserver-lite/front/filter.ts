// The filter chain: every request, upgrades among them, enters the same filters in the same order and then its delegate.
//
// A filter refuses by throwing (an ApiError or PlainAnswer, in the failure's form), answers by itself and returns `true`,
// or lets the request pass. When the answer has been handed over, `answered` of the filters that were entered is called,
// the last first; `done` when nothing works for the request any more, which is later where its deadline passed first.
// Invariants: `handle` never throws or rejects. A request for which no filter and no delegate waits goes through without
// a promise or a timer.
import type { Clock } from "../../api/clock.ts";
import type { Handler, HttpRequest } from "../serving/http-request.ts";
import { timedOut } from "../request/deadline.ts";

export interface Filter {
  readonly name: string;
  /** Parts of this process pass it by: they are past authentication and authorization. */
  readonly skipsParts?: true;
  /** `true`: the request has its answer. */
  enter?(request: HttpRequest): void | true | Promise<void | true>;
  answered?(request: HttpRequest): void;
  done?(request: HttpRequest): void;
}

/** Answers a request that failed. Never throws. */
export type FailureAnswer = (request: HttpRequest, error: unknown) => void;

/** How far a request has come. */
interface Progress {
  /** Filters that were entered. */
  entered: number;
  /** The deadline has passed: nothing further is begun. */
  over: boolean;
}

/** A filter's part in the end of a request, the filter being the one at `at`. */
interface Ending {
  readonly at: number;
  readonly filter: Filter;
}

export class FilterChain {
  /** The last filter first. */
  readonly #answering: readonly Ending[];
  readonly #finishing: readonly Ending[];

  constructor(
    private readonly filters: readonly Filter[],
    private readonly delegate: Handler,
    private readonly fail: FailureAnswer,
    private readonly clock: Clock,
  ) {
    // Most filters have no part in it: their objects, of many shapes, are not looked at for every request.
    const endings = filters.map((filter, at) => ({ at, filter })).reverse();
    this.#answering = endings.filter(({ filter }) => filter.answered);
    this.#finishing = endings.filter(({ filter }) => filter.done);
  }

  handle(request: HttpRequest): void | Promise<void> {
    const progress: Progress = { entered: 0, over: false };
    let running: void | Promise<void> = undefined;
    try {
      running = this.#from(request, progress);
    } catch (error) {
      this.fail(request, error);
    }
    if (running) return this.#settle(request, progress, running);
    this.#answered(request, progress);
    this.#done(request, progress);
  }

  #from(request: HttpRequest, progress: Progress): void | Promise<void> {
    const { filters } = this;
    while (progress.entered < filters.length) {
      const entering = filters[progress.entered++]!.enter?.(request);
      if (entering === true) return;
      if (entering)
        return entering.then((answered) =>
          answered || progress.over ? undefined : this.#from(request, progress),
        );
    }
    return this.delegate(request);
  }

  /** Resolves when nothing works for the request any more. */
  #settle(
    request: HttpRequest,
    progress: Progress,
    running: Promise<void>,
  ): Promise<void> {
    const { limitMs } = request;
    const timer =
      limitMs > 0
        ? this.clock.after(limitMs, () => {
            request.timedOut = true;
            this.fail(request, timedOut());
            this.#end(request, progress);
          })
        : undefined;
    return running.then(
      () => {
        timer?.cancel();
        if (!progress.over) this.#end(request, progress);
        this.#done(request, progress);
      },
      (error: unknown) => {
        timer?.cancel();
        if (!progress.over) {
          this.fail(request, error);
          this.#end(request, progress);
        }
        this.#done(request, progress);
      },
    );
  }

  /** The request has its answer. */
  #end(request: HttpRequest, progress: Progress): void {
    progress.over = true;
    this.#answered(request, progress);
  }

  #answered(request: HttpRequest, { entered }: Progress): void {
    for (const { at, filter } of this.#answering)
      if (at < entered) filter.answered!(request);
  }

  #done(request: HttpRequest, { entered }: Progress): void {
    for (const { at, filter } of this.#finishing)
      if (at < entered) filter.done!(request);
  }
}
