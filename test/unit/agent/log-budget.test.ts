// The budget of all logs of a node: which files go, and which never do.
import * as fs from "node:fs/promises";
import * as path from "node:path";
import pino from "pino";
import { LogBudget } from "../../../agent/logs/log-budget.ts";
import { LogRotation } from "../../../agent/logs/log-rotation.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
const logger = pino({ level: "silent" });
const block = 64 * 1024;

async function logs(
  files: Readonly<Record<string, number>>,
): Promise<{ root: string; names: () => Promise<string[]> }> {
  const root = directories();
  for (const [name, blocks] of Object.entries(files)) {
    await fs.mkdir(path.join(root, path.dirname(name)), { recursive: true });
    await fs.writeFile(path.join(root, name), Buffer.alloc(blocks * block, 1));
  }
  return {
    root,
    async names() {
      const all = await fs.readdir(root, {
        recursive: true,
        withFileTypes: true,
      });
      return all
        .filter((entry) => !entry.isDirectory())
        .map(({ parentPath, name }) =>
          path.relative(root, path.join(parentPath, name)),
        )
        .sort();
    },
  };
}

const budgetOf = (root: string, budget: string, ...files: string[]) =>
  new LogBudget({
    budget,
    directory: root,
    logPaths: () => files.map((file) => path.join(root, file)),
    logger,
  });

test("the oldest rotated files of all containers go first, and no more than has to", async () => {
  const { root, names } = await logs({
    "a/c/0.log": 4,
    "a/c/0.log.20260101-000003": 2,
    "a/c/0.log.20260101-000001.gz": 2,
    "b/c/1.log": 1,
    "b/c/1.log.20260101-000002.gz": 2,
    "b/c/notes": 1,
  });
  const enforce = (blocks: number) =>
    budgetOf(root, String(blocks * block), "a/c/0.log", "b/c/1.log").enforce();
  expect(await enforce(12)).toBe(12 * block);
  expect(await names()).toHaveLength(6);
  expect(await enforce(9)).toBe(8 * block);
  expect(await names()).toEqual([
    "a/c/0.log",
    "a/c/0.log.20260101-000003",
    "b/c/1.log",
    "b/c/notes",
  ]);
  // What is written to, and what is no log, stays whatever the budget is.
  expect(await enforce(1)).toBe(6 * block);
  expect(await names()).toEqual(["a/c/0.log", "b/c/1.log", "b/c/notes"]);
});

test("others' logs are left alone, and links are not followed", async () => {
  const { root, names } = await logs({
    "other/c/0.log.20260101-000001": 4,
    "mine/c/0.log": 1,
  });
  await fs.symlink(
    path.join(root, "other/c/0.log.20260101-000001"),
    path.join(root, "mine/c/0.log.20260101-000009"),
  );
  expect(await budgetOf(root, "1", "mine/c/0.log").enforce()).toBe(block);
  expect(await names()).toHaveLength(3);
});

test("parts of the file system, and none at all", async () => {
  const { root, names } = await logs({
    "0.log.20260101-000001": 4,
    "0.log": 1,
  });
  expect(await budgetOf(root, "0", "0.log").enforce()).toBe(0);
  expect(await budgetOf(root, "0%", "0.log").enforce()).toBe(0);
  expect(await budgetOf(root, "100%", "0.log").enforce()).toBe(5 * block);
  expect(await names()).toHaveLength(2);
  expect(await budgetOf(root, "0.0000001%", "0.log").enforce()).toBe(block);
  expect(await names()).toEqual(["0.log"]);
});

test("a new log is looked at after half a second, and its rate after another", async () => {
  const { root } = await logs({ "0.log": 1 });
  const clock = new FakeClock();
  let looks = 0;
  const rotation = new LogRotation({
    logs: {
      sizeBytes: () => {
        looks++;
        return Promise.resolve(looks * block);
      },
      rotate: () => Promise.resolve(),
      renew: () => Promise.resolve(),
    },
    containers: () => [{ id: "c", logPath: path.join(root, "0.log") }],
    maxSizeBytes: 100 * block,
    maxFiles: 5,
    intervalMs: 10_000,
    maxWorkers: 1,
    budget: { enforce: () => Promise.resolve() },
    clock,
    logger,
  });
  rotation.start();
  clock.advance(500);
  rotation.soon();
  rotation.soon();
  clock.advance(499);
  expect(looks).toBe(0);
  clock.advance(1);
  expect(looks).toBe(1);
  await new Promise(setImmediate);
  clock.advance(500);
  expect(looks).toBe(2);
  rotation.stop();
});

test("a log that can't be rotated is tried again with growing pauses, and at once the next time it is full", async () => {
  const clock = new FakeClock();
  const tries: number[] = [];
  let works = false;
  const rotation = new LogRotation({
    logs: {
      sizeBytes: () => Promise.resolve(block),
      renew: () => Promise.resolve(),
      rotate: () => {
        tries.push(clock.monotonic());
        return works ? Promise.resolve() : Promise.reject(new Error("ENOSPC"));
      },
    },
    containers: () => [{ id: "c", logPath: "/0.log" }],
    maxSizeBytes: block,
    maxFiles: 5,
    intervalMs: 3000,
    maxWorkers: 1,
    budget: { enforce: () => Promise.resolve() },
    clock,
    logger,
  });
  const start = clock.monotonic();
  for (let looks = 0; looks < 1000; looks++) {
    await rotation.check();
    clock.advance(250);
  }
  expect(tries.map((at) => at - start)).toEqual(
    [0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 63.5, 123.5, 183.5, 243.5].map(
      (seconds) => seconds * 1000,
    ),
  );
  works = true;
  clock.advance(60_000);
  tries.length = 0;
  expect(await rotation.check()).toBe(500);
  expect(await rotation.check()).toBe(500);
  expect(tries).toHaveLength(2);
});

test("a slow log that turns fast is looked at as soon as the disk has lost a log's size, and the budget follows", async () => {
  const clock = new FakeClock();
  const start = clock.monotonic();
  const [looks, budgets]: [number[], number[]] = [[], []];
  let bytes = 1;
  const rotation = new LogRotation({
    logs: {
      sizeBytes: () => {
        looks.push(clock.monotonic() - start);
        return Promise.resolve(bytes);
      },
      renew: () => Promise.resolve(),
      rotate: () => {
        bytes = 0;
        return Promise.resolve();
      },
    },
    containers: () => [{ id: "c", logPath: "/0.log" }],
    maxSizeBytes: 10 * block,
    maxFiles: 5,
    intervalMs: 10_000,
    maxWorkers: 1,
    budget: {
      enforce: () => {
        budgets.push(clock.monotonic() - start);
        return Promise.resolve();
      },
    },
    clock,
    logger,
  });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  };
  let free = 1000 * block;
  const told = (lost: number): void => rotation.spaceLeft((free -= lost));
  rotation.start();
  await pass(10_000);
  // The second look at a new log, after which it counts as slow.
  await pass(500);
  expect(looks.splice(0)).toEqual([10_000, 10_500]);
  told(0);
  told(9 * block);
  await pass(1000);
  expect(looks).toEqual([]);
  bytes = 50 * block;
  told(block);
  await pass(500);
  expect(looks.splice(0)).toEqual([12_000]);
  // Rotated: 500 ms later it is looked at once more, as it may be full again, and so on while it is.
  for (let round = 0; round < 4; round++) {
    bytes = 50 * block;
    told(0);
    told(50 * block);
    await pass(500);
  }
  expect(looks.splice(0)).toEqual([12_500, 13_000, 13_500, 14_000]);
  expect(budgets).toEqual([10_000, 12_000, 13_000, 14_000]);
  rotation.stop();
  told(100 * block);
  await pass(20_000);
  expect(looks).toEqual([]);
});
