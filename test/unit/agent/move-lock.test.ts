// On a tree of files that mirrors the cgroups of this process, and once on the machine's own.
import * as fs from "node:fs/promises";
import * as path from "node:path";
import { MoveLock } from "../../../agent/cgroups/move-lock.ts";
import { systemClock } from "../../../api/clock.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();

/** Where this process would be below the mount, in the first hierarchy. */
async function ownGroup(mount: string): Promise<string> {
  const [line = ""] = (await fs.readFile("/proc/self/cgroup", "utf8")).split(
    "\n",
  );
  const [, hierarchy = "", group = ""] = line.split(":");
  return path.join(mount, hierarchy.replace("name=", ""), group);
}

async function treeOfFiles(): Promise<{ mount: string; processes: string }> {
  const mount = directories();
  const group = await ownGroup(mount);
  await fs.mkdir(group, { recursive: true });
  const processes = path.join(group, "cgroup.procs");
  await fs.writeFile(processes, "");
  return { mount, processes };
}

const sizeOf = async (file: string): Promise<number> =>
  (await fs.stat(file)).size;

test("while a call runs this process is written into its own cgroup, and not afterwards", async () => {
  const { mount, processes } = await treeOfFiles();
  const clock = new FakeClock();
  const moves = new MoveLock(mount, clock);
  let end!: (value: string) => void;
  const call = moves.during(
    () => new Promise<string>((resolve) => (end = resolve)),
  );
  await eventually(async () => (await sizeOf(processes)) === 1);
  await eventually(async () => {
    clock.advance(4);
    return (await sizeOf(processes)) > 3;
  });
  expect(await fs.readFile(processes, "utf8")).toMatch(/^0+$/);
  end("made");
  expect(await call).toBe("made");
  await eventually(async () => {
    clock.advance(4);
    return !(await isOpen(processes));
  });
  const size = await sizeOf(processes);
  clock.advance(1000);
  expect(await sizeOf(processes)).toBe(size);
});

test("a call that never ends is given up, and the next one begins anew", async () => {
  const { mount, processes } = await treeOfFiles();
  const clock = new FakeClock();
  const moves = new MoveLock(mount, clock);
  void moves.during(() => new Promise(() => undefined));
  await eventually(async () => (await sizeOf(processes)) === 1);
  await eventually(async () => {
    clock.advance(1000);
    return !(await isOpen(processes));
  });
  await expect(
    moves.during(async () => {
      await eventually(() => isOpen(processes));
      throw new Error("no such image");
    }),
  ).rejects.toThrow("no such image");
});

test("without a cgroup that can be written calls run as ever, and no file is made", async () => {
  const mount = directories();
  const moves = new MoveLock(mount, systemClock);
  await expect(moves.during(() => Promise.resolve(7))).resolves.toBe(7);
  await expect(moves.during(() => Promise.resolve(8))).resolves.toBe(8);
  expect(await fs.readdir(mount)).toEqual([]);
});

test("on the machine itself this process stays in its cgroups", async () => {
  const before = await fs.readFile("/proc/self/cgroup", "utf8");
  const moves = new MoveLock("/sys/fs/cgroup", systemClock);
  await moves.during(
    () => new Promise((resolve) => systemClock.after(20, () => resolve(0))),
  );
  expect(await fs.readFile("/proc/self/cgroup", "utf8")).toBe(before);
});

/** Whether this process has the file open. */
async function isOpen(file: string): Promise<boolean> {
  const links = await Promise.all(
    (await fs.readdir("/proc/self/fd")).map((fd) =>
      fs.readlink(`/proc/self/fd/${fd}`).catch(() => ""),
    ),
  );
  return links.includes(file);
}
