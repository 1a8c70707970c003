// Container logs that a runtime writes as files in the CRI format, one a container: reading, and rotation by renaming. The
// newest rotated file stays plain, as readers may still be at it; older ones are compressed and the oldest removed.
import { lstat, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { ContainerLogs, LoggedContainer } from "./container-logs.ts";
import { readLog, readLogTail } from "./log-reader.ts";
import { logFileFlags, openLogFile, type LogSource } from "./regular-file.ts";

interface LogFilesOptions {
  /** The container's log was renamed: its writer begins a new file at the path. */
  reopen: (containerId: string) => Promise<void>;
  /**
   * Where another program writes the log: resolves when it has what the container wrote before, all of it unless the
   * container may write on. Never rejects.
   */
  complete?: (containerId: string, mayWrite: boolean) => Promise<void>;
  /** Logs are links to Docker's own files, as cri-dockerd makes them; otherwise no link is followed. */
  linkToDocker?: () => boolean;
  clock: Clock;
  logger: Logger;
}

export function createLogFiles(options: LogFilesOptions): ContainerLogs {
  const sourceOf = ({ id, logPath: path }: LoggedContainer): LogSource => ({
    path,
    ...(options.linkToDocker?.() ? { dockerId: id } : {}),
  });
  return {
    open: (container, chosen) =>
      readLog({
        ...chosen,
        ...sourceOf(container),
        complete: async (mayWrite) =>
          options.complete?.(container.id, mayWrite),
      }),
    async tail(container, maxLines, maxCharacters) {
      await options.complete?.(container.id, false);
      return readLogTail(sourceOf(container), maxLines, maxCharacters);
    },
    async sizeBytes({ logPath }) {
      return (await lstat(logPath).catch(() => undefined))?.size;
    },
    async renew({ id, logPath }) {
      // Docker's own files are Docker's to begin.
      if (logPath !== "" && !options.linkToDocker?.()) await options.reopen(id);
    },
    rotate: (container, maxFiles) => rotate(options, container, maxFiles),
  };
}

async function rotate(
  { reopen, clock, logger }: LogFilesOptions,
  { id, logPath }: LoggedContainer,
  maxFiles: number,
): Promise<void> {
  const directory = dirname(logPath);
  const prefix = `${basename(logPath)}.`;
  const older = (await readdir(directory))
    .filter((name) => name.startsWith(prefix))
    .sort();
  // What an interrupted rotation left: half a compressed file, or the plain one beside the whole of it.
  const isLeftOver = (name: string): boolean =>
    name.endsWith(".tmp") || older.includes(`${name}.gz`);
  for (const name of older.filter(isLeftOver))
    await rm(join(directory, name), { force: true });
  const rotated = older.filter((name) => !isLeftOver(name));
  const target = `${logPath}.${stampAfter(rotated.at(-1)?.slice(prefix.length), clock.now())}`;
  // With the new one and the one about to be renamed, maxFiles are left.
  const surplus = rotated.splice(
    0,
    Math.max(0, rotated.length - (maxFiles - 2)),
  );
  for (const name of surplus) await rm(join(directory, name), { force: true });
  await rename(logPath, target);
  try {
    await reopen(id);
  } catch (error) {
    await rename(target, logPath).catch(() => undefined);
    throw error;
  }
  // Awaited, so that the next rotation does not meet half of it.
  for (const name of rotated.filter((each) => !each.endsWith(".gz")))
    await compress(join(directory, name)).catch((error: unknown) =>
      logger.warn({ err: error, file: name }, "can't compress a rotated log"),
    );
}

/**
 * The second of a rotation, as the names of rotated logs have it, and later than that of the newest of them: a log that
 * fills twice in a second replaces none, and names stay in order when the clock was set back.
 */
function stampAfter(newest: string | undefined, nowMs: number): string {
  const [, date, time] =
    /^(\d{4}\d\d\d\d)-(\d{6})(?:\.gz)?$/.exec(newest ?? "") ?? [];
  const newestMs =
    date === undefined || time === undefined
      ? Number.NaN
      : Date.parse(
          `${date.replace(/(....)(..)(..)/, "$1-$2-$3")}T${time.replace(/(..)(..)(..)/, "$1:$2:$3")}Z`,
        );
  const ms = Number.isNaN(newestMs) ? nowMs : Math.max(nowMs, newestMs + 1000);
  return new Date(ms)
    .toISOString()
    .replace(/[-:]/g, "")
    .replace("T", "-")
    .slice(0, 15);
}

async function compress(path: string): Promise<void> {
  const temporary = `${path}.tmp`;
  const log = await openLogFile(path, logFileFlags.read);
  try {
    const { mode } = await log.stat();
    await rm(temporary, { force: true });
    const compressed = await openLogFile(
      temporary,
      logFileFlags.create,
      mode & 0o777,
    );
    // The stream closes it, also when another one fails.
    await pipeline(
      log.createReadStream({ autoClose: false }),
      createGzip({ level: 1 }),
      compressed.createWriteStream(),
    );
  } finally {
    await log.close();
  }
  await rename(temporary, `${path}.gz`);
  await rm(path, { force: true });
}
