// When a pod that is ready counts as available.
import { isPodAvailable } from "../../../../api/objects/pod-state.ts";

const nowMs = Date.UTC(2025, 0, 1);

test.each<[string, number, number, boolean]>([
  ["without a time at once", 0, 0, true],
  ["before its time not", 10, 9, false],
  ["after its time", 10, 10, true],
  ["by a clock that is some seconds ahead not", 10, -30, false],
  ["when the clock was set back since it got ready", 10, -86_400, true],
])("%s", (_, minReadySeconds, readySeconds, available) => {
  const lastTransitionTime = new Date(
    nowMs - readySeconds * 1000,
  ).toISOString();
  const pod = {
    metadata: { name: "p" },
    spec: { containers: [] },
    status: {
      conditions: [{ type: "Ready", status: "True", lastTransitionTime }],
    },
  };
  expect(isPodAvailable(pod, minReadySeconds, nowMs)).toBe(available);
});
