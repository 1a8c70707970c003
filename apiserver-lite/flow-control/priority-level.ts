// One priority level in effect: its configuration, its queues, its share of the server's seats, and what it lends and
// borrows. Levels whose configuration was deleted go on until their requests are over.
import type { Clock } from "../../api/clock.ts";
import type { PriorityLevelConfiguration } from "../../api/types/flowcontrol-v1.ts";
import type { LevelDemand } from "./borrowing.ts";
import { SeatDemand } from "./demand.ts";
import type { LoopGate } from "./loop-gate.ts";
import { LevelGauges, type LevelFigures } from "./flow-metrics.ts";
import { QueueSet, type QueueSettings } from "./queue-set.ts";
import { RetryAfter } from "./retry-after.ts";

/** Of the nominal limit: what one request may be estimated to take. */
const seatsOfOneRequest = 0.15;
const exemptLevel = "exempt";

/** Undefined: the configuration contradicts itself, and is not used. */
export function settingsOf({
  metadata,
  spec,
}: PriorityLevelConfiguration):
  (QueueSettings & { handSize: number }) | undefined {
  const { type, limited, exempt } = spec;
  const isExempt = type === "Exempt";
  if (isExempt !== (exempt !== undefined)) return undefined;
  if ((type === "Limited") !== (limited !== undefined)) return undefined;
  if (isExempt !== (metadata.name === exemptLevel)) return undefined;
  const none = { queues: 0, queueLength: 0, handSize: 0, exempt: isExempt };
  if (!limited) return isExempt ? none : undefined;
  const { limitResponse } = limited;
  const queuing = limitResponse?.queuing;
  if ((limitResponse?.type === "Queue") !== (queuing !== undefined))
    return undefined;
  if (!queuing) return none;
  const { queues = 64, handSize = 8, queueLengthLimit = 50 } = queuing;
  return { queues, handSize, queueLength: queueLengthLimit, exempt: false };
}

export class PriorityLevel {
  readonly gauges: LevelGauges;
  readonly demand: SeatDemand;
  readonly queueSet: QueueSet;
  readonly retryAfter = new RetryAfter();
  /** Its configuration is gone. */
  quiescing = false;
  #configuration!: PriorityLevelConfiguration;
  #settings!: QueueSettings & { handSize: number };
  nominal = 0;
  least = 0;
  most = 0;
  current = 0;
  target = 0;

  constructor(
    readonly name: string,
    clock: Clock,
    gate: LoopGate,
    idle: (level: PriorityLevel) => void,
  ) {
    const nowMs = clock.monotonic();
    this.gauges = new LevelGauges(nowMs);
    this.demand = new SeatDemand(nowMs);
    this.queueSet = new QueueSet({
      clock,
      gate,
      gauges: this.gauges,
      demand: this.demand,
      idle: () => idle(this),
    });
  }

  adopt(
    configuration: PriorityLevelConfiguration,
    settings: QueueSettings & { handSize: number },
  ): void {
    this.#configuration = configuration;
    this.#settings = settings;
    this.quiescing = false;
  }

  /** False: a mandatory level that is in effect though its object is missing. */
  get stored(): boolean {
    return this.uid !== "";
  }

  get uid(): string {
    return this.#configuration.metadata.uid ?? "";
  }

  get settings(): QueueSettings & { handSize: number } {
    return this.#settings;
  }

  get shares(): number {
    const { limited, exempt } = this.#configuration.spec;
    return limited
      ? (limited.nominalConcurrencyShares ?? 30)
      : (exempt?.nominalConcurrencyShares ?? 0);
  }

  /** What one request may be estimated to take; 0: nothing is said. */
  get seatsOfOne(): number {
    const { queues, handSize } = this.#settings;
    if (queues === 0) return 0;
    return Math.max(
      1,
      Math.min(
        Math.ceil(this.nominal * seatsOfOneRequest),
        Math.floor(this.nominal / handSize),
      ),
    );
  }

  /** Its part of the server's seats, and the bounds of lending and borrowing. */
  setShare(serverSeats: number, sharesOfAll: number): void {
    const { limited, exempt } = this.#configuration.spec;
    const part = (percent: number): number =>
      Math.round((this.nominal * percent) / 100);
    this.nominal =
      sharesOfAll === 0
        ? 0
        : Math.ceil((serverSeats * this.shares) / sharesOfAll);
    this.least = this.nominal - part((limited ?? exempt)?.lendablePercent ?? 0);
    const borrowable = limited?.borrowingLimitPercent;
    this.most =
      this.nominal +
      (borrowable === undefined ? serverSeats : part(borrowable));
  }

  get levelDemand(): LevelDemand {
    const { nominal, least, most, demand } = this;
    const { highWatermark, smoothed } = demand;
    const { exempt } = this.#settings;
    return { exempt, nominal, least, most, highWatermark, smoothed };
  }

  /** @param serverSeats of the whole server */
  setCurrent(seats: number, target: number, serverSeats: number): void {
    this.current = seats;
    this.target = target;
    const denominator =
      seats > 0 ? seats : Math.max(1, Math.round(serverSeats / 10));
    this.queueSet.configure(this.#settings, seats, denominator);
  }

  get figures(): LevelFigures {
    const { name, gauges, nominal, least, most, current, target, demand } =
      this;
    const { currentR } = this.queueSet;
    return {
      name,
      gauges,
      currentR,
      nominal,
      least,
      most,
      current,
      target,
      demand,
    };
  }
}
