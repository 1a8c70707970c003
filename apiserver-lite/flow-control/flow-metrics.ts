// What priority and fairness counts, under the reference's names: by flow schema and level (FlowCounts), by level
// (LevelGauges) and of all reading and writing requests. Counts are plain numbers; each scrape makes the families.
import { Family, type Labels } from "../../api/metrics/family.ts";
import { Histogram } from "../../api/metrics/histogram.ts";
import { TimingHistogram } from "./timing-histogram.ts";

const waitBounds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const lengthBounds = [0, 10, 25, 50, 100, 250, 500, 1000];
const seatBounds = [1, 2, 4, 10];
const watchBounds = [0, 1, 10, 100, 1000, 10_000];
const requestRatioBounds = [
  0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1,
];
const seatRatioBounds = [
  0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1,
];
const demandBounds = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6];
const kindBounds = [
  0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1,
];

export type Refusal = "concurrency-limit" | "queue-full" | "time-out";

/** Of one flow schema and the level its requests went to. */
export class FlowCounts {
  dispatched = 0;
  readonly refused = new Map<Refusal, number>();
  waitingRequests = 0;
  waitingSeats = 0;
  executingRequests = 0;
  executingSeats = 0;
  /** How often the next request had to wait until seats are free. */
  noAccommodation = 0;
  readonly seats = new Histogram(seatBounds);
  readonly watches = new Histogram(watchBounds);
  readonly queueLength = new Histogram(lengthBounds);
  /** Seconds; of requests that were executed or not. */
  readonly waited = {
    true: new Histogram(waitBounds),
    false: new Histogram(waitBounds),
  };
  /** Seconds. */
  readonly executed = {
    regular: new Histogram(waitBounds),
    watch: new Histogram(waitBounds),
  };

  refuse(reason: Refusal): void {
    this.refused.set(reason, (this.refused.get(reason) ?? 0) + 1);
  }
}

/** Of one level, over time. */
export class LevelGauges {
  readonly waiting: TimingHistogram;
  readonly executing: TimingHistogram;
  readonly seats: TimingHistogram;
  readonly demand: TimingHistogram;
  /** Of the last dispatch, in seat-seconds; undefined: there was none through a queue. */
  dispatch:
    | {
        readonly r: number;
        readonly s: number;
        readonly bounds: readonly [number, number];
        readonly discounted: readonly [number, number];
      }
    | undefined;

  constructor(nowMs: number) {
    this.waiting = new TimingHistogram(requestRatioBounds, nowMs);
    this.executing = new TimingHistogram(requestRatioBounds, nowMs);
    this.seats = new TimingHistogram(seatRatioBounds, nowMs);
    this.demand = new TimingHistogram(demandBounds, nowMs);
  }
}

/** Requests that read or write, waiting and executing. */
export class KindGauges {
  readonly waiting: TimingHistogram;
  readonly executing: TimingHistogram;

  constructor(nowMs: number) {
    this.waiting = new TimingHistogram(kindBounds, nowMs);
    this.executing = new TimingHistogram(kindBounds, nowMs);
  }
}

/** What a scrape shows of a level. */
export interface LevelFigures {
  readonly name: string;
  readonly gauges: LevelGauges;
  /** Seat-seconds. */
  readonly currentR: number;
  readonly nominal: number;
  readonly least: number;
  readonly most: number;
  readonly current: number;
  readonly target: number;
  readonly demand: {
    readonly average: number;
    readonly deviation: number;
    readonly highWatermark: number;
    readonly smoothed: number;
  };
}

interface FlowFigures {
  readonly nowMs: number;
  readonly fairFraction: number;
  readonly levels: readonly LevelFigures[];
  readonly flows: Iterable<{
    readonly level: string;
    readonly schema: string;
    readonly counts: FlowCounts;
  }>;
  readonly kinds: {
    readonly readOnly: KindGauges;
    readonly mutating: KindGauges;
  };
}

const prefix = "apiserver_flowcontrol_";

export function flowFamilies(figures: FlowFigures): Family[] {
  return [
    ...familiesOfFlows(figures),
    ...familiesOfLevels(figures),
    ...familiesOverTime(figures),
    new Family(
      `${prefix}seat_fair_frac`,
      "gauge",
      "Seats given to a level for each seat of its demand.",
    ).add({}, figures.fairFraction),
  ];
}

/** By flow schema and level. */
function familiesOfFlows({ flows }: FlowFigures): Family[] {
  const made: Family[] = [];
  const family = (
    name: string,
    type: "counter" | "gauge" | "histogram",
    help: string,
  ): Family => {
    const one = new Family(prefix + name, type, help);
    made.push(one);
    return one;
  };
  const dispatched = family(
    "dispatched_requests_total",
    "counter",
    "Requests that were executed.",
  );
  const refused = family(
    "rejected_requests_total",
    "counter",
    "Requests that were refused, by reason.",
  );
  const waitingRequests = family(
    "current_inqueue_requests",
    "gauge",
    "Requests waiting in queues.",
  );
  const waitingSeats = family(
    "current_inqueue_seats",
    "gauge",
    "Seats that requests in queues wait for.",
  );
  const executingRequests = family(
    "current_executing_requests",
    "gauge",
    "Requests being executed; watches until their initial events are sent.",
  );
  const executingSeats = family(
    "current_executing_seats",
    "gauge",
    "Seats taken by requests being executed.",
  );
  const inUse = family(
    "request_concurrency_in_use",
    "gauge",
    "Seats taken by requests being executed.",
  );
  const noAccommodation = family(
    "request_dispatch_no_accommodation_total",
    "counter",
    "Times the next request had to wait until enough seats are free.",
  );
  const seats = family(
    "work_estimated_seats",
    "histogram",
    "Seats that requests were estimated to take.",
  );
  const watches = family(
    "watch_count_samples",
    "histogram",
    "Watchers of what writing requests change.",
  );
  const length = family(
    "request_queue_length_after_enqueue",
    "histogram",
    "Length of the queue each request found, itself counted.",
  );
  const waited = family(
    "request_wait_duration_seconds",
    "histogram",
    "How long requests waited in their queue.",
  );
  const executed = family(
    "request_execution_seconds",
    "histogram",
    "How long requests were executed; watches until their initial events are sent.",
  );
  for (const { level, schema, counts } of flows) {
    const labels: Labels = { priority_level: level, flow_schema: schema };
    if (counts.dispatched > 0) dispatched.add(labels, counts.dispatched);
    for (const [reason, count] of counts.refused)
      refused.add({ ...labels, reason }, count);
    waitingRequests.add(labels, counts.waitingRequests);
    waitingSeats.add(labels, counts.waitingSeats);
    executingRequests.add(labels, counts.executingRequests);
    executingSeats.add(labels, counts.executingSeats);
    inUse.add(labels, counts.executingSeats);
    if (counts.noAccommodation > 0)
      noAccommodation.add(labels, counts.noAccommodation);
    const histogram = (to: Family, own: Labels, one: Histogram): void => {
      if (one.count > 0) to.addHistogram({ ...labels, ...own }, one);
    };
    histogram(seats, {}, counts.seats);
    histogram(watches, {}, counts.watches);
    histogram(length, {}, counts.queueLength);
    for (const execute of ["true", "false"] as const)
      histogram(waited, { execute }, counts.waited[execute]);
    for (const type of ["regular", "watch"] as const)
      histogram(executed, { type }, counts.executed[type]);
  }
  return made;
}

/** One sample a level. */
const levelGauges: readonly (readonly [
  name: string,
  help: string,
  value: (level: LevelFigures) => number | undefined,
])[] = [
  [
    "nominal_limit_seats",
    "Seats of a level by its shares.",
    (level) => level.nominal,
  ],
  [
    "request_concurrency_limit",
    "Seats of a level by its shares.",
    (level) => level.nominal,
  ],
  ["lower_limit_seats", "Seats a level does not lend.", (level) => level.least],
  [
    "upper_limit_seats",
    "Seats of a level with all it may borrow.",
    (level) => level.most,
  ],
  ["current_limit_seats", "Seats a level has now.", (level) => level.current],
  [
    "target_seats",
    "Seats a level should have by its demand.",
    (level) => level.target,
  ],
  [
    "demand_seats_average",
    "Average demand of the last period.",
    (level) => level.demand.average,
  ],
  [
    "demand_seats_stdev",
    "Standard deviation of the last period's demand.",
    (level) => level.demand.deviation,
  ],
  [
    "demand_seats_high_watermark",
    "Highest demand of the last period.",
    (level) => level.demand.highWatermark,
  ],
  [
    "demand_seats_smoothed",
    "Smoothed demand.",
    (level) => level.demand.smoothed,
  ],
  [
    "current_r",
    "Virtual time of a level, in seat-seconds for each queue.",
    (level) => level.currentR,
  ],
  [
    "dispatch_r",
    "Virtual time of the last dispatch.",
    ({ gauges }) => gauges.dispatch?.r,
  ],
  [
    "latest_s",
    "Virtual start of the request dispatched last.",
    ({ gauges }) => gauges.dispatch?.s,
  ],
];

function familiesOfLevels({ levels }: FlowFigures): Family[] {
  const gauges = levelGauges.map(([name, help, value]) => {
    const family = new Family(prefix + name, "gauge", help);
    for (const level of levels)
      family.add({ priority_level: level.name }, value(level));
    return family;
  });
  const starts = new Family(
    `${prefix}next_s_bounds`,
    "gauge",
    "Lowest and highest virtual start of the oldest request in a queue.",
  );
  const discounted = new Family(
    `${prefix}next_discounted_s_bounds`,
    "gauge",
    "The same, less the work in progress.",
  );
  for (const {
    name,
    gauges: { dispatch },
  } of levels) {
    if (!dispatch) continue;
    for (const [at, bound] of ["min", "max"].entries()) {
      starts.add({ priority_level: name, bound }, dispatch.bounds[at]);
      discounted.add({ priority_level: name, bound }, dispatch.discounted[at]);
    }
  }
  return [...gauges, starts, discounted];
}

/** Histograms weighted by time. */
function familiesOverTime({ nowMs, levels, kinds }: FlowFigures): Family[] {
  const requests = new Family(
    `${prefix}priority_level_request_utilization`,
    "histogram",
    "Requests waiting and executing, as a part of the limit, over time in nanoseconds.",
  );
  const seats = new Family(
    `${prefix}priority_level_seat_utilization`,
    "histogram",
    "Seats taken, as a part of the limit, over time in nanoseconds.",
  );
  const demand = new Family(
    `${prefix}demand_seats`,
    "histogram",
    "Seats a level could use, as a part of its limit, over time in nanoseconds.",
  );
  const byKind = new Family(
    `${prefix}read_vs_write_current_requests`,
    "histogram",
    "Reading and writing requests, as a part of the limit, over time in nanoseconds.",
  );
  for (const { name, gauges } of levels) {
    const priority_level = name;
    for (const phase of ["waiting", "executing"] as const)
      requests.addHistogram(
        { priority_level, phase },
        gauges[phase].read(nowMs),
      );
    seats.addHistogram(
      { priority_level, phase: "executing" },
      gauges.seats.read(nowMs),
    );
    demand.addHistogram({ priority_level }, gauges.demand.read(nowMs));
  }
  for (const request_kind of ["mutating", "readOnly"] as const)
    for (const phase of ["waiting", "executing"] as const)
      byKind.addHistogram(
        { request_kind, phase },
        kinds[request_kind][phase].read(nowMs),
      );
  return [requests, seats, demand, byKind];
}
