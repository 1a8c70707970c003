// A dockerd of a test's own, with a containerd of its own, below one directory: no bridge, no firewall rules, nothing shared
// with the machine's Docker. stop() leaves its containers running (live restore) unless it was started without.
import { spawn, type ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { eventually } from "./eventually.ts";
import { socketAnswers } from "../../cli/parts/agent/runtime-endpoint.ts";

export interface PrivateDocker {
  readonly endpoint: string;
  readonly pid: number;
  /** As a service manager ends it. */
  stop(): Promise<void>;
  /** kill -9, of the daemon alone. */
  kill(): Promise<void>;
  /** Again, after stop() or kill(). */
  start(): Promise<void>;
}

export interface PrivateDockerOptions {
  directory: string;
  /** Containers go on while the daemon is away; default true. */
  liveRestore?: boolean;
}

function daemonArguments({
  directory,
  liveRestore = true,
}: PrivateDockerOptions): string[] {
  const below = (name: string): string => path.join(directory, name);
  return [
    `--config-file=${below("daemon.json")}`,
    `--data-root=${below("root")}`,
    `--exec-root=${below("run")}`,
    `--pidfile=${below("dockerd.pid")}`,
    `--host=unix://${below("docker.sock")}`,
    "--bridge=none",
    "--iptables=false",
    "--ip6tables=false",
    "--ip-forward=false",
    "--ip-masq=false",
    "--userland-proxy=false",
    "--storage-driver=overlay2",
    // Under systemd with cgroups v2 alone the default is systemd, whose parents of containers are slices.
    "--exec-opt=native.cgroupdriver=cgroupfs",
    // Where no process may lower its oom_score_adj the default would end it.
    "--oom-score-adjust=0",
    "--shutdown-timeout=2",
    "--log-level=error",
    ...(liveRestore ? ["--live-restore"] : []),
  ];
}

export async function startPrivateDocker(
  options: PrivateDockerOptions,
): Promise<PrivateDocker> {
  const { directory } = options;
  fs.mkdirSync(directory, { recursive: true });
  fs.writeFileSync(path.join(directory, "daemon.json"), "{}");
  const endpoint = `unix://${path.join(directory, "docker.sock")}`;
  const containerdPid = path.join(directory, "run/containerd/containerd.pid");
  let child: ChildProcess;
  let ended: Promise<unknown>;

  async function start(): Promise<void> {
    await forgetContainerd(containerdPid);
    const log = fs.openSync(path.join(directory, "dockerd.log"), "a");
    child = spawn("dockerd", daemonArguments(options), {
      stdio: ["ignore", log, log],
      detached: true,
    });
    fs.closeSync(log);
    ended = new Promise((resolve) => {
      child.once("exit", resolve);
      child.once("error", resolve);
    });
    await eventually(() => socketAnswers(endpoint), {
      timeoutMs: 60_000,
      what: "dockerd to listen",
    }).catch((error: Error) => {
      child.kill("SIGKILL");
      const text = fs.readFileSync(path.join(directory, "dockerd.log"), "utf8");
      throw new Error(`${error.message}\n${text.slice(-2000)}`, {
        cause: error,
      });
    });
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    child.kill(signal);
    await ended;
    await forgetContainerd(containerdPid);
  }

  await start();
  return {
    endpoint,
    get pid() {
      return child.pid!;
    },
    start,
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
  };
}

/** False for a zombie too. */
function isAlive(pid: number): boolean {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^Z/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

/**
 * A daemon that was killed takes its containerd along, a moment later, and the next one would wait for that containerd as
 * long as its process id is taken, by a zombie for instance.
 */
async function forgetContainerd(pidFile: string): Promise<void> {
  const text = fs.existsSync(pidFile) ? fs.readFileSync(pidFile, "utf8") : "";
  if (text === "") return;
  await eventually(() => !isAlive(Number(text)), {
    what: "the daemon's containerd to end",
  });
  fs.rmSync(pidFile, { force: true });
}
