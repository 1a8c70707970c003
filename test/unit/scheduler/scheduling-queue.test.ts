// The three places of the scheduling queue, on a clock moved by hand.
import type { Pod } from "../../../api/types/core-v1.ts";
import type { ClusterEvent } from "../../../scheduler/plugin.ts";
import { SchedulingQueue } from "../../../scheduler/scheduling-queue.ts";
import type { QueuedPod } from "../../../scheduler/scheduling-queue.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { randomNumbers } from "../../support/random-numbers.ts";

const pod = (name: string, priority?: number, gates: string[] = []): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "ns" },
  spec: {
    containers: [],
    ...(priority === undefined ? {} : { priority }),
    ...(gates.length > 0
      ? { schedulingGates: gates.map((gate) => ({ name: gate })) }
      : {}),
  },
});
const hints = (...events: ClusterEvent[]) => new Set(events);

function setUp() {
  const clock = new FakeClock();
  let activations = 0;
  const queue = new SchedulingQueue(clock, () => activations++);
  const names = (): string[] => {
    const popped: string[] = [];
    for (let entry = queue.pop(); entry; entry = queue.pop())
      popped.push(entry.pod.metadata.name);
    return popped;
  };
  /** Pops the one pod that is active, and reports its failure. */
  const fail = (events?: ReadonlySet<ClusterEvent>): QueuedPod => {
    const entry = queue.pop()!;
    queue.failed(entry, events);
    return entry;
  };
  return { clock, queue, names, fail, activations: () => activations };
}

test("highest priority first, then oldest, also within a millisecond", () => {
  const { clock, queue, names, activations } = setUp();
  for (const name of ["a", "b", "c"]) queue.add(pod(name));
  clock.advance(1);
  queue.add(pod("low", -1));
  queue.add(pod("high", 10));
  queue.add(pod("high-later", 10));
  expect(activations()).toBe(6);
  expect(queue.activeSize).toBe(6);
  expect(names()).toEqual(["high", "high-later", "a", "b", "c", "low"]);
});

test("a failed pod backs off 0.1, 0.2, 0.4 … 10 s, counted from its last try", () => {
  const { clock, queue, fail } = setUp();
  queue.add(pod("a"));
  for (const delayMs of [
    100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000,
  ]) {
    fail();
    clock.advance(delayMs - 1);
    expect([delayMs, queue.activeSize]).toEqual([delayMs, 0]);
    clock.advance(1);
    expect([delayMs, queue.activeSize]).toEqual([delayMs, 1]);
  }
});

test("an unschedulable pod waits for an event it has hints for", () => {
  const { clock, queue, fail } = setUp();
  queue.add(pod("a"));
  fail(hints("pod-removed"));
  clock.advance(1000);
  queue.notify("volume");
  expect(queue.activeSize).toBe(0);
  queue.notify("pod-removed");
  expect(queue.activeSize).toBe(1);
});

test("an event during its back-off lets it wait for the rest of it", () => {
  const { clock, queue, fail } = setUp();
  queue.add(pod("a"));
  fail(hints("pod-removed"));
  clock.advance(40);
  queue.notify("pod-removed");
  expect(queue.activeSize).toBe(0);
  clock.advance(59);
  expect(queue.activeSize).toBe(0);
  clock.advance(1);
  expect(queue.activeSize).toBe(1);
});

test("an event that comes while it is tried is not lost", () => {
  const { clock, queue } = setUp();
  queue.add(pod("a"));
  const entry = queue.pop()!;
  queue.notify("volume");
  queue.notify("node-added");
  queue.failed(entry, hints("node-added"));
  clock.advance(100);
  expect(queue.activeSize).toBe(1);
  // The next try begins without it.
  queue.failed(queue.pop()!, hints("node-added"));
  clock.advance(299_999);
  expect(queue.activeSize).toBe(0);
});

test("five minutes are enough without any event", () => {
  const { clock, queue, fail } = setUp();
  queue.add(pod("a"));
  fail(hints());
  clock.advance(299_999);
  expect(queue.activeSize).toBe(0);
  clock.advance(1);
  expect(queue.activeSize).toBe(1);
});

test("gates keep a pod out, whatever happens, until they are gone", () => {
  const { clock, queue, activations } = setUp();
  queue.add(pod("a", 0, ["wait"]));
  queue.notify("node-added");
  clock.advance(600_000);
  queue.update(pod("a", 0, ["still"]), true);
  expect([queue.activeSize, activations()]).toEqual([0, 0]);
  queue.update(pod("a"), false);
  expect([queue.activeSize, activations()]).toEqual([1, 1]);
});

test("a change that may make it fit moves it on, another does not", () => {
  const { clock, queue, fail } = setUp();
  queue.add(pod("a"));
  fail(hints());
  clock.advance(1000);
  queue.update(pod("a"), false);
  expect(queue.activeSize).toBe(0);
  queue.update(pod("a", 5), true);
  expect(queue.pop()!.pod.spec.priority).toBe(5);
});

test("a pod removed anywhere does not come back", () => {
  const { clock, queue, names } = setUp();
  for (const name of ["active", "trying", "waiting", "backing-off"])
    queue.add(pod(name));
  const entries = new Map<string, QueuedPod>();
  for (let entry = queue.pop(); entry; entry = queue.pop())
    entries.set(entry.pod.metadata.name, entry);
  queue.failed(entries.get("waiting")!, hints("volume"));
  queue.failed(entries.get("backing-off")!, undefined);
  queue.failed(entries.get("active")!, undefined);
  clock.advance(100);
  // Both that backed off are active now.
  expect(queue.activeSize).toBe(2);
  for (const name of entries.keys()) queue.remove(`ns/${name}`);
  expect([queue.size, queue.activeSize]).toEqual([0, 0]);
  queue.failed(entries.get("trying")!, undefined);
  queue.notify("volume");
  clock.advance(600_000);
  expect(names()).toEqual([]);
});

test("one that was removed and added again while tried is another", () => {
  const { queue } = setUp();
  queue.add(pod("a"));
  const tried = queue.pop()!;
  queue.remove("ns/a");
  queue.add(pod("a"));
  queue.done(tried);
  queue.failed(tried, undefined);
  expect([queue.has("ns/a"), queue.activeSize]).toEqual([true, 1]);
});

test("a placed pod leaves; adding one twice keeps one", () => {
  const { queue, names } = setUp();
  queue.add(pod("a"));
  queue.add(pod("a"));
  expect(queue.size).toBe(1);
  queue.done(queue.pop()!);
  expect([queue.size, names()]).toEqual([0, []]);
});

test("stopping leaves no timer", () => {
  const { clock, queue, fail } = setUp();
  queue.add(pod("a"));
  fail();
  expect(clock.pending).toBe(1);
  queue.stop();
  expect(clock.pending).toBe(0);
});

test("whatever happens, no pod is lost or tried twice at once", () => {
  const random = randomNumbers(11);
  const below = (bound: number): number => Math.floor(random() * bound);
  for (let round = 0; round < 30; round++) {
    const { clock, queue } = setUp();
    const present = new Set<string>();
    const trying = new Map<string, QueuedPod>();
    for (let step = 0; step < 400; step++) {
      const name = `p${below(12)}`;
      const key = `ns/${name}`;
      const act = below(7);
      if (act === 0) {
        queue.add(pod(name, below(3)));
        present.add(key);
      } else if (act === 1) {
        queue.remove(key);
        present.delete(key);
        trying.delete(key);
      } else if (act === 2) {
        const entry = queue.pop();
        if (!entry) continue;
        expect(trying.has(entry.key)).toBe(false);
        expect(present.has(entry.key)).toBe(true);
        trying.set(entry.key, entry);
      } else if (act === 3) {
        const [entry] = trying.values();
        if (!entry) continue;
        trying.delete(entry.key);
        if (below(3) === 0) {
          queue.done(entry);
          present.delete(entry.key);
        } else queue.failed(entry, below(2) ? undefined : hints("volume"));
      } else if (act === 4) queue.notify(below(2) ? "volume" : "node-added");
      else clock.advance(below(2000));
      expect(queue.size).toBe(present.size);
    }
    // All that is left becomes active sooner or later.
    for (const entry of trying.values()) queue.failed(entry, undefined);
    clock.advance(400_000);
    const left = new Set<string>();
    for (let entry = queue.pop(); entry; entry = queue.pop())
      left.add(entry.key);
    expect(left).toEqual(present);
  }
});

test("counts by the place that a pod waits in", () => {
  const { queue, clock } = setUp();
  queue.add(pod("gated", 0, ["g"]));
  queue.add(pod("rejected", 3));
  queue.failed(queue.pop()!, hints("pod-removed"));
  queue.add(pod("failed", 2));
  queue.failed(queue.pop()!, undefined);
  queue.add(pod("tried", 1));
  queue.pop();
  queue.add(pod("new"));
  expect(queue.counts()).toEqual({
    active: 1,
    backoff: 1,
    unschedulable: 1,
    gated: 1,
  });
  clock.advance(200);
  queue.update(pod("gated"), false);
  expect(queue.counts()).toEqual({
    active: 3,
    backoff: 0,
    unschedulable: 1,
    gated: 0,
  });
});
