// Thresholds of the configuration, and what they say over time.
import { PressureState } from "../../../eviction/pressure-state.ts";
import type { SignalName, Signals } from "../../../eviction/signals.ts";
import {
  parseThresholds,
  thresholdsMet,
  type ThresholdSettings,
} from "../../../eviction/thresholds.ts";

const settings = (given: Partial<ThresholdSettings>): ThresholdSettings => ({
  hard: {},
  soft: {},
  softGracePeriod: {},
  minimumReclaim: {},
  enforcePods: false,
  ...given,
});

const signals = (
  available: Partial<Record<SignalName, number>>,
  capacity = 1000,
): Signals =>
  new Map(
    Object.entries(available).map(([name, amount]) => [
      name as SignalName,
      { available: amount, capacity },
    ]),
  );

test("thresholds are amounts or shares of the capacity", () => {
  const thresholds = parseThresholds(
    settings({
      hard: {
        "memory.available": "100",
        "nodefs.available": "10%",
        "pid.available": "0%",
      },
    }),
  );
  const met = (found: Signals): string[] =>
    thresholdsMet(thresholds, found, false).map(({ signal }) => signal);
  expect(met(signals({ "memory.available": 99 }))).toEqual([
    "memory.available",
  ]);
  expect(met(signals({ "memory.available": 100 }))).toEqual([]);
  expect(met(signals({ "nodefs.available": 99 }))).toEqual([
    "nodefs.available",
  ]);
  // A signal that could not be read, and a threshold of 0 %, say nothing.
  expect(met(signals({ "pid.available": 0 }))).toEqual([]);
});

test.each<[string, Partial<ThresholdSettings>, string]>([
  [
    "an unknown signal",
    { hard: { "disk.available": "1" } },
    "unsupported eviction signal disk.available",
  ],
  [
    "a soft threshold without a grace period",
    { soft: { "memory.available": "1Gi" } },
    "grace period must be specified for the soft eviction threshold memory.available",
  ],
  [
    "an amount of nothing",
    { hard: { "memory.available": "0" } },
    "eviction threshold memory.available must be positive: 0",
  ],
  [
    "a share above the whole",
    { hard: { "memory.available": "101%" } },
    "eviction percentage threshold memory.available must be <= 100%: 101%",
  ],
  [
    "a share below nothing",
    { hard: { "memory.available": "-1%" } },
    "eviction percentage threshold memory.available must be >= 0%: -1%",
  ],
  [
    "a negative reclaim",
    { minimumReclaim: { "memory.available": "-1" } },
    "negative eviction minimum reclaim specified for memory.available",
  ],
  [
    "a grace period that is none",
    { softGracePeriod: { "memory.available": "soon" } },
    "soon",
  ],
  [
    "a negative grace period",
    { softGracePeriod: { "memory.available": "-1s" } },
    "invalid eviction grace period specified: -1s, must be a positive value",
  ],
  [
    "a share of nothing to give back",
    { minimumReclaim: { "memory.available": "0%" } },
    "eviction percentage minimum reclaim memory.available must be positive: 0%",
  ],
  ...["%", "0x10%", " 5%", "NaN%"].map(
    (share): [string, Partial<ThresholdSettings>, string] => [
      `a share of "${share}"`,
      { hard: { "memory.available": share } },
      `invalid percentage value ${share} of memory.available`,
    ],
  ),
])("%s is refused", (_what, given, problem) => {
  expect(() => parseThresholds(settings(given))).toThrow(problem);
});

test("with pods held to their share, the hard memory threshold is one of their cgroup too", () => {
  const thresholds = parseThresholds(
    settings({ hard: { "memory.available": "100" }, enforcePods: true }),
  );
  expect(thresholds.map(({ signal }) => signal)).toEqual([
    "memory.available",
    "allocatableMemory.available",
  ]);
});

test("a soft threshold without a grace is a hard one of the pods' cgroup, too", () => {
  const thresholds = parseThresholds(
    settings({
      hard: { "memory.available": "100" },
      soft: { "memory.available": "200" },
      softGracePeriod: { "memory.available": "0s" },
      enforcePods: true,
    }),
  );
  expect(
    thresholds.map(({ signal, amount }) => [signal, amount.value]),
  ).toEqual([
    ["memory.available", 100],
    ["memory.available", 200],
    ["allocatableMemory.available", 100],
    ["allocatableMemory.available", 200],
  ]);
});

test("thresholds of the containers' file system are left to those it follows", () => {
  expect(
    parseThresholds(settings({ hard: { "containerfs.available": "5%" } })),
  ).toEqual([]);
});

test("more than the whole may have to be given back", () => {
  const [threshold] = parseThresholds(
    settings({
      hard: { "memory.available": "10%%" },
      minimumReclaim: { "memory.available": "150%" },
    }),
  );
  expect(threshold!.minimumReclaim).toEqual({ kind: "share", value: 1.5 });
  expect(
    thresholdsMet([threshold!], signals({ "memory.available": 1000 }), true),
  ).toEqual([threshold]);
});

test("pressure comes at once and goes after the transition period", () => {
  const state = new PressureState(
    parseThresholds(settings({ hard: { "memory.available": "10" } })),
    60_000,
  );
  const memory = (available: number, atMs: number): boolean =>
    state.observe(signals({ "memory.available": available }), atMs).pressure
      .memory;
  expect(memory(50, 0)).toBe(false);
  expect(memory(5, 1000)).toBe(true);
  expect(memory(50, 60_999)).toBe(true);
  expect(memory(50, 61_000)).toBe(false);
});

test("a soft threshold is a condition at once and due after its grace, without a break", () => {
  const state = new PressureState(
    parseThresholds(
      settings({
        soft: { "memory.available": "100" },
        softGracePeriod: { "memory.available": "30s" },
      }),
    ),
    0,
  );
  const look = (available: number, atMs: number): [boolean, number] => {
    const { pressure, due } = state.observe(
      signals({ "memory.available": available }),
      atMs,
    );
    return [pressure.memory, due.length];
  };
  expect(look(50, 0)).toEqual([true, 0]);
  expect(look(50, 29_999)).toEqual([true, 0]);
  expect(look(500, 30_000)).toEqual([false, 0]);
  // The grace begins again.
  expect(look(50, 40_000)).toEqual([true, 0]);
  expect(look(50, 70_000)).toEqual([true, 1]);
});

test("what was due stays so until the minimum is given back", () => {
  const state = new PressureState(
    parseThresholds(
      settings({
        hard: { "nodefs.available": "100" },
        minimumReclaim: { "nodefs.available": "5%" },
      }),
    ),
    0,
  );
  const due = (available: number): number =>
    state.observe(signals({ "nodefs.available": available }), 0).due.length;
  expect(due(149)).toBe(0);
  expect(due(99)).toBe(1);
  expect(due(149)).toBe(1);
  expect(due(150)).toBe(0);
  expect(due(149)).toBe(0);
});

test("memory is due before disks, and they before processes", () => {
  const state = new PressureState(
    parseThresholds(
      settings({
        hard: {
          "pid.available": "10",
          "imagefs.available": "10",
          "nodefs.inodesFree": "10",
          "memory.available": "10",
        },
      }),
    ),
    0,
  );
  const found = state.observe(
    signals({
      "pid.available": 1,
      "imagefs.available": 1,
      "nodefs.inodesFree": 1,
      "memory.available": 1,
    }),
    0,
  );
  expect(found.due.map(({ signal }) => signal)).toEqual([
    "memory.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "pid.available",
  ]);
  expect(found.pressure).toEqual({ memory: true, disk: true, pid: true });
});
