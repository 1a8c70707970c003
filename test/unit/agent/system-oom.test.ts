// Processes that the kernel ended for the machine's lack of memory are events of the Node; those of a cgroup's limit not.
import pino from "pino";
import { PodEvents } from "../../../agent/events/pod-events.ts";
import {
  logSeconds,
  OomParser,
  SystemOom,
} from "../../../agent/node/system-oom.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const ofMachine = (pid: number): string[] => [
  "java invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0",
  "Mem-Info:",
  `oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=c,mems_allowed=0,global_oom,task_memcg=/kubepods/pod1/c,task=java,pid=${pid},uid=0`,
  `Out of memory: Killed process ${pid} (java) total-vm:1kB, anon-rss:1kB`,
];
const ofCgroup = (pid: number): string[] => [
  "dd invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
  `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=c,mems_allowed=0,oom_memcg=/kubepods/pod1,task_memcg=/kubepods/pod1/c,task=dd,pid=${pid},uid=0`,
  `Memory cgroup out of memory: Killed process ${pid} (dd) total-vm:1kB`,
];

test.each([
  ["the machine's", ofMachine(7), [{ pid: 7, process: "java" }]],
  ["a cgroup's", ofCgroup(7), []],
  [
    "a cgroup's, as kernels before 5.0 say it",
    [
      "dd invoked oom-killer: gfp_mask=0xd0, order=0",
      "Task in /kubepods/pod1/c killed as a result of limit of /kubepods/pod1",
      "Killed process 7 (dd) total-vm:1kB",
    ],
    [],
  ],
  ["a kill by hand", ["Killed process 7 (java)"], []],
  [
    "one after the other",
    [...ofCgroup(1), ...ofMachine(2), "eth0: link up", ...ofMachine(3)],
    [
      { pid: 2, process: "java" },
      { pid: 3, process: "java" },
    ],
  ],
])("%s", (_name, lines, victims) => {
  const parser = new OomParser();
  expect(lines.flatMap((line) => parser.next(line) ?? [])).toEqual(victims);
});

function watched() {
  const clock = new FakeClock();
  const said: string[] = [];
  const log: string[] = [];
  let sequence = 0;
  const state = {
    ...{ kills: 3 as number | undefined, seconds: 100, reads: 0 },
    /** Of the code that the next read of the log fails with. */
    failure: undefined as string | undefined,
  };
  const events = new PodEvents(
    {
      event: (object, type, reason, message) =>
        void said.push(`${object.kind} ${type} ${reason} ${message}`),
    },
    () => ({ apiVersion: "v1", kind: "Node", metadata: { name: "n" } }),
  );
  const watch = new SystemOom({
    events,
    clock,
    logger: pino({ level: "silent" }),
    kernel: {
      oomKills: () => Promise.resolve(state.kills),
      nowSeconds: () => state.seconds,
      async *records() {
        state.reads++;
        if (state.failure)
          throw Object.assign(new Error("read"), { code: state.failure });
        for (const record of log) yield await Promise.resolve(record);
      },
    },
  });
  const write = (lines: readonly string[], atSeconds: number): void => {
    for (const line of lines)
      log.push(`4,${sequence++},${atSeconds * 1e6},-;${line}\n SUBSYSTEM=x\n`);
  };
  return { clock, said, state, watch, write };
}

test("each is reported once; what came before the start is not", async () => {
  const { clock, said, state, watch, write } = watched();
  write(ofMachine(1), 50);
  watch.start();
  await clock.advanceAsync(30_000);
  expect(state.reads).toBe(0);
  write([...ofCgroup(2), ...ofMachine(3)], 140);
  state.kills = 5;
  await clock.advanceAsync(10_000);
  await clock.advanceAsync(10_000);
  expect(state.reads).toBe(1);
  write(ofMachine(4), 150);
  state.kills = 6;
  await clock.advanceAsync(10_000);
  expect(said).toEqual([
    "Node Warning SystemOOM System OOM encountered, victim process: java, pid: 3",
    "Node Warning SystemOOM System OOM encountered, victim process: java, pid: 4",
  ]);
  watch.stop();
  state.kills = 7;
  await clock.advanceAsync(60_000);
  expect(state.reads).toBe(2);
});

test("a machine that ends hundreds has twenty events a look", async () => {
  const { clock, said, state, watch, write } = watched();
  watch.start();
  await clock.advanceAsync(0);
  for (let pid = 1; pid <= 300; pid++) write(ofMachine(pid), 200);
  state.kills = 303;
  await clock.advanceAsync(10_000);
  expect(said).toHaveLength(20);
});

test.each([
  ["ENOMEM", 1],
  ["EMFILE", 1],
  ["EACCES", 0],
])("a log whose read fails with %s is read again: %d", async (code, events) => {
  const { clock, said, state, watch, write } = watched();
  watch.start();
  await clock.advanceAsync(0);
  write(ofMachine(1), 200);
  state.kills = 4;
  state.failure = code;
  await clock.advanceAsync(10_000);
  state.failure = undefined;
  await clock.advanceAsync(10_000);
  expect(said).toHaveLength(events);
  expect(clock.pending).toBe(events);
});

test("a kernel that does not count them is not asked again", async () => {
  const { clock, state, watch } = watched();
  state.kills = undefined;
  watch.start();
  await clock.advanceAsync(60_000);
  expect(clock.nextDelayMs).toBeUndefined();
});

test("the time of the log stops while the machine sleeps", () => {
  const monotonic = jest
    .spyOn(process.hrtime, "bigint")
    .mockReturnValue(5_500_000_000n);
  expect(logSeconds()).toBe(5.5);
  monotonic.mockRestore();
});
