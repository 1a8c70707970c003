// One request's claim to run: a flow, the seats it is estimated to take, and where it is in its level's queues. It takes
// its flow when it enters: a request whose body took its time is classified by the schemas of that moment.
import type { UserInfo } from "../../api/contracts.ts";
import type { RequestInfo } from "../request/request-info.ts";
import type { Claim, Entering, Waiter } from "./claim.ts";
import type { FlowCounts, KindGauges } from "./flow-metrics.ts";
import type { LoopGate } from "./loop-gate.ts";
import type { PriorityLevel } from "./priority-level.ts";
import { QueuedRequest } from "./queue.ts";
import type { WatchCounts } from "./watch-counts.ts";
import type { WorkEstimate } from "./work-estimate.ts";

/** Where the requests of one schema and distinguisher go. */
export interface Flow {
  readonly schema: string;
  readonly level: PriorityLevel;
  readonly distinguisher: string;
  /** Queues of the level. */
  readonly hand: readonly number[];
  /** Of the schema's object, or "". */
  readonly schemaUid: string;
  readonly counts: FlowCounts;
}

/** What a claim needs of priority and fairness. */
export interface FlowHost {
  readonly nowMs: number;
  /** Flows of an earlier one may go to queues that are no more. */
  readonly generation: number;
  readonly watches: WatchCounts;
  readonly gate: LoopGate;
  classify(user: UserInfo, info: RequestInfo): Flow;
  estimate(flow: Flow, request: ClaimedRequest): WorkEstimate;
  kindOf(info: RequestInfo): KindGauges;
}

/** What is asked for, and by whom. */
export interface ClaimedRequest {
  readonly info: RequestInfo;
  readonly user: UserInfo;
  readonly query: URLSearchParams;
}

export class FlowClaim extends QueuedRequest implements Claim {
  flow: Flow;
  #generation: number;
  #entering = false;
  #waiter: Waiter | undefined;
  #runs = false;
  #forgetWatch: (() => void) | undefined;

  constructor(
    readonly request: ClaimedRequest,
    private readonly control: FlowHost,
    readonly maxWaitMs: number,
  ) {
    super();
    this.flow = control.classify(request.user, request.info);
    this.#generation = control.generation;
  }

  get counts(): FlowCounts {
    return this.flow.counts;
  }

  get hand(): readonly number[] {
    return this.flow.hand;
  }

  enter(waiter: Waiter): Entering {
    const { control, request } = this;
    if (this.#generation !== control.generation)
      this.flow = control.classify(request.user, request.info);
    const { level, counts } = this.flow;
    this.estimate(control.estimate(this.flow, request));
    counts.seats.observe(this.seats);
    this.#entering = true;
    const entering = level.queueSet.start(this);
    this.#entering = false;
    if (entering === "waits") {
      this.#waiter = waiter;
      control.kindOf(request.info).waiting.add(1, this.arrivedMs);
      return "waits";
    }
    if (entering === "runs") {
      if (!level.settings.exempt) counts.waited.true.observe(0);
      this.#begin();
      return "runs";
    }
    counts.refuse(entering);
    counts.waited.false.observe(0);
    return "refused";
  }

  override admit(): void {
    if (this.#entering) return;
    this.#noteWait("true");
    this.#begin();
    this.#waiter?.admitted();
  }

  stopWaiting(): void {
    if (!this.flow.level.queueSet.cancel(this)) return;
    this.counts.refuse("time-out");
    this.#noteWait("false");
  }

  leave(): void {
    if (!this.#runs) return;
    this.#runs = false;
    const { control, request, flow, counts } = this;
    const nowMs = flow.level.queueSet.finish(this);
    control.kindOf(request.info).executing.add(-1, nowMs);
    counts.executed[
      request.info.verb === "watch" ? "watch" : "regular"
    ].observe((nowMs - this.startedMs) / 1000);
  }

  over(): void {
    this.#forgetWatch?.();
    this.#forgetWatch = undefined;
  }

  whenRefused(answer: () => void): void {
    this.control.gate.refuse(answer);
  }

  /** How long to wait with the next attempt. */
  refuse(): number {
    const { retryAfter } = this.flow.level;
    retryAfter.refused(this.control.nowMs);
    return retryAfter.seconds;
  }

  #begin(): void {
    const { control, request } = this;
    this.#runs = true;
    control.kindOf(request.info).executing.add(1, this.startedMs);
    if (request.info.verb === "watch")
      this.#forgetWatch = control.watches.add(request.info, request.query);
  }

  #noteWait(execute: "true" | "false"): void {
    const { control, request, arrivedMs } = this;
    const nowMs = control.nowMs;
    control.kindOf(request.info).waiting.add(-1, nowMs);
    this.counts.waited[execute].observe((nowMs - arrivedMs) / 1000);
  }
}
