// What a worker's state says of its pod.
import {
  containersEnded,
  ended,
  gone,
  isEvicted,
  isRemoved,
  removed,
  syncing,
  tornDown,
} from "../../../agent/pods/worker/worker-state.ts";

const failure = { reason: "Evicted", message: "short of memory" };
const left = {
  ...{ uid: "u", name: "p", namespace: "ns" },
  ...{ sandboxes: [], containers: [] },
};

test("a pod that the node ended is an evicted one, and stays so", () => {
  const ending = ended(syncing, { graceSeconds: 1, failure });
  const over = tornDown(containersEnded(ending, left), false);
  expect([ending, over].map((state) => isEvicted(state, {}))).toEqual([
    true,
    true,
  ]);
});

test("one that was refused, deleted or ended by itself is not", () => {
  const states = [
    syncing,
    gone,
    ended(syncing, {}),
    removed(syncing),
    ended(syncing, { failure, refused: true }),
    ended(syncing, { failure: { ...failure, reason: "Terminated" } }),
  ];
  expect(states.map((state) => isEvicted(state, {}))).toEqual(
    states.map(() => false),
  );
});

test("an eviction by an agent that ran before is in the pod's status", () => {
  const status = { phase: "Failed", reason: "Evicted" } as const;
  expect(isEvicted(ended(syncing, {}), { status })).toBe(true);
});

test("the sources no longer have what was removed or is gone", () => {
  expect([syncing, ended(syncing, {})].map(isRemoved)).toEqual([false, false]);
  expect([removed(syncing), gone].map(isRemoved)).toEqual([true, true]);
});
