// Steps that are timed do the same, and report once, when they are over.
import { finish, timed, type Steps } from "../../../../api/queueing/steps.ts";

function* counting(to: number): Steps<number> {
  for (let at = 0; at < to; at++) yield;
  return to;
}

test("the result and the pauses are the same, and the time is reported at the end", () => {
  const reports: number[] = [];
  const steps = timed(counting(3), (seconds) => reports.push(seconds));
  let pauses = 0;
  for (;;) {
    const step = steps.next();
    if (step.done) {
      expect(step.value).toBe(3);
      break;
    }
    expect(reports).toEqual([]);
    pauses++;
  }
  expect(pauses).toBe(3);
  expect(reports).toHaveLength(1);
  expect(reports[0]).toBeGreaterThanOrEqual(0);
  expect(finish(timed(counting(2), undefined))).toBe(2);
});
