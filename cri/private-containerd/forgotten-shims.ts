// Ends shims that their containerd has forgotten. One that is killed while it makes a sandbox finds a part of the task at its
// next start, or nothing: CRI then shows the sandbox as not ready, or not at all, and stops and removes it without an error,
// but the shim and what runs below it stay, and keep the pod's cgroup.
// A shim is forgotten when it names this containerd's socket and CRI's namespace, and CRI knows no sandbox of its id that is
// ready and no container in it that runs, at two looks in a row. One that is younger than its containerd may be being
// started, but not for as long as half an hour: then its start helper was one of a containerd that was killed meanwhile,
// or its request was given up. The requests of an agent end with it, and containerd gives up what they made within
// seconds: what is older than this process, the agent that follows, is not waited for any longer.
// One of another containerd names another socket.
// Each process is known by pid and start time; where anything is not as it is expected, it is left alone.
import { execFile } from "node:child_process";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { backoffMs } from "../../api/queueing/backoff.ts";
import { findProgram } from "../process.ts";
import type { Runtime } from "../runtime.ts";
import { ociStateDirectory, shimName } from "./shim-script.ts";

interface ForgottenShimsOptions {
  /** As containerd's configuration names it. */
  socket: string;
  /** Of the containerd that runs now. */
  containerdPid: () => number;
  runtime: Pick<Runtime, "listPodSandboxes" | "listContainers">;
  clock: Clock;
  logger: Logger;
  /** Replaced in tests. */
  proc?: string;
  ownPid?: number;
  longestStartMs?: number;
  kill?: (pid: number) => void;
}

interface Shim {
  readonly namespace: string;
  readonly id: string;
  readonly address: string;
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly startTicks: bigint;
}

interface ServingShim {
  readonly id: string;
  readonly process: Process;
}

interface UnknownShim extends ServingShim {
  /** How long its start may take, from the first look that finds it. */
  readonly startMs: number;
}

interface Suspect {
  readonly startTicks: bigint;
  readonly sinceMs: number;
}

const namespace = "k8s.io";
/** Its children may start others while they are ended. */
const rounds = 20;
/** After each start of containerd; later a look costs a few milliseconds each ten minutes. */
const looks = { baseMs: 2_000, maxMs: 600_000 };
/** Far above what any request to the runtime may take. */
const longestStartMs = 30 * 60_000;
/** containerd gives itself ten seconds to clean up after a request that was given up. */
const givenUpStartMs = 20_000;

/** Of the serving shim's command line; the helpers that containerd runs have an action at their end. */
function shimOf(cmdline: string): Shim | undefined {
  const [program = "", ...given] = cmdline.split("\0").slice(0, -1);
  const [a, space, b, id, c, address, ...more] = given;
  if (!program.endsWith(`/${shimName}`) || more.length > 0) return undefined;
  if (a !== "-namespace" || b !== "-id" || c !== "-address") return undefined;
  if (!space || !address || !/^[0-9a-f]{64}$/.test(id ?? "")) return undefined;
  return { namespace: space, id: id!, address };
}

/** undefined: it has ended. */
async function processOf(
  proc: string,
  pid: number,
): Promise<Process | undefined> {
  const stat = await fs
    .readFile(join(proc, String(pid), "stat"), "utf8")
    .catch(() => "");
  // The command is in parentheses and may hold blanks and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parent, ticks] = [fields[0], fields[1], fields[19]];
  if (!parent || !ticks || state === "Z") return undefined;
  return { pid, parent: Number(parent), startTicks: BigInt(ticks) };
}

async function pids(proc: string): Promise<number[]> {
  const names = await fs.readdir(proc);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

/** Those that serve at the socket. */
async function servingShims(
  proc: string,
  socket: string,
): Promise<ServingShim[]> {
  const all = await Promise.all(
    (await pids(proc)).map(async (pid): Promise<ServingShim[]> => {
      const at = join(proc, String(pid));
      const shim = shimOf(
        await fs.readFile(join(at, "cmdline"), "utf8").catch(() => ""),
      );
      if (shim?.namespace !== namespace || shim.address !== socket) return [];
      const program = await fs.readlink(join(at, "exe")).catch(() => "");
      // Its package may have been upgraded meanwhile.
      if (!program.replace(/ \(deleted\)$/, "").endsWith(`/${shimName}`))
        return [];
      const found = await processOf(proc, pid);
      return found ? [{ id: shim.id, process: found }] : [];
    }),
  );
  return all.flat();
}

async function descendants(proc: string, root: Process): Promise<Process[]> {
  const all = await Promise.all(
    (await pids(proc)).map((pid) => processOf(proc, pid)),
  );
  const below: Process[] = [];
  for (let parents = new Set([root.pid]); parents.size > 0;) {
    // A child is not older than its parent.
    const children = all.filter(
      (each): each is Process =>
        each !== undefined &&
        parents.has(each.parent) &&
        each.startTicks >= root.startTicks,
    );
    below.push(...children);
    parents = new Set(children.map(({ pid }) => pid));
  }
  return below;
}

/** What OCI runtimes keep of a container, below a directory of its id: the file, and the first process in it. */
const ociStates = [
  { program: "runc", file: "state.json", pid: /"init_process_pid":(\d+)/ },
  { program: "crun", file: "status", pid: /"pid"\s*:\s*(\d+)/ },
];

/** Whose container it is; runc also removes what a start that was cut short has left. */
async function ociStateOf(
  directory: string,
): Promise<{ program: string; pid?: number }> {
  for (const { program, file, pid } of ociStates) {
    const text = await fs
      .readFile(join(directory, file), "utf8")
      .catch(() => undefined);
    if (text !== undefined)
      return { program, pid: Number(pid.exec(text)?.[1]) };
  }
  return { program: "runc" };
}

/** What they keep of containers whose first process is one of these, and their own cgroups. */
async function removeOciState(
  id: string,
  ended: ReadonlySet<number>,
): Promise<void> {
  const root = join(ociStateDirectory, namespace);
  for (const name of await fs.readdir(root).catch(() => [])) {
    const { program, pid } = await ociStateOf(join(root, name));
    if (name !== id && (pid === undefined || !ended.has(pid))) continue;
    const runtime = await findProgram(program);
    if (runtime === undefined) continue;
    await new Promise<void>((resolve) => {
      execFile(runtime, ["--root", root, "delete", "--force", name], () =>
        resolve(),
      );
    });
  }
}

export class ForgottenShims {
  readonly #options: ForgottenShimsOptions;
  readonly #proc: string;
  readonly #kill: (pid: number) => void;
  readonly #ownPid: number;
  readonly #longestStartMs: number;
  /** Of the last look, by pid. */
  #suspects = new Map<number, Suspect>();
  #timer: Timer | undefined;
  #looked = 0;
  #looking: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(options: ForgottenShimsOptions) {
    this.#options = options;
    this.#proc = options.proc ?? "/proc";
    this.#ownPid = options.ownPid ?? process.pid;
    this.#longestStartMs = options.longestStartMs ?? longestStartMs;
    this.#kill = options.kill ?? ((pid) => process.kill(pid, "SIGKILL"));
  }

  /** Looks soon, and again; to be called each time containerd was started. */
  start(): void {
    this.#looked = 0;
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#looking;
  }

  #schedule(): void {
    this.#timer?.cancel();
    if (this.#stopped) return;
    const { clock } = this.#options;
    this.#timer = clock.after(backoffMs(looks, this.#looked++), () => {
      this.#looking = this.look();
      void this.#looking.then(() => this.#schedule());
    });
  }

  /** Ends what was forgotten and resolves to the ids. A failure is logged: it costs memory, and no pod. */
  async look(): Promise<string[]> {
    const { clock, logger } = this.#options;
    try {
      const found = await this.#unknown();
      const nowMs = clock.monotonic();
      const before = this.#suspects;
      this.#suspects = new Map(
        found.map(({ process: { pid, startTicks } }) => {
          const known = before.get(pid);
          return known?.startTicks === startTicks
            ? [pid, known]
            : [pid, { startTicks, sinceMs: nowMs }];
        }),
      );
      const ended: string[] = [];
      for (const { id, process: shim, startMs } of found) {
        const suspect = before.get(shim.pid);
        if (suspect?.startTicks !== shim.startTicks) continue;
        if (nowMs - suspect.sinceMs < startMs) continue;
        await this.#end(id, shim);
        logger.warn(
          { sandbox: id, pid: shim.pid },
          "ended a sandbox that a containerd forgot when it was killed",
        );
        ended.push(id);
      }
      return ended;
    } catch (error) {
      this.#suspects.clear();
      logger.debug({ err: error }, "can't look for forgotten sandboxes");
      return [];
    }
  }

  async #unknown(): Promise<UnknownShim[]> {
    const { socket, containerdPid, runtime } = this.#options;
    const containerd = await processOf(this.#proc, containerdPid());
    if (containerd === undefined) return [];
    const serving = await servingShims(this.#proc, socket);
    if (serving.length === 0) return [];
    const [sandboxes, containers] = await Promise.all([
      runtime.listPodSandboxes(),
      runtime.listContainers(),
    ]);
    const known = new Set([
      ...sandboxes.filter(({ ready }) => ready).map(({ id }) => id),
      ...containers
        .filter(({ state }) => state === "running" || state === "unknown")
        .map(({ sandboxId }) => sandboxId),
    ]);
    // Another containerd may have answered.
    const now = await processOf(this.#proc, containerdPid());
    if (now?.startTicks !== containerd.startTicks) return [];
    const own = await processOf(this.#proc, this.#ownPid);
    const startMs = (ticks: bigint): number => {
      if (ticks < containerd.startTicks) return 0;
      return own !== undefined && ticks < own.startTicks
        ? Math.min(givenUpStartMs, this.#longestStartMs)
        : this.#longestStartMs;
    };
    return serving
      .filter(({ id }) => !known.has(id))
      .map((shim) => ({ ...shim, startMs: startMs(shim.process.startTicks) }));
  }

  async #end(id: string, shim: Process): Promise<void> {
    const isSame = async ({ pid, startTicks }: Process): Promise<boolean> =>
      (await processOf(this.#proc, pid))?.startTicks === startTicks;
    const ended = new Set<number>();
    const end = async (each: Process): Promise<void> => {
      if (!(await isSame(each))) return;
      try {
        this.#kill(each.pid);
        ended.add(each.pid);
      } catch {
        // It ended meanwhile.
      }
    };
    // What is below it first: orphans of it look like any others.
    for (let round = 0; round < rounds && (await isSame(shim)); round++) {
      const below = await descendants(this.#proc, shim);
      if (below.length === 0) break;
      for (const each of below) await end(each);
      await new Promise<void>((resolve) => {
        this.#options.clock.after(2 * (round + 1), resolve);
      });
    }
    await end(shim);
    await removeOciState(id, ended);
  }
}
