// Events as lines of the log.
import { pino } from "pino";
import type { KubeObject } from "../../../api/object.ts";
import { logSink } from "../../../agent/events/event-sinks.ts";
import { FakeClock } from "../../support/fake-clock.ts";

test("a warning that repeats is written at its times 1, 2, 4 … with its container, and again after ten quiet minutes", () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino(
    { base: null },
    { write: (line: string) => lines.push(JSON.parse(line) as never) },
  );
  const clock = new FakeClock();
  clock.advance(1000);
  const sink = logSink(logger, clock);
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", namespace: "default", uid: "1" },
  } as KubeObject;
  const waits = (name: string): void =>
    sink.event(pod, "Warning", "Failed", "Error: ImagePullBackOff", {
      fieldPath: `spec.containers{${name}}`,
    });
  for (let i = 0; i < 9; i++) waits("x");
  waits("y");
  sink.event(pod, "Normal", "BackOff", "Back-off pulling image");
  expect(lines.map(({ fieldPath, times }) => [fieldPath, times])).toEqual([
    ["spec.containers{x}", undefined],
    ["spec.containers{x}", 2],
    ["spec.containers{x}", 4],
    ["spec.containers{x}", 8],
    ["spec.containers{y}", undefined],
  ]);
  lines.length = 0;
  clock.advance(601_000);
  waits("x");
  expect(lines).toMatchObject([
    { msg: "Error: ImagePullBackOff", reason: "Failed", name: "a" },
  ]);
  expect(lines[0]).not.toHaveProperty("times");
});
