// Which shims count as forgotten, on a made-up /proc: all that could be of others is left alone.
import * as fs from "node:fs";
import { join } from "node:path";
import pino from "pino";
import { ForgottenShims } from "../../../cri/private-containerd/forgotten-shims.ts";
import type { ContainerSummary, SandboxSummary } from "../../../cri/runtime.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temporary = useTempDirectories("orbit-shims-");
const program = "/usr/bin/containerd-shim-runc-v2";
const socket = "/data/run/containerd.sock";
const idOf = (n: number): string => n.toString(16).padStart(64, "0");
const args = (id: string, address = socket, space = "k8s.io"): string[] => [
  program,
  ...["-namespace", space, "-id", id, "-address", address],
];

function machine() {
  const proc = temporary();
  const killed: number[] = [];
  const sandboxes: { id: string; ready: boolean }[] = [];
  const containers: { sandboxId: string; state: string }[] = [];
  const remove = (pid: number): void =>
    fs.rmSync(join(proc, String(pid)), { recursive: true });
  function add(
    pid: number,
    cmdline: readonly string[],
    { startTicks = 500, parent = 1, exe = program, state = "S" } = {},
  ): void {
    const at = join(proc, String(pid));
    fs.mkdirSync(at);
    fs.writeFileSync(
      join(at, "cmdline"),
      cmdline.map((a) => `${a}\0`).join(""),
    );
    const fields = [state, parent, ...Array<number>(17).fill(0), startTicks];
    fs.writeFileSync(
      join(at, "stat"),
      `${pid} (a) b (c) ${fields.join(" ")} 0\n`,
    );
    fs.symlinkSync(exe, join(at, "exe"));
  }
  const containerd = (startTicks: number): void =>
    add(9, ["/usr/bin/containerd"], { startTicks, exe: "/usr/bin/containerd" });
  containerd(1000);
  const clock = new FakeClock();
  let fails = false;
  const shims = new ForgottenShims({
    ...{ socket, proc, clock },
    ownPid: 8,
    containerdPid: () => 9,
    runtime: {
      async listPodSandboxes() {
        if (fails) throw new Error("away");
        return sandboxes as SandboxSummary[];
      },
      listContainers: async () => containers as ContainerSummary[],
    },
    logger: pino({ level: "silent" }),
    kill(pid) {
      killed.push(pid);
      remove(pid);
    },
  });
  return {
    ...{ add, remove, containerd, killed, sandboxes, containers, shims, clock },
    fail: (now: boolean) => (fails = now),
    async look(): Promise<string[]> {
      let ended: string[] | undefined;
      const looking = shims.look().then((ids) => (ended = ids));
      await eventually(async () => {
        await clock.advance(50);
        return ended !== undefined;
      });
      return looking;
    },
  };
}

test("a forgotten shim is ended at the second look, what is below it first", async () => {
  const { add, look, killed, sandboxes } = machine();
  add(10, args(idOf(1)));
  add(11, ["/pause"], { parent: 10, startTicks: 501, exe: "/pause" });
  add(12, ["/child"], { parent: 11, startTicks: 502, exe: "/child" });
  add(13, ["/other"], { exe: "/other" });
  add(14, args(idOf(2)), { exe: `${program} (deleted)` });
  sandboxes.push({ id: idOf(2), ready: false });
  expect(await look()).toEqual([]);
  expect(killed).toEqual([]);
  expect(await look()).toEqual([idOf(1), idOf(2)]);
  expect(killed).toEqual([11, 12, 10, 14]);
  expect(await look()).toEqual([]);
});

test("all others are left alone", async () => {
  const { add, look, killed, sandboxes, containers } = machine();
  add(20, args(idOf(1), "/other/run/containerd.sock"));
  add(21, args(idOf(2), socket, "moby"));
  // Being made by this containerd.
  add(22, args(idOf(3)), { startTicks: 1001 });
  add(23, args(idOf(4)), { startTicks: 1000 });
  add(24, args(idOf(5)));
  sandboxes.push({ id: idOf(5), ready: true });
  add(25, [...args(idOf(6)), "delete"]);
  add(26, args(idOf(7)), { exe: "/usr/bin/sleep" });
  add(27, args(idOf(8)), { state: "Z" });
  add(28, args("../../../etc"));
  add(29, ["/usr/bin/sleep", ...args(idOf(9)).slice(1)]);
  add(30, []);
  // Its sandbox has ended, and its containers are given their grace.
  add(31, args(idOf(10)));
  sandboxes.push({ id: idOf(10), ready: false });
  containers.push({ sandboxId: idOf(10), state: "running" });
  for (let times = 0; times < 3; times++) expect(await look()).toEqual([]);
  expect(killed).toEqual([]);
});

test("one that is younger than its containerd is being started, but not for half an hour", async () => {
  const { add, look, killed, clock, sandboxes, remove } = machine();
  add(22, args(idOf(1)), { startTicks: 1001 });
  add(23, args(idOf(2)), { startTicks: 1002 });
  expect(await look()).toEqual([]);
  await clock.advance(29 * 60_000);
  // Its start took that long.
  sandboxes.push({ id: idOf(2), ready: true });
  expect(await look()).toEqual([]);
  remove(23);
  // Another one has the same pid.
  add(23, args(idOf(3)), { startTicks: 1003 });
  await clock.advance(60_000);
  expect(await look()).toEqual([idOf(1)]);
  await clock.advance(29 * 60_000);
  expect(await look()).toEqual([]);
  await clock.advance(60_000);
  expect(await look()).toEqual([idOf(3)]);
  expect(killed).toEqual([22, 23]);
});

test("one that an agent began which is no more is waited for as long as containerd cleans up", async () => {
  const { add, look, killed, clock, sandboxes } = machine();
  add(8, ["/usr/bin/node"], { startTicks: 2000, exe: "/usr/bin/node" });
  add(22, args(idOf(1)), { startTicks: 1999 });
  add(23, args(idOf(2)), { startTicks: 1998 });
  add(24, args(idOf(3)), { startTicks: 2000 });
  expect(await look()).toEqual([]);
  await clock.advance(18_000);
  expect(await look()).toEqual([]);
  sandboxes.push({ id: idOf(2), ready: true });
  await clock.advance(2_000);
  expect(await look()).toEqual([idOf(1)]);
  expect(killed).toEqual([22]);
});

test("while containerd does not answer, or is another, nothing is forgotten", async () => {
  const { add, remove, containerd, look, killed, fail } = machine();
  add(10, args(idOf(1)));
  expect(await look()).toEqual([]);
  fail(true);
  expect(await look()).toEqual([]);
  fail(false);
  // The look before said nothing: this is the first one again.
  expect(await look()).toEqual([]);
  remove(9);
  expect(await look()).toEqual([]);
  containerd(400);
  expect(await look()).toEqual([]);
  expect(killed).toEqual([]);
});

test("a pid that another process has by now is not touched", async () => {
  const { add, remove, look, killed } = machine();
  add(10, args(idOf(1)));
  await look();
  remove(10);
  add(10, args(idOf(2)), { startTicks: 600 });
  expect(await look()).toEqual([]);
  // Older than its parent: not its child.
  add(11, ["/other"], { parent: 10, startTicks: 300, exe: "/other" });
  expect(await look()).toEqual([idOf(2)]);
  expect(killed).toEqual([10]);
});

test("it looks soon after each start of containerd, then rarely, and not after its stop", async () => {
  const { add, shims, clock, killed } = machine();
  add(10, args(idOf(1)));
  shims.start();
  await eventually(async () => {
    await clock.advance(1000);
    return killed.length === 1;
  });
  expect(clock.monotonic()).toBeLessThan(60_000);
  await shims.stop();
  add(12, args(idOf(2)));
  await clock.advance(3_600_000);
  expect(killed).toEqual([10]);
});
