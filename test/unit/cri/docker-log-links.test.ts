// Behind cri-dockerd a container's log is a link to Docker's own file: that one file is read, and no other link is followed.
import * as fs from "node:fs/promises";
import * as path from "node:path";
import pino from "pino";
import { createLogFiles } from "../../../cri/logs/log-files.ts";
import type {
  ContainerLogs,
  LogOptions,
} from "../../../cri/logs/container-logs.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
const id = "c".repeat(64);

const entry = (log: string, stream = "stdout"): string =>
  `${JSON.stringify({ log, stream, time: "2026-01-01T00:00:00.123456789Z" })}\n`;

const logsOf = (linkToDocker: boolean): ContainerLogs =>
  createLogFiles({
    reopen: () => Promise.resolve(),
    linkToDocker: () => linkToDocker,
    clock: new FakeClock(),
    logger: pino({ level: "silent" }),
  });

/** Docker's file of the container, and a link to it. */
async function linked(
  container = id,
): Promise<{ logPath: string; file: string }> {
  const directory = directories();
  const own = path.join(directory, "containers", container);
  await fs.mkdir(own, { recursive: true });
  const file = path.join(own, `${container}-json.log`);
  await fs.writeFile(
    file,
    entry("one\n") + entry("err\n", "stderr") + entry("par") + entry("tial\n"),
  );
  const logPath = path.join(directory, "0.log");
  await fs.symlink(file, logPath);
  return { logPath, file };
}

async function read(
  logs: ContainerLogs,
  logPath: string,
  options: Partial<LogOptions> = {},
): Promise<string> {
  let text = "";
  const chosen = { follow: false, timestamps: false, isRunning: () => false };
  const opened = logs.open({ id, logPath }, { ...chosen, ...options });
  for await (const chunk of opened) text += String(chunk);
  return text;
}

test("the log is read out of Docker's entries", async () => {
  const { logPath } = await linked();
  const logs = logsOf(true);
  expect(await read(logs, logPath)).toBe("one\nerr\npartial\n");
  expect(await read(logs, logPath, { stream: "stderr" })).toBe("err\n");
  expect(await read(logs, logPath, { tailLines: 2 })).toBe("err\npartial\n");
  expect(await read(logs, logPath, { timestamps: true })).toMatch(
    /^2026-01-01T00:00:00.123456789Z one\n/,
  );
  expect(await logs.tail({ id, logPath }, 10, 100)).toBe("one\nerr\npartial\n");
  // Following ends with the container, and begins no second time.
  expect(await read(logs, logPath, { follow: true })).toBe(
    "one\nerr\npartial\n",
  );
});

test("another runtime's log is no link", async () => {
  const { logPath } = await linked();
  await expect(read(logsOf(false), logPath)).rejects.toThrow("ELOOP");
});

test("a link to another container's log, or through another link, is not followed", async () => {
  const logs = logsOf(true);
  const other = await linked("d".repeat(64));
  await expect(read(logs, other.logPath)).rejects.toThrow("ELOOP");

  const { logPath, file } = await linked();
  await fs.rename(file, `${file}.real`);
  await fs.symlink(`${file}.real`, file);
  await expect(read(logs, logPath)).rejects.toThrow("ELOOP");

  const directory = directories();
  await fs.mkdir(path.join(directory, "secrets"));
  await fs.writeFile(
    path.join(directory, "secrets", `${id}-json.log`),
    entry("secret\n"),
  );
  await fs.mkdir(path.join(directory, "containers"));
  await fs.symlink(
    path.join(directory, "secrets"),
    path.join(directory, "containers", id),
  );
  const through = path.join(directory, "0.log");
  await fs.symlink(
    path.join(directory, "containers", id, `${id}-json.log`),
    through,
  );
  await expect(read(logs, through)).rejects.toThrow("not a regular file");
});
