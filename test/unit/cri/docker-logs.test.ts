// The copies of the daemon's logs: each entry once, through rotation, restarts at any point, and damage.
import * as fs from "node:fs";
import * as path from "node:path";
import { text as textOf } from "node:stream/consumers";
import pino from "pino";
import { systemClock, type Clock } from "../../../api/clock.ts";
import { convertEntries } from "../../../cri/docker/logs/json-log.ts";
import { LogCopier } from "../../../cri/docker/logs/log-copier.ts";
import { LogCopiers } from "../../../cri/docker/logs/log-copiers.ts";
import {
  positionFile,
  readPosition,
} from "../../../cri/docker/logs/log-position.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const made: LogCopier[] = [];
afterAll(async () => {
  // Those of one container one after another: each keeps the position of it.
  for (const copier of made) await copier.close();
});

const directories = useTempDirectories();
const logger = pino({ level: "silent" });

let tick = 0;
const entry = (text: string, stream = "stdout"): string => {
  const time = new Date(1_800_000_000_000 + tick++).toISOString();
  return `${JSON.stringify({ log: text, stream, time })}\n`;
};

interface Container {
  source: string;
  logPath: string;
  write(...texts: string[]): void;
  /** As the daemon does it: one older file is kept. */
  rotate(): void;
  copied(): string[];
  copier(clock?: Clock): LogCopier;
}

function container(): Container {
  const directory = directories();
  const source = path.join(directory, "id-json.log");
  const logPath = path.join(directory, "pods/main/0.log");
  return {
    source,
    logPath,
    write: (...texts) =>
      fs.appendFileSync(source, texts.map((text) => entry(text)).join("")),
    rotate() {
      fs.renameSync(source, `${source}.1`);
      fs.writeFileSync(source, "");
    },
    copied: () =>
      (fs.existsSync(logPath) ? fs.readFileSync(logPath, "utf8") : "")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => line.split(" ").slice(3).join(" ")),
    // Without a clock that goes on nothing happens but what a test asks for.
    copier(clock = new FakeClock()) {
      const copier = new LogCopier({ source, logPath, clock, logger });
      made.push(copier);
      return copier;
    },
  };
}

describe("entries", () => {
  test("become lines in the CRI format", () => {
    const input = Buffer.from(
      '{"log":"a b\\n","stream":"stdout","time":"2026-01-01T00:00:00.1Z"}\n' +
        '{"log":"no end","stream":"stderr","time":"2026-01-01T00:00:00.2Z"}\n' +
        '{"log":"ü\\u0000\\r\\n","stream":"stdout","time":"2026-01-01T00:00:00.3Z"}\n' +
        '{"log":"cut',
    );
    expect(convertEntries(input)).toEqual({
      text:
        "2026-01-01T00:00:00.1Z stdout F a b\n" +
        "2026-01-01T00:00:00.2Z stderr P no end\n" +
        "2026-01-01T00:00:00.3Z stdout F ü\u0000\r\n",
      entries: 3,
      bytes: input.length - '{"log":"cut'.length,
      first: "2026-01-01T00:00:00.1Z",
    });
  });

  test.each([
    "garbage",
    "null",
    "[]",
    '{"log":1}',
    '{"time":5,"log":"x"}',
    '{"log":"x","stream":"stdout","time":"a\\nb stdout F forged"}',
  ])("%s is one line that no reader shows", (text) => {
    const { text: line, entries } = convertEntries(Buffer.from(`${text}\n`));
    expect(entries).toBe(1);
    expect(line).toBe("#\n");
  });

  test("a text with a newline within stays one line", () => {
    const forged = { log: "a\n2026 stdout F b\n", stream: "x", time: "t" };
    const { text } = convertEntries(Buffer.from(`${JSON.stringify(forged)}\n`));
    expect(text.split("\n")).toHaveLength(2);
  });
});

test("what is written is copied, from before the start and after it", async () => {
  const one = container();
  const copier = one.copier(systemClock);
  expect(await copier.open()).toBe(true);
  copier.follow();
  one.write("1\n", "2\n");
  await eventually(() => one.copied().length === 2);
  one.write("3\n");
  await eventually(() => one.copied().length === 3);
  await copier.finish();
  expect(one.copied()).toEqual(["1", "2", "3"]);
  expect((await readPosition(one.logPath))?.done).toBe(true);
  // Another one has nothing to do.
  expect(await one.copier().open()).toBe(false);
});

test("through two rotations of the daemon at once nothing that it kept is lost or doubled", async () => {
  const one = container();
  const copier = one.copier();
  await copier.open();
  one.write("1\n");
  await copier.drain();
  one.write("2\n");
  one.rotate();
  one.write("3\n");
  await copier.drain();
  one.write("4\n");
  one.rotate();
  one.write("5\n");
  one.rotate();
  one.write("6\n");
  await copier.finish();
  expect(one.copied()).toEqual(["1", "2", "3", "4", "5", "6"]);
});

test("a process killed at any point: the next one goes on where the copy ends", async () => {
  const one = container();
  const written: string[] = [];
  let copier = one.copier();
  await copier.open();
  for (let step = 0; step < 40; step++) {
    for (let count = 0; count <= step % 4; count++) {
      written.push(`${step}.${count}`);
      one.write(`${step}.${count}\n`);
    }
    // Saved, or not, as far as the last save; the copy is ahead of it.
    await copier.drain();
    if (step % 7 === 6) {
      one.rotate();
      if (step % 2 === 0) await copier.drain();
    }
    if (step % 3 === 2) {
      // The last one is left as a killed process leaves it: nothing is closed or saved.
      copier = one.copier();
      await copier.open();
    }
  }
  await copier.finish();
  expect(one.copied()).toEqual(written);
});

test("a copy whose last line was cut by a power loss gets the line again", async () => {
  const one = container();
  const copier = one.copier();
  await copier.open();
  one.write("1\n", "2\n", "3\n");
  await copier.drain();
  fs.truncateSync(one.logPath, fs.statSync(one.logPath).size - 2);
  const next = one.copier();
  await next.open();
  await next.finish();
  expect(one.copied()).toEqual(["1", "2", "3"]);
});

test("more was written than the daemon keeps: the rest is copied, once", async () => {
  const one = container();
  const copier = one.copier();
  await copier.open();
  one.write("1\n");
  await copier.drain();
  await copier.close();
  for (const text of ["2\n", "3\n", "4\n"]) {
    one.rotate();
    one.write(text);
  }
  const next = one.copier();
  await next.open();
  await next.finish();
  expect(one.copied()).toEqual(["1", "3", "4"]);
});

test("the copy is rotated: nothing is lost, also when the process is killed right after", async () => {
  const one = container();
  const copiers = new LogCopiers({ clock: systemClock, logger });
  const id = "c".repeat(64);
  const root = path.dirname(one.source);
  const source = path.join(root, `containers/${id}/${id}-json.log`);
  fs.mkdirSync(path.dirname(source), { recursive: true });
  fs.writeFileSync(source, entry("1\n"));
  await copiers.begin(id, one.logPath, root);
  const logged = { id, logPath: one.logPath };
  expect(await copiers.logs.tail(logged, 5, 100)).toBe("1\n");
  await copiers.logs.rotate(logged, 3);
  fs.appendFileSync(source, entry("2\n"));
  await eventually(() => one.copied().includes("2"));
  const next = new LogCopiers({ clock: systemClock, logger });
  await next.begin(id, one.logPath, root);
  fs.appendFileSync(source, entry("3\n"));
  await next.finish(id);
  await copiers.close();
  expect(one.copied().slice(0, 2)).toEqual(["2", "3"]);
  const [rotated] = fs
    .readdirSync(path.dirname(one.logPath))
    .filter((name) => name.startsWith("0.log."));
  expect(
    fs.readFileSync(path.join(path.dirname(one.logPath), rotated!), "utf8"),
  ).toMatch(/ stdout F 1\n$/);
  await next.forget(id);
  expect(fs.existsSync(positionFile(one.logPath))).toBe(false);
});

test.each([false, true])(
  "a reader finds what was written before it asked (may write on: %s)",
  async (running) => {
    const one = container();
    // Without its ticks nothing is copied by itself.
    const copiers = new LogCopiers({ clock: new FakeClock(), logger });
    const id = "d".repeat(64);
    const root = path.dirname(one.source);
    const source = path.join(root, `containers/${id}/${id}-json.log`);
    fs.mkdirSync(path.dirname(source), { recursive: true });
    await copiers.begin(id, one.logPath, root);
    fs.writeFileSync(source, entry("last words\n"));
    const log = copiers.logs.open(
      { id, logPath: one.logPath },
      { follow: false, timestamps: false, isRunning: () => running },
    );
    expect(await textOf(log)).toBe("last words\n");
    await copiers.close();
  },
);

test("a log that can't be copied fails nothing else", async () => {
  const directory = directories();
  fs.writeFileSync(path.join(directory, "file"), "");
  const copiers = new LogCopiers({ clock: systemClock, logger });
  await copiers.begin("a", path.join(directory, "file/0.log"), directory);
  await copiers.finish("a");
  await copiers.forget("a");
  await copiers.begin("b", "", directory);
  expect(copiers.copies("b")).toBe(false);
});

test("a copy is written to no file that a link leads to", async () => {
  const [place, elsewhere] = [directories(), directories()];
  const source = path.join(place, "source.log");
  fs.writeFileSync(source, entry("one\n"));
  const secret = path.join(elsewhere, "secret");
  fs.writeFileSync(secret, "secret");
  const logPath = path.join(place, "0.log");
  const copier = (): LogCopier =>
    new LogCopier({ source, logPath, clock: systemClock, logger });
  fs.symlinkSync(secret, logPath);
  await expect(copier().open()).rejects.toThrow(/ELOOP/);
  fs.rmSync(logPath);
  fs.symlinkSync(secret, `${positionFile(logPath)}.new`);
  fs.symlinkSync(secret, positionFile(logPath));
  const good = copier();
  made.push(good);
  expect(await good.open()).toBe(true);
  await good.drain();
  expect(fs.readFileSync(logPath, "utf8")).toMatch(/ stdout F one\n$/);
  expect(fs.readFileSync(secret, "utf8")).toBe("secret");
});
