// A small machine with systemd as process 1, for tests of the service: systemd-nspawn in namespaces of its own (processes,
// mounts, network, host name, cgroups), so that nothing of the host changes outside of one directory and one cgroup.
// boot() and halt() are those of a real machine but for the kernel: the disk stays between them. clean() removes all.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { eventually } from "../eventually.ts";
import { runCommand, type CommandResult } from "../kubectl.ts";
import { announce } from "../run/run-state.ts";
import { makeTempDirectory, removeTempDirectory } from "../temp-directory.ts";
import { makeGuestRoot } from "./guest-root.ts";
import {
  cgroupsNamed,
  isUnified,
  makeCgroups,
  removeCgroups,
} from "./host-cgroups.ts";

export interface SystemdMachine {
  readonly hostname: string;
  /** The guest's /var, seen from the host. */
  readonly var: string;
  /** Resolves when multi-user.target is reached. */
  boot(): Promise<void>;
  /** Powers off in order; resolves when the last process is gone. */
  halt(): Promise<void>;
  /** As a user asks for it, through logind, which waits for those that hold it up; needs `logind`. */
  powerOff(): Promise<void>;
  /** Runs a shell script as root inside; never rejects because of its exit code. */
  run(script: string, timeoutMs?: number): Promise<CommandResult>;
  /** Its output; rejects when the script fails. */
  sh(script: string): Promise<string>;
  /** What the guest wrote to its console. */
  console(): string;
  clean(): Promise<void>;
}

const repository = path.join(__dirname, "../../..");
const bootTimeoutMs = 60_000;
const haltTimeoutMs = 120_000;

/** Names precisely what the host lacks: such a test must fail there, and say why. */
async function requireHost(cgroup: string): Promise<void> {
  const lacks = (what: string): never => {
    throw new Error(`this machine can't boot a guest with systemd: ${what}`);
  };
  if (process.geteuid!() !== 0) lacks("the tests must run as root");
  for (const program of ["systemd-nspawn", "nsenter", "unshare", "ip"]) {
    const found = await runCommand("sh", ["-c", `command -v ${program}`]);
    if (found.code !== 0) lacks(`there is no ${program}`);
  }
  const unshared = await runCommand("unshare", [
    ...["--net", "--mount", "--pid", "--fork", "--uts", "--ipc", "--cgroup"],
    ...["--propagation", "private", "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
  ]);
  if (unshared.code !== 0)
    lacks(
      `namespaces or mounts are not permitted (CAP_SYS_ADMIN): ${unshared.stderr.trim()}`,
    );
  try {
    makeCgroups(cgroup);
  } catch (error) {
    lacks(`cgroups can't be made: ${(error as Error).message}`);
  }
}

/** Moves the shell into every cgroup file given before "--", then becomes the command after it. */
const enterCgroups = `while [ "$1" != -- ]; do echo $$ >"$1" || exit 1; shift; done; shift; exec "$@"`;

/** In fresh network and mount namespaces: an address and a default route, then the guest. */
const startGuest = `set -e
ip link set lo up
ip link add eth0 type veth peer name peer0
ip address add 10.99.0.2/24 dev eth0
ip link set peer0 up
ip link set eth0 up
ip route add default via 10.99.0.1
exec systemd-nspawn "$@"`;

/**
 * A machine with this checkout's program, laid out as install.sh expects its source, as /opt/orbit.
 * @param options.logind the guest runs systemd-logind and the system bus
 */
export async function createSystemdMachine(
  options: { logind?: boolean } = {},
): Promise<SystemdMachine> {
  const name = `orbit-systemd-${randomBytes(4).toString("hex")}`;
  const hostname = "guest";
  announce("cgroup", name);
  await requireHost(name);
  const directory = makeTempDirectory("orbit-systemd-");
  const stage = path.join(directory, "stage");
  execFileSync("sh", [path.join(repository, "systemd/install.sh")], {
    env: { ...process.env, DESTDIR: stage },
  });
  makeGuestRoot(directory, {
    hostname,
    programs: ["node"],
    logind: options.logind ?? false,
  });
  const consoleFile = path.join(directory, "console.log");
  let nspawn: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();

  const procs = (place: string): string[] =>
    cgroupsNamed(name).map((group) => {
      // The guest's systemd keeps no processes beside its own tree.
      const inside = path.join(group, place);
      if (fs.existsSync(path.dirname(inside)))
        fs.mkdirSync(inside, { recursive: true });
      // A process in the unified hierarchy's own group would keep nspawn from handing its controllers down, for good.
      else if (isUnified()) throw new Error("nspawn has made no cgroups yet");
      return path.join(fs.existsSync(inside) ? inside : group, "cgroup.procs");
    });

  /** The guest's process 1: nspawn's only child. */
  function leader(): string | undefined {
    const pid = nspawn?.pid;
    if (pid === undefined) return undefined;
    return fs
      .readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
      .trim()
      .split(" ")[0];
  }

  async function run(
    script: string,
    timeoutMs = 120_000,
  ): Promise<CommandResult> {
    const target = leader();
    if (!target) throw new Error("the guest does not run");
    return runCommand(
      "sh",
      [
        ...["-c", enterCgroups, "sh", ...procs("payload/outside"), "--"],
        ...["nsenter", "--target", target, "--all", "--wdns=/root"],
        ...["env", "-i", "HOME=/root", "LANG=C"],
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        ...["sh", "-c", script],
      ],
      { timeoutMs },
    );
  }

  function consoleText(): string {
    return fs.existsSync(consoleFile)
      ? fs.readFileSync(consoleFile, "utf8")
      : "";
  }

  async function boot(): Promise<void> {
    // What the guest before left: its systemd's own cgroups.
    removeCgroups(name);
    makeCgroups(name);
    const output = fs.openSync(consoleFile, "w");
    const at = (each: string): string => path.join(directory, each);
    const started = spawn(
      "sh",
      [
        ...["-c", enterCgroups, "sh", ...procs(""), "--"],
        ...["unshare", "--net", "--mount", "--propagation", "private"],
        ...["sh", "-c", startGuest, "sh"],
        ...["--quiet", "--boot", "--register=no", "--keep-unit"],
        ...[`--machine=${name}`, `--directory=${at("root")}`],
        ...["--bind-ro=/usr", `--bind=${at("local")}:/usr/local`],
        ...[
          `--bind=${at("var")}:/var`,
          `--bind-ro=${stage}/usr/local/lib/orbit:/opt/orbit`,
        ],
        ...["--capability=all", "--link-journal=no", "--resolv-conf=off"],
        ...["--timezone=off", "--console=read-only"],
      ],
      {
        stdio: ["ignore", output, output],
        env: {
          ...process.env,
          SYSTEMD_NSPAWN_API_VFS_WRITABLE: "1",
          SYSTEMD_SECCOMP: "0",
          // The guest's root has no systemd before /usr is bound: nspawn would take it for one that knows version 1 alone.
          ...(isUnified() ? { SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: "1" } : {}),
        },
      },
    );
    fs.closeSync(output);
    nspawn = started;
    ended = new Promise((resolve) => started.once("exit", resolve));
    await eventually(
      async () => {
        if (started.exitCode !== null)
          throw new Error(`systemd-nspawn ended with ${started.exitCode}`);
        return (
          (await run("systemctl is-active --quiet multi-user.target")).code ===
          0
        );
      },
      { timeoutMs: bootTimeoutMs, intervalMs: 50, what: "the guest to boot" },
    ).catch((error: Error) => {
      throw new Error(`${error.message}\n${consoleText().slice(-3000)}`);
    });
  }

  async function halt(): Promise<void> {
    const running = nspawn;
    if (running?.exitCode !== null || running.signalCode !== null) return;
    running.kill("SIGTERM");
    await gone(running);
  }

  async function powerOff(): Promise<void> {
    const running = nspawn!;
    // The guest may be gone before the answer.
    void run("systemctl poweroff").catch(() => undefined);
    await gone(running);
  }

  /** Until the guest's last process has ended. */
  async function gone(running: ChildProcess): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        running.kill("SIGKILL");
        reject(
          new Error(`the guest does not halt\n${consoleText().slice(-3000)}`),
        );
      }, haltTimeoutMs);
    });
    await Promise.race([ended, late]).finally(() => clearTimeout(timer));
    nspawn = undefined;
  }

  return {
    hostname,
    var: path.join(directory, "var"),
    boot,
    halt,
    powerOff,
    run,
    async sh(script) {
      const { code, stdout, stderr } = await run(script);
      if (code !== 0)
        throw new Error(`${script}: exit ${code}\n${stdout}\n${stderr}`);
      return stdout.trim();
    },
    console: consoleText,
    async clean() {
      await halt();
      await eventually(
        () => {
          removeCgroups(name);
          return true;
        },
        { what: "the guest's cgroups to be empty" },
      );
      removeTempDirectory(directory);
    },
  };
}
