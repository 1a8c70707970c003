// `--lock-file`: one agent at a time on a machine. A lock that another holds is waited for; with --exit-on-lock-contention
// the agent stops as soon as another waits, so that the next one (a newer version, say) takes over. Pods keep running.
//
// Node can't call flock(2): the program flock (util-linux) holds the lock as long as its standard input, a pipe of this
// process, is open, which the kernel closes however this process ends.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../../api/clock.ts";
import type { OptionValues } from "../../options/parse.ts";
import { DependencyError, UsageError } from "../../options/table.ts";

/** How often the kernel's table of locks is looked at: it has no event for a lock that is waited for. */
const lookEveryMs = 1000;

interface LockFileOptions {
  readonly values: OptionValues;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The kernel's table. */
  readonly table?: string;
}

interface LockFile {
  /** Calls back once, when another waits for the lock or has removed the file; never without --exit-on-lock-contention. */
  onContention(then: () => void): void;
  release(): void;
}

/** Waits for the lock. Undefined without the option. @throws UsageError, DependencyError without the program */
export async function holdLockFile({
  values,
  clock,
  logger,
  table = "/proc/locks",
}: LockFileOptions): Promise<LockFile | undefined> {
  const file = values.optionalText("lock-file");
  const exits = values.flag("exit-on-lock-contention");
  if (!file) {
    if (exits)
      throw new UsageError(
        "--exit-on-lock-contention: cannot exit on lock file contention: no lock file specified",
      );
    return undefined;
  }
  logger.info({ file }, "waiting for the lock");
  const holder = spawn("flock", [file, "sh", "-c", "echo; exec cat >&2"], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  let complaint = "";
  holder.stderr.on("data", (text) => (complaint += String(text)));
  const [how] = (await Promise.race([
    once(holder.stdout, "data"),
    once(holder, "exit"),
    once(holder, "error"),
  ]).catch((error: unknown) => [error])) as [unknown];
  if (!Buffer.isBuffer(how))
    throw new DependencyError(
      `--lock-file: unable to acquire file lock on ${JSON.stringify(file)}: ${complaint.trim() || String(how)}`,
    );
  const { ino } = await stat(file);
  let timer: Timer | undefined;
  return {
    onContention(then) {
      if (!exits) return;
      const look = async (): Promise<void> => {
        const now = await stat(file).catch(() => undefined);
        const locks = await readFile(table, "utf8").catch(() => "");
        if (now?.ino !== ino || isWaitedFor(locks, ino)) {
          logger.warn({ file }, "another waits for the lock: stopping");
          timer = undefined;
          then();
        } else if (timer) timer = clock.after(lookEveryMs, () => void look());
      };
      timer = clock.after(lookEveryMs, () => void look());
    },
    release() {
      timer?.cancel();
      timer = undefined;
      holder.stdin.destroy();
    },
  };
}

/** `12: -> FLOCK  ADVISORY  WRITE 4711 fe:00:1048 0 EOF` is a lock that is waited for. */
const isWaitedFor = (locks: string, inode: number): boolean =>
  locks.split("\n").some((line) => {
    const [, waits, kind, , , , place = ""] = line.trim().split(/\s+/);
    return (
      waits === "->" &&
      kind === "FLOCK" &&
      Number(place.split(":")[2]) === inode
    );
  });
