import { FakeClock } from "../../support/fake-clock.ts";
import { eventually } from "../../support/eventually.ts";

describe("FakeClock", () => {
  test("runs due timers in order, each at its own time", () => {
    const clock = new FakeClock(1000);
    const seen: string[] = [];
    const note = (name: string) => () => seen.push(`${name}@${clock.now()}`);
    clock.after(30, note("c"));
    clock.after(10, () => {
      note("a")();
      clock.after(5, note("b"));
    });
    clock.after(100, note("late"));
    clock.after(20, note("cancelled")).cancel();
    clock.advance(50);
    expect(seen).toEqual(["a@1010", "b@1015", "c@1030"]);
    expect(clock.now()).toBe(1050);
    expect(clock.pending).toBe(1);
    expect(clock.nextDelayMs).toBe(50);
  });

  test("advanceAsync lets promises go on between timers", async () => {
    const clock = new FakeClock();
    const sleep = (ms: number) =>
      new Promise<void>((resolve) => clock.after(ms, resolve));
    let steps = 0;
    const loop = (async () => {
      for (; steps < 3; steps++) await sleep(10);
    })();
    await clock.advanceAsync(30);
    await loop;
    expect(steps).toBe(3);
  });
});

describe("eventually", () => {
  test("returns what the probe found", async () => {
    let calls = 0;
    expect(
      await eventually(() => ++calls >= 3 && "found", { intervalMs: 1 }),
    ).toBe("found");
  });

  test("names what was awaited and the last error", async () => {
    await expect(
      eventually(
        () => {
          throw new Error("not there");
        },
        { timeoutMs: 5, intervalMs: 1, what: "the pod" },
      ),
    ).rejects.toThrow(
      "timed out after 5 ms waiting for the pod; last: not there",
    );
  });
});
