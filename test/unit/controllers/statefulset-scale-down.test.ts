import type { Pod } from "../../../api/types/core-v1.ts";
import { podsToScaleDown } from "../../../controllers/statefulset/scale-down.ts";

type State = "available" | "ready" | "unready" | "going";

// Pods by descending ordinal, and which of them go.
test.each<[name: string, ordered: boolean, states: State[], going: number[]]>([
  ["none", true, [], []],
  ["all available: the highest", true, ["available", "available"], [0]],
  ["all unhealthy: the sequence halts", true, ["unready", "unready"], []],
  ["the highest alone is unhealthy", true, ["unready", "available"], [0]],
  ["one unhealthy pod is left", true, ["unready"], [0]],
  ["a healthy one above unhealthy ones", true, ["available", "unready"], [0]],
  ["the highest waits for one below", true, ["unready", "going"], []],
  ["ready for too short a time", true, ["ready", "available"], []],
  [
    "ready for too short a time, above an unhealthy one",
    true,
    ["ready", "unready"],
    [],
  ],
  ["one is going", true, ["going", "available"], []],
  [
    "parallel: all but those that are going",
    false,
    ["unready", "going", "available", "ready"],
    [0, 2, 3],
  ],
])("%s", (_name, ordered, states, going) => {
  const state = new Map<Pod, State>();
  const condemned = states.map((each, index): Pod => {
    const pod: Pod = {
      metadata: {
        name: `s-${states.length - index}`,
        ...(each === "going"
          ? { deletionTimestamp: "2025-01-01T00:00:00Z" }
          : {}),
      },
      spec: { containers: [] },
    };
    state.set(pod, each);
    return pod;
  });
  const found = podsToScaleDown(condemned, ordered, {
    isHealthy: (pod) => ["available", "ready"].includes(state.get(pod)!),
    isAvailable: (pod) => state.get(pod) === "available",
  });
  expect(found.map((pod) => condemned.indexOf(pod))).toEqual(going);
});
