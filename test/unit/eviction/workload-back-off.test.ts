// A workload whose pods are refused again and again fails only some of them: the rest are held.
import type { Pod } from "../../../api/types/core-v1.ts";
import { WorkloadBackOff } from "../../../eviction/workload-back-off.ts";
import { FakeClock } from "../../support/fake-clock.ts";

function podOf(controller?: string): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "p",
      ...(controller
        ? {
            ownerReferences: [
              {
                apiVersion: "apps/v1",
                kind: "ReplicaSet",
                name: "r",
                uid: controller,
                controller: true,
              },
            ],
          }
        : {}),
    },
    spec: { containers: [] },
  };
}

test("an hour of pressure fails some twenty pods of a workload, not thousands", () => {
  const clock = new FakeClock();
  const backOff = new WorkloadBackOff(clock);
  const refusedAt: number[] = [];
  for (let second = 0; second < 3600; second++) {
    // Its controller makes ten new pods a second.
    for (let pod = 0; pod < 10; pod++)
      if (backOff.hold(podOf("a")) === 0) refusedAt.push(second);
    clock.advance(1000);
  }
  expect(refusedAt.slice(0, 8)).toEqual([0, 0, 0, 5, 15, 35, 75, 155]);
  expect(refusedAt.length).toBeLessThan(21);
});

test("others are not held for it, and it is forgotten after ten quiet minutes", () => {
  const clock = new FakeClock();
  const backOff = new WorkloadBackOff(clock);
  for (let pod = 0; pod < 3; pod++) expect(backOff.hold(podOf("a"))).toBe(0);
  expect(backOff.hold(podOf("a"))).toBe(5000);
  expect(backOff.hold(podOf("b"))).toBe(0);
  // A pod by itself has no controller that replaces it.
  for (let pod = 0; pod < 5; pod++) expect(backOff.hold(podOf())).toBe(0);
  clock.advance(600_000);
  for (let pod = 0; pod < 3; pod++) expect(backOff.hold(podOf("a"))).toBe(0);
  expect(backOff.hold(podOf("a"))).toBe(5000);
});
