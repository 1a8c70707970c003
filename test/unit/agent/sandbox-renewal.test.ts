// Sandboxes that end by themselves are made again with growing pauses, and leave nothing behind, over a fake runtime.
import { SandboxRenewal } from "../../../agent/pods/worker/sandbox-renewal.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { runtimePodOf, sandboxOf } from "./runtime-objects.ts";
import { deleted, stagedPod, workerStage, type Stage } from "./worker-stage.ts";

const directories = useTempDirectories();

interface RenewalStage extends Stage {
  /** When each sandbox was made, in seconds. */
  madeAt: number[];
  /** What becomes of a sandbox as soon as it is made. */
  dies: boolean;
  events: string[];
  stops: () => number;
  /** Time passes until so many were made. */
  made(count: number): Promise<void>;
}

async function renewalStage(
  fails: (call: string) => boolean = () => false,
): Promise<RenewalStage> {
  const events: string[] = [];
  let stops = 0;
  const on = await workerStage(directories(), {
    fate: (call) => {
      if (call === "stopPodSandbox") stops++;
      return fails(call) ? { kind: "fails", code: "EIO" } : { kind: "works" };
    },
    events: (reason, message) => void events.push(`${reason}: ${message}`),
  });
  const stage: RenewalStage = {
    ...on,
    ...{ madeAt: [], dies: true, events, stops: () => stops },
    made: (count) =>
      on.until(`${count} sandboxes`, () => stage.madeAt.length >= count),
  };
  const run = on.node.runSandbox.bind(on.node);
  on.node.runSandbox = (config) => {
    const id = run(config);
    stage.madeAt.push(on.clock.monotonic() / 1000);
    if (stage.dies) on.node.stopSandbox(id);
    return id;
  };
  return stage;
}

// Time also passes while files are written, so that a pause may seem longer than it was.
const pauses = (times: readonly number[]): number[] =>
  times.slice(1).map((at, index) => at - times[index]!);

const changed =
  "SandboxChanged: Pod sandbox changed, it will be killed and re-created.";

const backOffs = ({ events }: RenewalStage): number[] =>
  events.flatMap((text) => {
    const found = /^FailedCreatePodSandBox: .*back-off (\d+)s$/.exec(text);
    return found ? [Number(found[1])] : [];
  });

const newest = ({ node }: Stage): string => [...node.sandboxes.keys()].at(-1)!;

test("a sandbox that ends at once is made again with doubling pauses of at most five minutes", async () => {
  const on = await renewalStage();
  on.workers.set(stagedPod());
  await on.made(13);
  const expected = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300];
  // The end of the last one may have been noticed already.
  expect(backOffs(on).slice(0, expected.length)).toEqual(expected);
  pauses(on.madeAt)
    .slice(1)
    .forEach((pause, index) =>
      expect(pause).toBeGreaterThanOrEqual(expected[index]!),
    );
  // Each was stopped, so that its address is free, and of the dead ones two are left at most.
  expect(on.stops()).toBeGreaterThanOrEqual(12);
  expect(on.node.sandboxes.size).toBeLessThanOrEqual(2);
  expect(on.events.filter((text) => text === changed)).toHaveLength(
    backOffs(on).length + 1,
  );
  on.workers.set(deleted(stagedPod()));
  await on.until("it is finished", () => on.finished.includes("u"));
  expect(on.node.sandboxes.size).toBe(0);
  expect(on.broken).toEqual([]);
});

test("other news of the pod do not shorten the pause", async () => {
  const on = await renewalStage();
  on.workers.set(stagedPod());
  await on.made(5);
  const before = on.madeAt.length;
  for (let second = 0; second < 5; second++) {
    on.workers.wake("u");
    await on.clock.advanceAsync(1000);
  }
  expect(on.madeAt.length).toBe(before);
  await on.made(before + 1);
  expect(pauses(on.madeAt).at(-1)).toBeGreaterThanOrEqual(8);
});

test("one that held for ten minutes is replaced at once, with its containers", async () => {
  const on = await renewalStage();
  on.workers.set(stagedPod());
  await on.made(4);
  on.dies = false;
  await on.until("the app runs", () => on.running().length === 1);
  const count = on.madeAt.length;
  const before = backOffs(on);
  on.clock.advance(601_000);
  on.node.stopSandbox(newest(on));
  await on.made(count + 1);
  // Without a pause.
  expect(backOffs(on)).toEqual(before);
  await on.until("the app runs again", () => on.running().length === 1);
  // The dead container's sandbox stays with it; the others are gone.
  expect(on.node.sandboxes.size).toBeLessThanOrEqual(3);
  expect(on.broken).toEqual([]);
});

test("a sandbox that ended is still stopped when the first try to stop it fails", async () => {
  let failures = 2;
  const on = await renewalStage(
    (call) => call === "stopPodSandbox" && failures-- > 0,
  );
  on.workers.set(stagedPod());
  await on.made(3);
  // Two that failed, then one for each that ended.
  expect(on.stops()).toBeGreaterThanOrEqual(4);
  expect(on.broken).toEqual([]);
});

test("a replacement that can't be made does not wait longer each time, as one that ended does", async () => {
  const clock = new FakeClock();
  const pod = stagedPod();
  let killed = 0;
  const renewal = new SandboxRenewal({
    pod: () => pod,
    events: { pod: () => undefined },
    kill: async () => void killed++,
    dead: { removeSandboxes: async () => undefined },
    clock,
  });
  const dead = (id: string): Promise<number> =>
    renewal.waitMs(runtimePodOf([sandboxOf(pod, { id, ready: false })], []));
  for (let tries = 0; tries < 20; tries++) {
    expect(await dead("first")).toBe(0);
    clock.advance(1000);
  }
  expect(killed).toBe(1);
  // One that was made, and ended.
  expect(await dead("second")).toBe(1000);
  clock.advance(1000);
  expect(await dead("second")).toBe(0);
  expect(await dead("third")).toBe(2000);
  expect(killed).toBe(3);
});
