// The eviction thresholds of the configuration: hard ones, soft ones with a grace period, and how much more than the
// threshold an eviction has to give back. Texts of problems are the reference's. Pure.
import { parseDurationMs } from "../api/duration.ts";
import { parseQuantity, quantityValue } from "../api/quantity.ts";
import { isSignalName, type SignalName, type Signals } from "./signals.ts";

/** Bytes or a count, or a share (0 to 1) of the capacity. */
type Amount =
  | { readonly kind: "absolute"; readonly value: number }
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

/** @throws Error that names the signal and its value */
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
  const memory = thresholds.find(
    ({ signal, graceMs }) => signal === "memory.available" && graceMs === 0,
  );
  if (settings.enforcePods && memory)
    thresholds.push({ ...memory, signal: "allocatableMemory.available" });
  return thresholds;
}

/** A threshold of 0 % or 100 % is none, as at the reference. */
function statements(
  map: Readonly<Record<string, string>>,
): [SignalName, Amount][] {
  return bySignal(map).flatMap(([signal, text]): [SignalName, Amount][] => {
    if (text === "0%" || text === "100%") return [];
    const amount = parseAmount(
      text,
      (problem) =>
        new Error(
          `eviction percentage threshold ${signal} must be ${problem}: ${text}`,
        ),
    );
    if (amount.value <= 0 && amount.kind === "absolute")
      throw new Error(`eviction threshold ${signal} must be positive: ${text}`);
    return [[signal, amount]];
  });
}

function minimumReclaims(
  map: Readonly<Record<string, string>>,
): Map<SignalName, Amount> {
  return new Map(
    bySignal(map).map(([signal, text]) => {
      const amount = parseAmount(
        text,
        () => new Error(`invalid percentage value ${text} of ${signal}`),
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
          `invalid eviction grace period specified: ${signal}, must be a positive value`,
        );
      return [signal, graceMs];
    }),
  );
}

/** Signals of the containers' file system follow those of images or of the node, as at the reference: given ones are ignored. */
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

function parseAmount(
  text: string,
  outside: (problem: string) => Error,
): Amount {
  if (!text.endsWith("%"))
    return { kind: "absolute", value: quantityValue(parseQuantity(text)) };
  const value = Number(text.slice(0, -1)) / 100;
  if (Number.isNaN(value)) throw outside("a number");
  if (value < 0) throw outside(">= 0%");
  if (value > 1) throw outside("<= 100%");
  return { kind: "share", value };
}

export function amountOf(amount: Amount, capacity: number): number {
  return amount.kind === "share" ? amount.value * capacity : amount.value;
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
