// The eviction thresholds of the configuration: hard ones, soft ones with a grace period, and how much more than the
// threshold an eviction has to give back. Texts of problems are the reference's. Pure.
import { parseDurationMs } from "../api/duration.ts";
import {
  canonicalQuantity,
  parseQuantity,
  quantityValue,
} from "../api/quantity.ts";
import { trimEnd } from "../api/patterns/trim.ts";
import { isSignalName, type SignalName, type Signals } from "./signals.ts";

/** Bytes or a count, as it was given too, or a share (0 to 1) of the capacity. */
type Amount =
  | { readonly kind: "absolute"; readonly value: number; readonly text: string }
  | { readonly kind: "share"; readonly value: number };

export interface Threshold {
  readonly signal: SignalName;
  readonly amount: Amount;
  /** 0: a hard threshold. */
  readonly graceMs: number;
  /** What has to be available beyond the amount before the threshold counts as resolved. */
  readonly minimumReclaim: Amount | undefined;
}

export interface ThresholdSettings {
  readonly hard: Readonly<Record<string, string>>;
  readonly soft: Readonly<Record<string, string>>;
  readonly softGracePeriod: Readonly<Record<string, string>>;
  readonly minimumReclaim: Readonly<Record<string, string>>;
  /** Pods are held to the allocatable share: the hard memory threshold is also one of their cgroup. */
  readonly enforcePods: boolean;
}

/**
 * Layers on a file system of their own have the thresholds of the node's, as at the reference; elsewhere nothing is read
 * that these would be compared with.
 * @throws Error that names the signal and its value
 */
export function parseThresholds(settings: ThresholdSettings): Threshold[] {
  const graces = gracePeriods(settings.softGracePeriod);
  const reclaims = minimumReclaims(settings.minimumReclaim);
  const thresholds: Threshold[] = [];
  const add = (signal: SignalName, amount: Amount, graceMs: number): void =>
    void thresholds.push({
      signal,
      amount,
      graceMs,
      minimumReclaim: reclaims.get(signal),
    });
  for (const [signal, amount] of statements(settings.hard))
    add(signal, amount, 0);
  for (const [signal, amount] of statements(settings.soft)) {
    const graceMs = graces.get(signal);
    if (graceMs === undefined)
      throw new Error(
        `grace period must be specified for the soft eviction threshold ${signal}`,
      );
    add(signal, amount, graceMs);
  }
  const layers = thresholds.flatMap((each): Threshold[] => {
    const [filesystem, unit] = each.signal.split(".");
    if (filesystem !== "nodefs") return [];
    const signal = `containerfs.${unit}`;
    return isSignalName(signal) ? [{ ...each, signal }] : [];
  });
  const memory = settings.enforcePods
    ? thresholds.filter(
        ({ signal, graceMs }) => signal === "memory.available" && graceMs === 0,
      )
    : [];
  return [
    ...thresholds,
    ...layers,
    ...memory.map((each): Threshold => ({
      ...each,
      signal: "allocatableMemory.available",
    })),
  ];
}

/** A threshold of 0 % or 100 % is none, as at the reference. */
function statements(
  map: Readonly<Record<string, string>>,
): [SignalName, Amount][] {
  return bySignal(map).flatMap(([signal, text]): [SignalName, Amount][] => {
    if (text === "0%" || text === "100%") return [];
    const amount = parseAmount(signal, text);
    const { kind, value } = amount;
    const outside = (bound: string): Error =>
      new Error(
        `eviction percentage threshold ${signal} must be ${bound}: ${text}`,
      );
    if (kind === "share" && value < 0) throw outside(">= 0%");
    if (kind === "share" && value > 1) throw outside("<= 100%");
    if (kind === "absolute" && value <= 0)
      throw new Error(
        `eviction threshold ${signal} must be positive: ${canonicalQuantity(text)}`,
      );
    return [[signal, amount]];
  });
}

/** More than the whole may be asked for: that threshold is never resolved. */
function minimumReclaims(
  map: Readonly<Record<string, string>>,
): Map<SignalName, Amount> {
  return new Map(
    bySignal(map).map(([signal, text]) => {
      const amount = parseAmount(signal, text);
      if (amount.kind === "share" && amount.value <= 0)
        throw new Error(
          `eviction percentage minimum reclaim ${signal} must be positive: ${text}`,
        );
      if (amount.value < 0)
        throw new Error(
          `negative eviction minimum reclaim specified for ${signal}`,
        );
      return [signal, amount];
    }),
  );
}

function gracePeriods(
  map: Readonly<Record<string, string>>,
): Map<SignalName, number> {
  return new Map(
    bySignal(map).map(([signal, text]) => {
      const graceMs = parseDurationMs(text);
      if (graceMs < 0)
        throw new Error(
          `invalid eviction grace period specified: ${text}, must be a positive value`,
        );
      return [signal, graceMs];
    }),
  );
}

/** Thresholds of the layers' file system follow those of the images' or of the node's, as at the reference: given ones are ignored. */
export const followingSignals: readonly string[] = [
  "containerfs.available",
  "containerfs.inodesFree",
];

/** The entries that count, with their signals. */
function bySignal(
  map: Readonly<Record<string, string>>,
): [SignalName, string][] {
  return Object.entries(map).flatMap(([name, text]) => {
    if (followingSignals.includes(name)) return [];
    if (!isSignalName(name))
      throw new Error(`unsupported eviction signal ${name}`);
    return [[name, text]];
  });
}

const decimal = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i;

/** Shares have the precision of the reference, which decides a crossing and is seen in the messages of evictions. */
function parseAmount(signal: SignalName, text: string): Amount {
  if (!text.endsWith("%"))
    return {
      kind: "absolute",
      value: quantityValue(parseQuantity(text)),
      text: canonicalQuantity(text),
    };
  const number = trimEnd(text, "%");
  if (!decimal.test(number))
    throw new Error(`invalid percentage value ${text} of ${signal}`);
  return {
    kind: "share",
    value: Math.fround(Math.fround(Number(number)) / 100),
  };
}

export function amountOf(amount: Amount, capacity: number): number {
  return amount.kind === "share"
    ? Math.trunc(amount.value * capacity)
    : amount.value;
}

/** What a hard threshold keeps back of a capacity; 0 where there is none. */
export function keptBack(
  hard: ThresholdSettings["hard"],
  signal: SignalName,
  capacity: number,
): number {
  const entry = statements(hard).find(([name]) => name === signal);
  return entry ? amountOf(entry[1], capacity) : 0;
}

/** The thresholds below which their signals are; with `resolved` those that have not given back their minimum yet. */
export function thresholdsMet(
  thresholds: readonly Threshold[],
  signals: Signals,
  untilReclaimed: boolean,
): Threshold[] {
  return thresholds.filter(({ signal, amount, minimumReclaim }) => {
    const found = signals.get(signal);
    if (!found) return false;
    const more =
      untilReclaimed && minimumReclaim
        ? amountOf(minimumReclaim, found.capacity)
        : 0;
    return found.available < amountOf(amount, found.capacity) + more;
  });
}
