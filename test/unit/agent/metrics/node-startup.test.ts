// From the machine's boot to the node's first readiness.
import { metricsText } from "../../../../api/metrics/family.ts";
import { NodeStartup } from "../../../../agent/metrics/node-startup.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

function started() {
  const clock = new FakeClock();
  const startup = new NodeStartup(clock, {
    machineSeconds: 20,
    programSeconds: 1,
  });
  const seconds = (): number[] =>
    [
      ...metricsText(startup.families()).matchAll(
        /^kubelet_node_startup\w*_seconds (\S+)$/gm,
      ),
    ].map(([, value]) => Number(value));
  return { clock, startup, seconds };
}

test("each step, from the first time that it came", () => {
  const { clock, startup, seconds } = started();
  expect(seconds()).toEqual([0, 0, 0, 0, 0]);
  clock.advance(2000);
  startup.registers();
  clock.advance(4000);
  startup.registers();
  expect(seconds()).toEqual([0, 0, 0, 0, 0]);
  startup.registered();
  clock.advance(5000);
  expect(seconds()).toEqual([19, 3, 4, 0, 0]);
  startup.ready();
  clock.advance(60_000);
  // Made again after it was deleted.
  startup.registered();
  startup.ready();
  expect(seconds()).toEqual([19, 3, 4, 5, 31]);
});

test("a Node that was there already did not start now", () => {
  const { startup, seconds } = started();
  startup.registers();
  startup.ready();
  expect(seconds()).toEqual([0, 0, 0, 0, 0]);
});
