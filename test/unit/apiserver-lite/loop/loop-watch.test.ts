// Who held the event loop is found by the work's own time on it, whatever else waited.
import { LoopWatch } from "../../../../apiserver-lite/loop/loop-watch.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

interface Logged {
  method: string;
  path: string;
  heldMs: number;
  notLogged?: number;
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const later = (ms: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Works for so long, whatever else the machine does meanwhile, and other threads of this process with it. */
function spin(ms: number): void {
  const usedMs = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  const untilMs = performance.now() + ms;
  const untilUsedMs = usedMs() + ms;
  while (performance.now() < untilMs || usedMs() < untilUsedMs);
}

// Wide limits: on a busy machine a turn without work may take long as well.
const limitMs = 400;
const longMs = 500;

function watched(): { watch: LoopWatch; logged: Logged[] } {
  const logged: Logged[] = [];
  const watch = new LoopWatch(
    { warn: (fields: Logged) => void logged.push(fields) } as never,
    limitMs,
  );
  return { watch, logged };
}
const get = (url: string) => ({ method: "GET", url });

test("the one that worked too long is logged, without its query", async () => {
  const { watch, logged } = watched();
  watch.enter(get("/quick"));
  watch.enter(get("/slow?token=secret"));
  spin(longMs);
  watch.enter(get("/behind"));
  await turn();
  await turn();
  expect(logged).toEqual([
    { method: "GET", path: "/slow", heldMs: expect.any(Number) },
  ]);
  expect(logged[0]!.heldMs).toBeGreaterThanOrEqual(longMs);
  expect(watch.held).toBe(1);
});

test("a path of any length is logged by its beginning", async () => {
  const { watch, logged } = watched();
  watch.enter(get(`/${"x".repeat(100_000)}`));
  spin(longMs);
  await turn();
  await turn();
  expect(logged.map(({ path }) => path.length)).toEqual([256]);
});

test("the last of a turn as well, which may be innocent", async () => {
  const messages: string[] = [];
  const warn = (_: unknown, text: string): void => void messages.push(text);
  const watch = new LoopWatch({ warn } as never, limitMs);
  watch.enter(get("/first"));
  spin(longMs);
  watch.enter(get("/last"));
  spin(longMs);
  await turn();
  await turn();
  expect(messages).toEqual([
    "a request held the event loop",
    "a request, or what came after it, held the event loop",
  ]);
});

test("a process that was not running held nothing", async () => {
  const logged: Logged[] = [];
  const warn = (fields: Logged): void => void logged.push(fields);
  const clock = new FakeClock(1000);
  const watch = new LoopWatch({ warn } as never, limitMs, clock, () => 7);
  watch.enter(get("/stopped"), 0);
  watch.enter(get("/next"), longMs);
  await turn();
  expect(logged).toEqual([]);
  expect(watch.held).toBe(0);
});

test("waiting is not holding", async () => {
  const { watch, logged } = watched();
  watch.enter(get("/waits"));
  await later(longMs);
  watch.enter(get("/next"));
  await turn();
  await turn();
  expect(logged).toEqual([]);
});

test("an overloaded machine logs ten at once, then one each ten seconds", async () => {
  const logged: Logged[] = [];
  const clock = new FakeClock(1000);
  let usedMs = 0;
  const watch = new LoopWatch(
    { warn: (fields: Logged) => void logged.push(fields) } as never,
    limitMs,
    clock,
    () => (usedMs += longMs),
  );
  const hold = (path: string): void => {
    watch.enter(get(path), 0);
    watch.enter(get("/next"), longMs);
    watch.enter(get("/next"), 0);
  };
  for (let index = 0; index < 30; index++) hold(`/${index}`);
  expect(logged.map(({ path }) => path)).toEqual(
    Array.from({ length: 10 }, (_, index) => `/${index}`),
  );
  clock.advance(10_000);
  hold("/later");
  hold("/too soon");
  expect(logged.slice(10)).toEqual([
    { method: "GET", path: "/later", heldMs: longMs, notLogged: 20 },
  ]);
  expect(watch.held).toBe(32);
  await turn();
});

test("while a server warms up it is counted and not logged", async () => {
  const logged: Logged[] = [];
  const warn = (fields: Logged): void => void logged.push(fields);
  const clock = new FakeClock(1000);
  let usedMs = 0;
  const watch = new LoopWatch(
    { warn } as never,
    limitMs,
    clock,
    () => (usedMs += longMs),
  );
  watch.start(10_000);
  watch.enter(get("/early"), 0);
  watch.enter(get("/next"), longMs);
  clock.advance(10_000);
  watch.enter(get("/late"), longMs);
  watch.enter(get("/next"), 2 * longMs);
  watch.stop();
  expect(logged.map(({ path }) => path)).toEqual(["/late"]);
  expect(watch.held).toBe(2);
  await turn();
});

test("the loop's delay is measured between two questions", async () => {
  const { watch } = watched();
  watch.start();
  try {
    watch.takeDelay();
    await later(60);
    spin(200);
    await later(60);
    const delay = watch.takeDelay();
    expect(delay.maxSeconds).toBeGreaterThan(0.1);
    expect(delay.count).toBeGreaterThan(0);
    expect(delay.sumSeconds).toBeGreaterThan(0.1);
    const [[, median], , [, p99]] = delay.quantiles as [number, number][] as [
      [number, number],
      [number, number],
      [number, number],
    ];
    expect(median).toBeLessThanOrEqual(p99);
    expect(watch.takeDelay().maxSeconds).toBeLessThanOrEqual(delay.maxSeconds);
  } finally {
    watch.stop();
  }
});
