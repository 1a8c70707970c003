// Priority and fairness (KEP-1040): FlowSchemas and PriorityLevelConfigurations in effect. A request is classified by the
// first schema that matches it; its level has a part of the server's seats, lends and borrows every ten seconds, and
// queues what finds no seat by flow, so that no tenant of a level waits for another's flood.
//
// The objects are read from the state, as they are: after a change the next request is classified by the new ones. Where
// the two mandatory schemas and levels are missing, they are in effect all the same. A schema whose level is missing, and
// a level that contradicts itself, are not used.
// Invariants: `classify` always finds a flow; flows that were handed out go on in their level until they are over.
import { systemClock, type Clock, type Timer } from "../../api/clock.ts";
import type { UserInfo } from "../../api/contracts.ts";
import facts from "../../api/facts/flowcontrol-bootstrap.json";
import type { Family } from "../../api/metrics/family.ts";
import type {
  FlowSchema,
  PriorityLevelConfiguration,
} from "../../api/types/flowcontrol-v1.ts";
import type { ClusterState } from "../resources/state.ts";
import type { RequestInfo } from "../request/request-info.ts";
import { typed } from "../resources/typed.ts";
import { divideSeats } from "./borrowing.ts";
import {
  FlowClaim,
  type ClaimedRequest,
  type Flow,
  type FlowHost,
} from "./flow-claim.ts";
import { FlowCounts, flowFamilies, KindGauges } from "./flow-metrics.ts";
import { FlowClassifier } from "./flow-classifier.ts";
import { inMatchingOrder } from "./flow-rules.ts";
import { handOf } from "./hands.ts";
import { LoopGate } from "./loop-gate.ts";
import { PriorityLevel, settingsOf } from "./priority-level.ts";
import { WatchCounts } from "./watch-counts.ts";
import { estimateWork, oneSeat, type WorkEstimate } from "./work-estimate.ts";

const flowGroup = "flowcontrol.apiserver.k8s.io";
/** Pairs of schema and level that are counted; further ones share one. */
const maxCounted = 1000;
const borrowingPeriodMs = 10_000;
const longestWaitMs = 60_000;
const reading = new Set(["get", "list", "watch"]);

interface FlowControlOptions {
  readonly state: ClusterState;
  /** Seats of all levels together. */
  readonly seats: number;
  /** Stored objects of a resource; undefined: it is not stored here. */
  readonly objects: (info: RequestInfo) => number | undefined;
  /** Pieces of long work that wait for the event loop; default: none. */
  readonly backlog?: () => number;
  /** How long a request may take that sets no time; it waits a quarter of that. */
  readonly requestTimeoutMs: number;
  readonly clock?: Clock;
}

const suggested = typed<{
  priorityLevels: readonly PriorityLevelConfiguration[];
  flowSchemas: readonly FlowSchema[];
}>(facts);
const mandatory = {
  levels: suggested.priorityLevels.filter(isMandatory),
  schemas: suggested.flowSchemas.filter(isMandatory),
};

function isMandatory({ metadata: { name } }: Named): boolean {
  return name === "exempt" || name === "catch-all";
}

interface Named {
  readonly metadata: { readonly name?: string };
}

export class FlowControl implements FlowHost {
  readonly #clock: Clock;
  readonly #levels = new Map<string, PriorityLevel>();
  #classifier!: FlowClassifier;
  #stale = true;
  /** Flows of an earlier one may go to queues that are no more. */
  generation = 0;
  #nominalSum = 0;
  #fairFraction = 0;
  readonly #counts = new Map<
    string,
    { level: string; schema: string; counts: FlowCounts }
  >();
  readonly #kinds: { readOnly: KindGauges; mutating: KindGauges };
  readonly watches = new WatchCounts();
  readonly gate: LoopGate;
  readonly #stops: (() => void)[] = [];
  #borrowing: Timer | undefined;

  constructor(private readonly options: FlowControlOptions) {
    this.#clock = options.clock ?? systemClock;
    this.gate = new LoopGate({ backlog: options.backlog ?? (() => 0) });
    const { nowMs } = this;
    this.#kinds = {
      readOnly: new KindGauges(nowMs),
      mutating: new KindGauges(nowMs),
    };
  }

  /** The state has been loaded. */
  start(): void {
    for (const resource of ["flowschemas", "prioritylevelconfigurations"])
      this.#stops.push(
        this.options.state.onChange(flowGroup, resource, () => this.#changed()),
      );
    this.#changed();
    const borrow = (): void => {
      this.#divide();
      this.#borrowing = this.#clock.after(borrowingPeriodMs, borrow);
    };
    this.#borrowing = this.#clock.after(borrowingPeriodMs, borrow);
  }

  stop(): void {
    this.#borrowing?.cancel();
    for (const stop of this.#stops.splice(0)) stop();
  }

  get nowMs(): number {
    return this.#clock.monotonic();
  }

  /** @param limitMs how long the request may take; 0: nothing is said */
  claim(request: ClaimedRequest, limitMs: number): FlowClaim {
    const { requestTimeoutMs } = this.options;
    const maxWaitMs = Math.min(
      (limitMs || requestTimeoutMs) / 4,
      longestWaitMs,
    );
    return new FlowClaim(request, this, maxWaitMs);
  }

  classify(user: UserInfo, info: RequestInfo): Flow {
    if (this.#stale) this.#digest();
    return this.#classifier.classify(user, info);
  }

  estimate(
    { level, counts }: Flow,
    { info, query }: ClaimedRequest,
  ): WorkEstimate {
    // Most requests, without what the others need.
    if (info.verb === "get") return oneSeat;
    return estimateWork(info, query, {
      objects: this.options.objects,
      watches: this.watches,
      levelSeats: level.seatsOfOne,
      sawWatches: (count) => counts.watches.observe(count),
    });
  }

  kindOf({ resourceRequest, verb }: RequestInfo): KindGauges {
    return !resourceRequest || reading.has(verb)
      ? this.#kinds.readOnly
      : this.#kinds.mutating;
  }

  get inFlight(): { readOnly: number; mutating: number } {
    const { readOnly, mutating } = this.#kinds;
    return {
      readOnly: readOnly.executing.value,
      mutating: mutating.executing.value,
    };
  }

  get inQueue(): { readOnly: number; mutating: number } {
    const { readOnly, mutating } = this.#kinds;
    return {
      readOnly: readOnly.waiting.value,
      mutating: mutating.waiting.value,
    };
  }

  /** By name, those that are going among them. */
  get levels(): readonly PriorityLevel[] {
    if (this.#stale) this.#digest();
    return [...this.#levels.values()].sort((a, b) =>
      a.name < b.name ? -1 : 1,
    );
  }

  /** Is the level there, and not about to go? */
  hasLevel(name: string): boolean {
    if (this.#stale) this.#digest();
    const level = this.#levels.get(name);
    return level !== undefined && !level.quiescing && level.stored;
  }

  families(): Family[] {
    return flowFamilies({
      nowMs: this.nowMs,
      fairFraction: this.#fairFraction,
      levels: this.levels.map(({ figures }) => figures),
      flows: this.#counts.values(),
      kinds: this.#kinds,
    });
  }

  #changed(): void {
    this.#stale = true;
    this.generation++;
  }

  /** The stored objects, and what is mandatory beside them. */
  #inEffect<T extends Named>(resource: string, always: readonly T[]): T[] {
    const stored = typed<T[]>(this.options.state.list(flowGroup, resource));
    const names = new Set(stored.map(({ metadata }) => metadata.name));
    return [
      ...stored,
      ...always.filter(({ metadata }) => !names.has(metadata.name)),
    ];
  }

  #digest(): void {
    this.#stale = false;
    const { options } = this;
    const wanted = new Set<string>();
    for (const configuration of this.#inEffect(
      "prioritylevelconfigurations",
      mandatory.levels,
    )) {
      const settings = settingsOf(configuration);
      if (!settings) continue;
      const name = configuration.metadata.name!;
      wanted.add(name);
      let level = this.#levels.get(name);
      if (!level) {
        level = new PriorityLevel(name, this.#clock, this.gate, (one) =>
          this.#idle(one),
        );
        this.#levels.set(name, level);
      }
      level.adopt(configuration, settings);
    }
    this.#classifier = new FlowClassifier(
      inMatchingOrder(
        this.#inEffect("flowschemas", mandatory.schemas).filter(({ spec }) =>
          wanted.has(spec.priorityLevelConfiguration.name),
        ),
      ),
      (schema, user, info) => this.#distinguisherOf(schema, user, info),
      (schema, distinguisher) => this.#flowOf(schema, distinguisher),
    );
    for (const [name, level] of this.#levels) {
      if (wanted.has(name)) continue;
      if (level.queueSet.isIdle) this.#levels.delete(name);
      else level.quiescing = true;
    }
    let shares = 0;
    for (const level of this.#levels.values()) shares += level.shares;
    this.#nominalSum = 0;
    let places = 0;
    for (const level of this.#levels.values()) {
      level.setShare(options.seats, shares);
      this.#nominalSum += level.nominal;
      places += level.settings.queues * level.settings.queueLength;
    }
    const { nowMs } = this;
    for (const { waiting, executing } of Object.values(this.#kinds)) {
      waiting.setDenominator(Math.max(1, places), nowMs);
      executing.setDenominator(Math.max(1, this.#nominalSum), nowMs);
    }
    this.#divide();
  }

  /** Ends a period of borrowing. */
  #divide(): void {
    const levels = [...this.#levels.values()];
    const { nowMs } = this;
    for (const { demand } of levels) demand.endPeriod(nowMs);
    const { limits, targets, fairFraction } = divideSeats(
      this.#nominalSum,
      levels.map(({ levelDemand }) => levelDemand),
    );
    this.#fairFraction = fairFraction;
    for (const [at, level] of levels.entries())
      level.setCurrent(limits[at]!, targets[at]!, this.options.seats);
  }

  #idle({ quiescing }: PriorityLevel): void {
    if (quiescing) this.#changed();
  }

  #distinguisherOf(
    { spec }: FlowSchema,
    user: UserInfo,
    info: RequestInfo,
  ): string {
    const method = spec.distinguisherMethod?.type;
    if (!method) return "";
    const level = this.#levels.get(spec.priorityLevelConfiguration.name)!;
    if (level.settings.queues <= 1) return "";
    return method === "ByUser" ? user.name : info.namespace;
  }

  #flowOf({ metadata, spec }: FlowSchema, distinguisher: string): Flow {
    const level = this.#levels.get(spec.priorityLevelConfiguration.name)!;
    const { queues, handSize } = level.settings;
    const name = metadata.name!;
    return {
      schema: name,
      level,
      distinguisher,
      hand: queues === 0 ? [] : handOf(name, distinguisher, queues, handSize),
      schemaUid: metadata.uid ?? "",
      counts: this.#countsOf(level.name, name),
    };
  }

  #countsOf(level: string, schema: string): FlowCounts {
    const full = this.#counts.size >= maxCounted;
    const key = `${level}/${schema}`;
    const known = this.#counts.get(key);
    if (known) return known.counts;
    if (full) return this.#countsOfOthers;
    const counts = new FlowCounts();
    this.#counts.set(key, { level, schema, counts });
    return counts;
  }

  readonly #countsOfOthers = new FlowCounts();
}
