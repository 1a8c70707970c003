// Every program that given processes and their children run, and the CPU each takes, from the kernel's trace of the
// scheduler (tracefs): nothing is stopped for it, unlike with strace, and it needs no program of its own. Root only.
// The trace follows children by itself; a thread counts for the program that started it, and a fork for its parent's
// program until it runs another.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";

export interface Execution {
  runs: number;
  cpuMs: number;
}

const events = [
  "sched_process_exec",
  "sched_process_fork",
  "sched_stat_runtime",
];
const runcCommands =
  /^(create|start|state|kill|delete|init|exec|update|ps|features|events|pause|resume)$/;
const shimCommands = /^(start|delete)$/;

/** Null-separated words of a process's file; none when it has ended. */
function words(pid: number, file: "cmdline" | "environ"): string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8").split("\0");
  } catch {
    return [];
  }
}

/** The program, with the word that says what it is to do. */
function label(pid: number, path: string): string {
  const [first = "", ...args] = words(pid, "cmdline");
  // What runs from a descriptor, as crun does, is known by the program that started it.
  const file = path.startsWith("/dev/fd/") ? first : path;
  const launcher = file === path && /^crun-/.test(basename(path));
  const name = args.includes("init")
    ? "runc"
    : basename(file).replace(/^crun-.*/, launcher ? "before crun" : "crun");
  const cni = words(pid, "environ")
    .find((each) => each.startsWith("CNI_COMMAND="))
    ?.slice("CNI_COMMAND=".length);
  if (cni !== undefined) return `${name} ${cni}`;
  if (/runc$|crun$/.test(name) && !name.startsWith("containerd-shim"))
    return `${name} ${args.find((each) => runcCommands.test(each)) ?? "?"}`;
  if (name.startsWith("containerd-shim"))
    return `shim ${args.find((each) => shimCommands.test(each)) ?? "(serves the pod)"}`;
  if (name === "shim-starter") return "shim start";
  if (name === "nft" || name === "ip")
    return `${name} ${args.find((each) => !each.startsWith("-")) ?? args[0] ?? ""}`.trim();
  return launcher || /^\/(usr\/|opt\/)?(s?bin|lib|cni)/.test(path)
    ? name
    : `program of a container`;
}

export class ExecutionTrace {
  readonly #mount: string;
  readonly #instance: string;
  readonly #reader: ChildProcess;
  /** By thread: what it runs. */
  readonly #running = new Map<number, string>();
  #counts = new Map<string, Execution>();

  /** @param roots process ids with the names they are counted by */
  constructor(roots: ReadonlyMap<number, string>) {
    this.#mount = mkdtempSync(join(tmpdir(), "orbit-trace-"));
    execFileSync("mount", ["-t", "tracefs", "nodev", this.#mount]);
    this.#instance = join(this.#mount, "instances", `orbit-${process.pid}`);
    mkdirSync(this.#instance);
    this.#write("buffer_size_kb", "16384");
    this.#write("options/event-fork", "1");
    const threads = [...roots].flatMap(([pid, name]) =>
      readdirSync(`/proc/${pid}/task`).map((tid) => {
        this.#running.set(Number(tid), name);
        return tid;
      }),
    );
    this.#write("set_event_pid", threads.join(" "));
    for (const event of events)
      this.#write(`events/sched/${event}/enable`, "1");
    this.#reader = spawn("cat", [join(this.#instance, "trace_pipe")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    createInterface({ input: this.#reader.stdout! }).on("line", (line) =>
      this.#note(line),
    );
  }

  /** What was counted since the last call. */
  take(): Map<string, Execution> {
    const taken = this.#counts;
    this.#counts = new Map();
    return taken;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#reader.once("exit", resolve));
    this.#reader.kill();
    await ended;
    rmdirSync(this.#instance);
    execFileSync("umount", [this.#mount]);
    rmdirSync(this.#mount);
  }

  #write(file: string, text: string): void {
    writeFileSync(join(this.#instance, file), text);
  }

  #count(name: string): Execution {
    const found = this.#counts.get(name) ?? { runs: 0, cpuMs: 0 };
    this.#counts.set(name, found);
    return found;
  }

  #note(line: string): void {
    const [, event, rest = ""] = /: (sched_\w+): (.*)$/.exec(line) ?? [];
    const number = (name: string): number =>
      Number(new RegExp(`(?:^| )${name}=(\\d+)`).exec(rest)?.[1]);
    if (event === "sched_stat_runtime") {
      const name = this.#running.get(number("pid"));
      if (name !== undefined)
        this.#count(name).cpuMs += number("runtime") / 1e6;
    } else if (event === "sched_process_fork") {
      const name = this.#running.get(number("pid"));
      if (name !== undefined) this.#running.set(number("child_pid"), name);
    } else if (event === "sched_process_exec") {
      const pid = number("pid");
      const path = /filename=(\S*)/.exec(rest)?.[1] ?? "";
      const name = label(pid, path);
      this.#running.set(pid, name);
      this.#count(name).runs++;
    }
  }
}
