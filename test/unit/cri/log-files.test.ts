import { execFileSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import { parseLogLine } from "../../../cri/logs/log-line.ts";
import {
  readLog,
  type LogReaderOptions,
} from "../../../cri/logs/log-reader.ts";
import { createLogFiles } from "../../../cri/logs/log-files.ts";
import { LogRotation } from "../../../agent/logs/log-rotation.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import pino from "pino";

const directories = useTempDirectories();
const line = (text: string, second = 0, tag = "F", stream = "stdout"): string =>
  `2026-01-01T00:00:${String(second).padStart(2, "0")}.000000001Z ${stream} ${tag} ${text}\n`;

async function logFile(text: string): Promise<string> {
  const file = path.join(directories(), "0.log");
  await fs.writeFile(file, text);
  return file;
}

async function read(
  file: string,
  options: Partial<LogReaderOptions> = {},
): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of readLog({
    path: file,
    follow: false,
    timestamps: false,
    isRunning: () => false,
    ...options,
  }))
    chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

test("lines are parsed, others refused", () => {
  const stamp = "2026-01-01T00:00:00.5Z";
  expect(parseLogLine(Buffer.from(`${stamp} stdout P a b`))).toMatchObject({
    timestamp: stamp,
    stream: "stdout",
    partial: true,
    text: Buffer.from("a b"),
  });
  expect(parseLogLine(Buffer.from(`${stamp} stderr F `))).toMatchObject({
    partial: false,
    text: Buffer.alloc(0),
  });
  for (const bad of [
    "",
    "x",
    `${stamp} stdout`,
    `${stamp} stdout F`,
    `${stamp} other F x`,
    "the stdout F x",
    "2026-01-01 stdout F x",
  ])
    expect(parseLogLine(Buffer.from(bad))).toBeUndefined();
});

test("timestamps are shown with nine digits, as runtimes leave out zeros", async () => {
  const file = await logFile(
    [
      "2026-01-01T00:00:00.12Z stdout F a",
      "2026-01-01T00:00:01+00:00 stdout F b",
      "2026-01-01T00:00:01.123456789+02:00 stderr F c",
      "",
    ].join("\n"),
  );
  expect(await read(file, { timestamps: true })).toBe(
    "2026-01-01T00:00:00.120000000Z a\n2026-01-01T00:00:01.000000000Z b\n2026-01-01T00:00:01.123456789+02:00 c\n",
  );
});

test.each([1, undefined])(
  "a container that writes all the time: what was there, last lines %s",
  async (tailLines) => {
    const file = await logFile(line("one") + line("two"));
    const text = await read(file, {
      // Asked before each read of the file.
      isRunning: () => {
        appendFileSync(file, line("more"));
        return true;
      },
      ...(tailLines === undefined ? {} : { tailLines }),
    });
    expect(text).toBe(tailLines === 1 ? "two\n" : "one\ntwo\n");
  },
);

const numbered = [1, 2, 3, 4, 5]
  .map((number) => line(`l${number}`, number))
  .join("");
const pieces =
  line("one", 1) +
  line("two-", 2, "P") +
  line("two", 2) +
  line("three-", 3, "P") +
  line("three", 3);

test.each<[string, string, Partial<LogReaderOptions>, string]>([
  ["all", numbered, {}, "l1\nl2\nl3\nl4\nl5\n"],
  [
    "timestamps",
    line("x", 7),
    { timestamps: true },
    "2026-01-01T00:00:07.000000001Z x\n",
  ],
  ["tail", numbered, { tailLines: 2 }, "l4\nl5\n"],
  ["tail of all", numbered, { tailLines: 5 }, "l1\nl2\nl3\nl4\nl5\n"],
  ["tail of more", numbered, { tailLines: 50 }, "l1\nl2\nl3\nl4\nl5\n"],
  ["tail of none", numbered, { tailLines: 0 }, ""],
  ["since", numbered, { sinceMs: Date.UTC(2026, 0, 1, 0, 0, 4) }, "l4\nl5\n"],
  ["a limit of bytes", numbered, { limitBytes: 4 }, "l1\nl"],
  ["pieces joined", pieces, {}, "one\ntwo-two\nthree-three\n"],
  [
    "pieces are one line to tail",
    pieces,
    { tailLines: 2 },
    "two-two\nthree-three\n",
  ],
  [
    "pieces have one timestamp",
    pieces,
    { tailLines: 1, timestamps: true },
    "2026-01-01T00:00:03.000000001Z three-three\n",
  ],
  [
    "an unfinished last piece",
    line("a") + line("b", 1, "P"),
    { tailLines: 1 },
    "b",
  ],
  [
    "one stream",
    line("o") + line("e", 1, "F", "stderr"),
    { stream: "stderr" },
    "e\n",
  ],
  ["garbage left out", `garbage\n${line("ok")}`, {}, "ok\n"],
  ["an empty file", "", { tailLines: 3 }, ""],
])("%s", async (_what, text, options, wanted) => {
  expect(await read(await logFile(text), options)).toBe(wanted);
});

test("tail works across chunks", async () => {
  const file = await logFile(
    Array.from({ length: 5000 }, (_value, index) =>
      line(`${"x".repeat(index % 200)}#${index}`),
    ).join(""),
  );
  const all = (await read(file)).split("\n");
  for (const tailLines of [1, 700, 4999])
    expect((await read(file, { tailLines })).split("\n")).toEqual(
      all.slice(-tailLines - 1),
    );
});

test("following goes through rotation and ends with the container", async () => {
  const file = await logFile(line("first"));
  let running = true;
  let changed = (): void => undefined;
  let text = "";
  const stream = readLog({
    path: file,
    follow: true,
    timestamps: false,
    isRunning: () => running,
    onStateChange: (listener) => {
      changed = listener;
      return () => undefined;
    },
  });
  stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise((resolve) => stream.once("end", resolve));
  await eventually(() => text === "first\n");
  await fs.appendFile(file, line("second"));
  await eventually(() => text.endsWith("second\n"));
  await fs.rename(file, `${file}.old`);
  await fs.writeFile(file, line("third"));
  await eventually(() => text.endsWith("third\n"));
  await fs.appendFile(file, line("last"));
  running = false;
  changed();
  await ended;
  expect(text).toBe("first\nsecond\nthird\nlast\n");
});

test("rotation renames, compresses and keeps only so many", async () => {
  const file = await logFile("");
  const clock = new FakeClock();
  const reopened: string[] = [];
  const budgeted: number[] = [];
  const logs = createLogFiles({
    async reopen(id) {
      reopened.push(id);
      await fs.writeFile(file, "");
    },
    clock,
    logger: pino({ level: "silent" }),
  });
  const rotation = new LogRotation({
    logs,
    containers: () => [{ id: "c", logPath: file }],
    maxSizeBytes: 100,
    maxWorkers: 2,
    maxFiles: 3,
    intervalMs: 10_000,
    budget: {
      enforce: () => {
        budgeted.push(clock.monotonic());
        return Promise.resolve();
      },
    },
    clock,
    logger: pino({ level: "silent" }),
  });
  expect(await rotation.check()).toBe(10_000);
  await fs.writeFile(file, "x".repeat(50));
  clock.advance(1000);
  // 50 bytes a second: full in one second.
  expect(await rotation.check()).toBe(1000);
  for (let round = 0; round < 4; round++) {
    await fs.writeFile(file, `${round}`.repeat(200));
    await rotation.check();
    clock.advance(1000);
    await eventually(
      async () =>
        !(await fs.readdir(path.dirname(file))).some((name) =>
          name.endsWith(".tmp"),
        ),
    );
  }
  expect(reopened).toHaveLength(4);
  // At the start, then five seconds apart while logs are rotated, once a minute when none is.
  clock.advance(1000);
  await rotation.check();
  clock.advance(10_000);
  await rotation.check();
  clock.advance(50_000);
  await rotation.check();
  expect(budgeted).toEqual([0, 6000, 66_000]);
  await eventually(async () => {
    const names = (await fs.readdir(path.dirname(file))).sort();
    return (
      names.length === 3 &&
      names[1]!.endsWith(".gz") &&
      /^0\.log\.\d{8}-\d{6}$/.test(names[2]!)
    );
  });
});

test("a log that fills twice in a second replaces none, nor does one after the clock was set back", async () => {
  const file = await logFile("");
  const clock = new FakeClock(Date.UTC(2026, 11, 31, 23, 59, 59, 300));
  const logs = createLogFiles({
    reopen: () => fs.writeFile(file, ""),
    clock,
    logger: pino({ level: "silent" }),
  });
  for (const text of ["one", "two", "three"]) {
    await fs.writeFile(file, text);
    await logs.rotate({ id: "c", logPath: file }, 5);
    clock.advance(500);
    if (text === "two") clock.jump(-3_600_000);
  }
  expect((await fs.readdir(path.dirname(file))).sort()).toEqual([
    "0.log",
    "0.log.20261231-235959.gz",
    "0.log.20270101-000000.gz",
    "0.log.20270101-000001",
  ]);
  expect(await fs.readFile(`${file}.20270101-000001`, "utf8")).toBe("three");
});

test("what an interrupted rotation left does not count", async () => {
  const file = await logFile("new");
  const logs = createLogFiles({
    reopen: () => fs.writeFile(file, ""),
    clock: new FakeClock(),
    logger: pino({ level: "silent" }),
  });
  for (const name of [
    "20240101-000001.gz",
    "20240101-000002",
    "20240101-000002.gz",
    "20240101-000003.tmp",
    "20240101-000003",
  ])
    await fs.writeFile(`${file}.${name}`, name);
  await logs.rotate({ id: "c", logPath: file }, 5);
  expect((await fs.readdir(path.dirname(file))).sort()).toEqual([
    "0.log",
    "0.log.20240101-000001.gz",
    "0.log.20240101-000002.gz",
    "0.log.20240101-000003.gz",
    "0.log.20250101-000000",
  ]);
  expect(await fs.readFile(`${file}.20240101-000002.gz`, "utf8")).toBe(
    "20240101-000002.gz",
  );
});

test("the log of a running container that was removed is begun again", async () => {
  const file = await logFile("");
  const clock = new FakeClock();
  let away = true;
  let tries = 0;
  let running = true;
  const rotation = new LogRotation({
    logs: createLogFiles({
      async reopen() {
        tries++;
        if (away) throw new Error("away");
        await fs.writeFile(file, "");
      },
      clock,
      logger: pino({ level: "silent" }),
    }),
    containers: () => (running ? [{ id: "c", logPath: file }] : []),
    maxSizeBytes: 100,
    maxWorkers: 1,
    maxFiles: 3,
    intervalMs: 10_000,
    budget: { enforce: () => Promise.resolve() },
    clock,
    logger: pino({ level: "silent" }),
  });
  await rotation.check();
  await fs.rm(file);
  expect(await rotation.check()).toBe(500);
  // Not before its pause is over.
  expect(await rotation.check()).toBe(500);
  expect(tries).toBe(1);
  away = false;
  clock.advance(500);
  expect(await rotation.check()).toBe(10_000);
  expect(await fs.readFile(file, "utf8")).toBe("");
  // One that ended while its log was looked for stays away.
  await fs.rm(file);
  const looked = rotation.check();
  running = false;
  await looked;
  expect(tries).toBe(2);
});

test("a rotation that the runtime refuses leaves the log where it was", async () => {
  const file = await logFile(line("kept"));
  const logs = createLogFiles({
    reopen: () => Promise.reject(new Error("away")),
    clock: new FakeClock(),
    logger: pino({ level: "silent" }),
  });
  const container = { id: "c", logPath: file };
  await expect(logs.rotate(container, 3)).rejects.toThrow("away");
  expect(await fs.readFile(file, "utf8")).toBe(line("kept"));
  expect(await fs.readdir(path.dirname(file))).toEqual(["0.log"]);
});

test("the end of a log: its last lines, cut to the characters asked for", async () => {
  const text = `${line("first")}${line("par", 1, "P")}${line("tial", 1)}no line\n${line("lä", 2)}`;
  const logPath = await logFile(text);
  const logs = createLogFiles({
    reopen: () => Promise.resolve(),
    clock: new FakeClock(),
    logger: pino({ level: "silent" }),
  });
  const tail = (lines: number, characters: number): Promise<string> =>
    logs.tail({ id: "c", logPath }, lines, characters);
  expect(await tail(80, 2048)).toBe("first\npartial\nlä\n");
  expect(await tail(1, 2048)).toBe("lä\n");
  expect(await tail(80, 4)).toBe("\nlä\n");
  await expect(
    logs.tail({ id: "c", logPath: `${logPath}.none` }, 1, 1),
  ).rejects.toThrow(/ENOENT/);
  expect(await logs.sizeBytes({ id: "c", logPath })).toBe(
    Buffer.byteLength(text),
  );
  expect(await logs.sizeBytes({ id: "c", logPath: "/none" })).toBeUndefined();
});

test("what was put in a log's place is not read: a link, a pipe, a directory", async () => {
  const file = await logFile(line("one"));
  await fs.rename(file, `${file}.real`);
  const logs = createLogFiles({
    reopen: () => Promise.resolve(),
    clock: new FakeClock(),
    logger: pino({ level: "silent" }),
  });
  const container = { id: "c", logPath: file };
  const places: [string, () => Promise<unknown>][] = [
    ["link", () => fs.symlink(`${file}.real`, file)],
    ["pipe", () => Promise.resolve(execFileSync("mkfifo", [file]))],
    ["directory", () => fs.mkdir(file)],
  ];
  for (const [, put] of places) {
    await put();
    await expect(read(file)).rejects.toThrow();
    await expect(logs.tail(container, 10, 100)).rejects.toThrow();
    await fs.rm(file, { recursive: true });
  }
  await fs.rename(`${file}.real`, file);
  expect(await read(file)).toBe("one\n");
});

test("rotation compresses no other file, writes into none, and keeps a log's mode", async () => {
  const file = await logFile(line("one"));
  const directory = path.dirname(file);
  const secret = path.join(directories(), "secret");
  await fs.writeFile(secret, "secret", { mode: 0o600 });
  await fs.chmod(file, 0o640);
  const clock = new FakeClock();
  const logs = createLogFiles({
    reopen: () => fs.writeFile(file, "", { mode: 0o640 }),
    clock,
    logger: pino({ level: "silent" }),
  });
  const older = (stamp: string): string => `${file}.20200101-${stamp}`;
  await fs.symlink(secret, older("000001"));
  execFileSync("mkfifo", [older("000002")]);
  await fs.writeFile(older("000003"), "three", { mode: 0o640 });
  await logs.rotate({ id: "c", logPath: file }, 9);
  const names = await fs.readdir(directory);
  expect(names.filter((name) => name.endsWith(".gz"))).toEqual([
    "0.log.20200101-000003.gz",
  ]);
  expect((await fs.stat(`${older("000003")}.gz`)).mode & 0o777).toBe(0o640);
  expect(await fs.readFile(secret, "utf8")).toBe("secret");
  expect(await fs.readFile(file, "utf8")).toBe("");
});

test("a file without an end of line takes no more memory than the longest line", async () => {
  const file = await logFile("");
  const handle = await fs.open(file, "a");
  await handle.write(line("first"));
  // Holes: it takes no disk.
  await handle.truncate(256 << 20);
  await handle.write(`\n${line("last")}`);
  await handle.close();
  let most = 0;
  const concat = jest.spyOn(Buffer, "concat");
  try {
    expect(await read(file)).toBe("first\nlast\n");
    for (const { value } of concat.mock.results)
      most = Math.max(most, (value as Buffer).length);
  } finally {
    concat.mockRestore();
  }
  expect(most).toBeLessThan(5 << 20);
});
