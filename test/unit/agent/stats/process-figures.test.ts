// What the processes of a cgroup hold open, of real processes and of one that opens more than is looked at.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { processFigures } from "../../../../agent/stats/containers/process-figures.ts";

let child: ChildProcess | undefined;

afterEach(() => child?.kill("SIGKILL"));

/** A process that has opened what the script opens, with a limit of its own. */
async function holding(script: string, limit = 700): Promise<number> {
  child = spawn(
    "prlimit",
    [
      `--nofile=${limit}:${limit}`,
      process.execPath,
      "-e",
      `const ready = () => process.stdout.write("ready"); setInterval(() => {}, 1e6); ${script || "ready()"}`,
    ],
    { stdio: ["ignore", "pipe", "ignore"] },
  );
  await once(child.stdout!, "data");
  return child.pid!;
}

const files = (count: number): string =>
  `const fs = require("node:fs"); for (let i = 0; i < ${count}; i++) fs.openSync("/dev/null")`;

test("descriptors, sockets among them, and the limit of the first process", async () => {
  const plain = await processFigures([await holding("")]);
  child!.kill("SIGKILL");
  const more = await processFigures([
    await holding(
      `${files(20)}; require("node:dgram").createSocket("udp4").bind(0, "127.0.0.1", ready)`,
    ),
  ]);
  expect(plain.maxOpenFiles).toBe(700);
  expect(more.fileDescriptors! - plain.fileDescriptors!).toBe(21);
  expect(more.sockets! - plain.sockets!).toBe(1);
});

test("a process with very many descriptors is counted, but not asked of each", async () => {
  const pid = await holding(`${files(5000)}; ready()`, 6000);
  const { fileDescriptors, ...rest } = await processFigures([pid]);
  expect(fileDescriptors).toBeGreaterThan(5000);
  expect(rest).toEqual({ maxOpenFiles: 6000 });
});

test("processes that have ended, and none at all, hold nothing", async () => {
  expect(await processFigures([2 ** 30])).toEqual({
    fileDescriptors: 0,
    sockets: 0,
  });
  expect(await processFigures([])).toEqual({ fileDescriptors: 0, sockets: 0 });
});
