import { askedAgain } from "../../../client/webhook/asked-again.ts";
import {
  WebhookCallError,
  WebhookStatusError,
  WebhookTimeoutError,
} from "../../../client/webhook/call-failure.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const status = (code: number, reason?: string): Error =>
  new WebhookStatusError({
    code,
    message: "no",
    ...(reason ? { reason } : {}),
  });
const cause = (code: string): Error =>
  new WebhookCallError("no", {
    cause: Object.assign(new Error(code), { code }),
  });

/** When it was called, and how it ended. */
async function ask(
  failures: readonly (Error | undefined)[],
  pauseMs?: number,
): Promise<{ times: number[]; end: unknown }> {
  const clock = new FakeClock(0);
  const times: number[] = [];
  const call = (): Promise<string> => {
    const failure = failures[Math.min(times.length, failures.length - 1)];
    times.push(clock.now());
    return failure ? Promise.reject(failure) : Promise.resolve("yes");
  };
  let end: unknown;
  void askedAgain(call, clock, pauseMs, () => 0).then(
    (answer) => (end = answer),
    (error: unknown) => (end = error),
  );
  for (let at = 0; at < 100 && end === undefined; at++)
    await clock.advanceAsync(50);
  return { times, end };
}

test("asks five times at most, with growing pauses", async () => {
  const failure = status(500);
  const { times, end } = await ask([failure], 100);
  expect(end).toBe(failure);
  expect(times).toEqual([0, 100, 250, 475, 812.5]);
});

test.each([
  ["500", status(500)],
  ["429", status(429)],
  ["504", status(504)],
  ["a reason", status(503, "Timeout")],
  ["a reset", cause("ECONNRESET")],
  ["a connection that the other side ended", cause("UND_ERR_SOCKET")],
])("asks again after %s", async (_, failure) => {
  const { times, end } = await ask([failure, undefined]);
  expect([times.length, end]).toEqual([2, "yes"]);
});

test.each([
  ["400", status(400)],
  ["503", status(503)],
  ["a refused connection", cause("ECONNREFUSED")],
  ["no answer in time", new WebhookTimeoutError("late")],
  ["an answer that is none", new SyntaxError("no JSON")],
])("does not ask again after %s", async (_, failure) => {
  const { times, end } = await ask([failure, undefined]);
  expect(times).toHaveLength(1);
  expect(end).toBe(failure);
});
