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
const zone = (name: string, down: number, up: number): Node[] =>
  Array.from({ length: down + up }, (_, index) => ({
    metadata: {
      name: `${name}${index}`,
      labels: { "topology.kubernetes.io/zone": name },
    },
    spec: {},
    status: {
      conditions: [{ type: "Ready", status: index < down ? "False" : "True" }],
    },
  }));

test.each<[string, Node[], number]>([
  ["one node of many", zone("a", 1, 9), 0.1],
  ["two of three are not a zone's failure", zone("a", 2, 1), 0.1],
  ["most of a large zone", zone("a", 6, 4), 0.01],
  ["most of a small zone", zone("a", 3, 2), 0],
  ["no node is ready anywhere", zone("a", 1, 0), 0],
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
  const take = (name: string): boolean =>
    evictions.tryTake(
      all.find(({ metadata }) => metadata.name === name)!,
      all,
    );
  expect([take("a0"), take("a1"), take("b0")]).toEqual([true, false, true]);
  clock.advance(9_999);
  expect(take("a1")).toBe(false);
  clock.advance(1);
  expect(take("a1")).toBe(true);
});
