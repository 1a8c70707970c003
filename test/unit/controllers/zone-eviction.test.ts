// How fast pods are evicted from nodes that are down, zone by zone.
import type { Node } from "../../../api/types/core-v1.ts";
import {
  evictionRate,
  ZoneEvictions,
} from "../../../controllers/node/zone-eviction.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const rates = {
  nodeEvictionRate: 0.1,
  secondaryNodeEvictionRate: 0.01,
  largeClusterSizeThreshold: 5,
  unhealthyZoneThreshold: 0.55,
};
const zone = (
  name: string,
  down: number,
  up: number,
  labels: Record<string, string> = { "topology.kubernetes.io/zone": name },
): Node[] =>
  Array.from({ length: down + up }, (_, index) => ({
    metadata: { name: `${name}${index}`, labels },
    spec: {},
    status: {
      conditions: [{ type: "Ready", status: index < down ? "False" : "True" }],
    },
  }));
const excluded = {
  "topology.kubernetes.io/zone": "a",
  "node.kubernetes.io/exclude-disruption": "",
};
const older = { "failure-domain.beta.kubernetes.io/zone": "a" };

test.each<[string, Node[], number]>([
  ["one node of many", zone("a", 1, 9), 0.1],
  ["two of three are not a zone's failure", zone("a", 2, 1), 0.1],
  ["most of a large zone", zone("a", 6, 4), 0.01],
  ["most of a small zone", zone("a", 3, 2), 0],
  ["no node is ready anywhere", zone("a", 1, 0), 0],
  [
    "a whole small zone of several",
    [...zone("a", 3, 0), ...zone("b", 0, 1)],
    0.1,
  ],
  [
    "a whole large zone of several",
    [...zone("a", 9, 0), ...zone("b", 0, 1)],
    0.1,
  ],
  ["no zone is ready", [...zone("a", 3, 0), ...zone("b", 1, 0)], 0],
  [
    "nodes that do not count",
    [...zone("a", 1, 1), ...zone("a", 8, 0, excluded)],
    0.1,
  ],
  [
    "the zone's older name",
    [
      ...zone("a", 1, 1, older),
      ...zone("b", 8, 1, { ...older, "topology.kubernetes.io/zone": "b" }),
    ],
    0.01,
  ],
  [
    "another zone's failure does not count",
    [...zone("a", 1, 1), ...zone("b", 9, 1)],
    0.1,
  ],
])("%s", (_, nodes, expected) =>
  expect(evictionRate(nodes[0]!, nodes, rates)).toBe(expected),
);

test("each zone has its own turns", () => {
  const clock = new FakeClock();
  const evictions = new ZoneEvictions(clock, rates);
  const all = [...zone("a", 2, 8), ...zone("b", 1, 9)];
  const take = (name: string): number =>
    evictions.takeOrWaitMs(
      all.find(({ metadata }) => metadata.name === name)!,
      all,
    );
  expect([take("a0"), take("a1"), take("b0")]).toEqual([0, 5000, 0]);
  clock.advance(9_999);
  expect(take("a1")).toBe(1);
  clock.advance(1);
  expect(take("a1")).toBe(0);
});

test("after a stop, and at another rate, nodes have a turn's time to report before the first is evicted", () => {
  const clock = new FakeClock();
  const evictions = new ZoneEvictions(clock, rates);
  const take = (all: readonly Node[]): number =>
    evictions.takeOrWaitMs(all[0]!, all);
  // The network to all of them breaks, and is mended: they answer one after the other.
  expect(take(zone("a", 6, 0))).toBe(5000);
  clock.advance(60_000);
  expect(take(zone("a", 5, 5))).toBe(5000);
  clock.advance(9_999);
  expect(take(zone("a", 2, 8))).toBe(1);
  clock.advance(1);
  expect(take(zone("a", 2, 8))).toBe(0);
  // A turn that was taken stays taken when the rate changes.
  expect(take(zone("a", 6, 4))).toBe(5000);
  clock.advance(90_000);
  expect(take(zone("a", 6, 4))).toBe(5000);
  clock.advance(10_001);
  expect(take(zone("a", 6, 4))).toBe(0);
});

test("no turn of a high rate is missed, though all asked at once", () => {
  const clock = new FakeClock();
  const evictions = new ZoneEvictions(clock, { ...rates, nodeEvictionRate: 5 });
  const all = zone("a", 20, 80);
  const due = new Map(all.slice(0, 20).map((node) => [node, 0]));
  const evicted: number[] = [];
  while (due.size > 0) {
    for (const [node, atMs] of due) {
      if (atMs > clock.monotonic()) continue;
      const waitMs = evictions.takeOrWaitMs(node, all);
      if (waitMs > 0) due.set(node, clock.monotonic() + waitMs);
      else {
        due.delete(node);
        evicted.push(clock.monotonic());
      }
    }
    clock.advance(50);
  }
  expect(evicted.at(-1)! - evicted[0]!).toBe(19 * 200);
});
