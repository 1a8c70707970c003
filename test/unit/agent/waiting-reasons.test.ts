// The event of a container's back-off: once each time it begins to wait, whatever kept it from running.
import { WaitingReasons } from "../../../agent/pods/start/waiting-reasons.ts";
import { WaitingError } from "../../../agent/images/image-manager.ts";
import { testPod } from "./runtime-objects.ts";

const pod = testPod();
const container = { name: "c", image: "i" };

function stage() {
  const reasons = new WaitingReasons();
  const events: string[] = [];
  return {
    reasons,
    events,
    wait: (...delaysMs: number[]) =>
      reasons.backingOff(
        pod,
        delaysMs.map((delayMs) => ({ container, delayMs })),
        {
          container: (_pod, name, type, reason, message) =>
            void events.push(`${type} ${reason} ${name}: ${message}`),
        },
      ),
  };
}

test("one that ended", () => {
  const { events, reasons, wait } = stage();
  wait(10_000);
  wait(9_000);
  expect(events).toHaveLength(1);
  expect(events[0]).toMatch(
    /^Warning BackOff c: Back-off restarting failed container c in pod /,
  );
  expect(reasons.reasons.get("c")).toMatchObject({
    reason: "CrashLoopBackOff",
    message: expect.stringMatching(/^back-off 9s restarting failed/) as string,
  });
  wait();
  wait(20_000);
  expect(events).toHaveLength(2);
});

test("one that could not be started", () => {
  const { events, reasons, wait } = stage();
  reasons.failed("c", new WaitingError("RunContainerError", "no such file"));
  wait(10_000);
  wait(5_000);
  expect(events).toHaveLength(1);
  reasons.failed("c", new WaitingError("RunContainerError", "no such file"));
  wait(20_000);
  expect(events).toHaveLength(2);
});
