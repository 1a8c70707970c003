import pino from "pino";
import { startWatchdog } from "../../../cli/lifecycle.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const before = process.env.WATCHDOG_USEC;
afterEach(() => {
  if (before === undefined) delete process.env.WATCHDOG_USEC;
  else process.env.WATCHDOG_USEC = before;
});

it("stops beating while only a new start can help", () => {
  process.env.WATCHDOG_USEC = "60000000";
  const clock = new FakeClock();
  const heard: string[] = [];
  let fatal: Error | undefined;
  const stop = startWatchdog(pino({ level: "silent" }), {
    clock,
    status: () => "well",
    fatal: () => fatal,
    notify: (message) => heard.push(message),
  });
  clock.advance(30_000);
  fatal = new Error("a commit has been under way for 11 s");
  clock.advance(30_000);
  fatal = undefined;
  clock.advance(30_000);
  stop();
  expect(heard).toEqual([
    "WATCHDOG=1\nSTATUS=well",
    "WATCHDOG=1\nSTATUS=well",
    "STATUS=a commit has been under way for 11 s",
    "WATCHDOG=1\nSTATUS=well",
  ]);
  expect(clock.pending).toBe(0);
});
