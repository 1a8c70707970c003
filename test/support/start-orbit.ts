// Runs the built program for tests: `bin/orbit server` with ports, directories and a cgroup root of its own, until it says
// it is ready. stop() ends the server; clean() also ends its pods and its private containerd and removes everything.
import { spawn, type ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { removeCgroups } from "./cgroups.ts";
import { eventually } from "./eventually.ts";
import { freePodRange, freePorts } from "./free-port.ts";
import { socketAnswers } from "../../cli/parts/agent/runtime-endpoint.ts";
import { createKubectl, runCommand, type Kubectl } from "./kubectl.ts";
import {
  policyTable,
  proxyTable,
} from "../../cli/parts/network/network-plan.ts";
import { hostPortTable } from "../../network/pods/host-ports.ts";
import { masqueradeTable } from "../../network/pods/masquerade.ts";
import { neighborTable } from "../../network/pods/neighbor-limit.ts";
import { startPrivateDocker } from "./private-docker.ts";
import { runtimeKinds, type RuntimeKind } from "./private-runtime.ts";
import { endProcesses, processesNaming, sendSignal } from "./processes.ts";
import { announce } from "./run/run-state.ts";
import { makeTempDirectory, removeTempDirectory } from "./temp-directory.ts";

const root = path.join(__dirname, "../..");
export const orbitProgram = path.join(root, "bin/orbit");

export interface OrbitOptions {
  /** Further options of `orbit server`. */
  args?: readonly string[];
  /** How node is called: options and another build of the program; default: bin/orbit. */
  program?: readonly string[];
  env?: Record<string, string>;
  /** A private containerd, unless TEST_RUNTIME names another one, or a dockerd of the test's own. */
  runtime?: RuntimeKind;
  /** Of an earlier instance, to start it again. */
  directory?: string;
  ports?: OrbitPorts;
  /** Pod addresses; a range of its own by default. */
  podRange?: string;
  /**
   * With service proxy, DNS and network policies, whose rules are the machine's: in a range of services of its own.
   * Without them by default.
   */
  network?: boolean;
  /** With the ingress, on these ports of the loopback. Without it by default. */
  ingress?: { http: number; https: number };
  readyTimeoutMs?: number;
}

export interface OrbitPorts {
  secure: number;
  agent: number;
  readOnly: number;
  healthz: number;
  controllers: number;
}

export interface RunningOrbit {
  readonly directory: string;
  readonly manifests: string;
  readonly kubeconfig: string;
  readonly ports: OrbitPorts;
  readonly kubectl: Kubectl;
  readonly pid: number;
  /** Of the private containerd or dockerd. */
  runtimePid(): number;
  /** All that the server wrote to stdout and stderr. */
  log(): string;
  /** Runs bin/orbit with arguments and this instance's kubeconfig. */
  orbit(
    args: readonly string[],
    options?: { stdin?: string; timeoutMs?: number },
  ): ReturnType<typeof runCommand>;
  /** Sends a signal (default SIGTERM) and waits for the end; resolves to the exit code (null: killed). */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Starts the same instance again. */
  restart(): Promise<RunningOrbit>;
  /** Ends everything and leaves nothing behind. */
  clean(): Promise<void>;
}

/** 10.220.7.0/24 → 10.120.7.0/24. */
function serviceRange(podRange: string): string {
  return podRange.replace(/^10\.2/, "10.1");
}

/** Ends pods and containerd of a directory by the processes that name it, then removes cgroups, mounts and files. */
async function removeEverything(
  directory: string,
  cgroupRoot: string,
  podRange: string,
): Promise<void> {
  for (const socket of [
    "data/containerd/run/containerd.sock",
    "docker/docker.sock",
  ]) {
    const endpoint = path.join(directory, socket);
    if (!fs.existsSync(endpoint)) continue;
    await runCommand(
      orbitProgram,
      ["remove-pods", "--container-runtime-endpoint", `unix://${endpoint}`],
      { timeoutMs: 60_000 },
    );
  }
  for (const pid of processesNaming(`${directory}/`))
    sendSignal(pid, "SIGTERM");
  await eventually(() => processesNaming(`${directory}/`).length === 0, {
    timeoutMs: 3000,
    what: "processes to end",
  }).catch(() => undefined);
  await endProcesses(`${directory}/`, cgroupRoot, `${cgroupRoot}-runtime`);
  for (const name of [masqueradeTable, hostPortTable])
    await runCommand("nft", ["delete", "table", "ip", name(podRange)]);
  await runCommand("nft", [
    "delete",
    "table",
    ...neighborTable(podRange).split(" "),
  ]);
  for (const family of ["ip", "ip6"])
    await runCommand("nft", ["delete", "table", family, proxyTable(podRange)]);
  await runCommand("nft", ["delete", "table", "inet", policyTable(podRange)]);
  await removeCgroups(cgroupRoot, `${cgroupRoot}-runtime`);
  removeTempDirectory(directory);
}

function disabledParts({ network, ingress }: OrbitOptions): string[] {
  const parts = [
    ...(network === true ? [] : ["proxy", "dns", "network-policy"]),
    ...(ingress ? [] : ["ingress"]),
  ];
  return parts.length > 0 ? [`--disable=${parts.join(",")}`] : [];
}

/** Of the daemon of an earlier instance, or of a new one. */
async function dockerEndpoint(directory: string): Promise<string> {
  const endpoint = `unix://${path.join(directory, "docker.sock")}`;
  if (!(await socketAnswers(endpoint))) await startPrivateDocker({ directory });
  return endpoint;
}

function daemonPid(directory: string, endpoint: string): number {
  const read = (name: string): string =>
    fs.readFileSync(path.join(directory, name), "utf8");
  return endpoint === "private"
    ? (JSON.parse(read("data/containerd/containerd.json")) as { pid: number })
        .pid
    : Number(read("docker/dockerd.pid"));
}

export async function startOrbit(
  options: OrbitOptions = {},
): Promise<RunningOrbit> {
  if (!fs.existsSync(path.join(root, "dist/orbit.js")))
    throw new Error("the program is not built: node tools/build.mjs");
  const directory = options.directory ?? makeTempDirectory("orbit-e2e-");
  const [secure, agent, readOnly, healthz, controllers] = (await freePorts(
    5,
  )) as [number, number, number, number, number];
  const ports = options.ports ?? {
    secure,
    agent,
    readOnly,
    healthz,
    controllers,
  };
  const manifests = path.join(directory, "manifests");
  const kubeconfig = path.join(directory, "kubeconfig");
  const cgroupRoot = `/${path.basename(directory)}`;
  const podRange = options.podRange ?? freePodRange();
  announce("cgroup", cgroupRoot);
  announce("cgroup", `${cgroupRoot}-runtime`);
  for (const name of [masqueradeTable, hostPortTable])
    announce("nft", `ip ${name(podRange)}`);
  for (const family of ["ip", "ip6"])
    announce("nft", `${family} ${proxyTable(podRange)}`);
  announce("nft", `inet ${policyTable(podRange)}`);
  fs.mkdirSync(manifests, { recursive: true });
  const endpoint =
    (options.runtime ?? runtimeKinds[0]) === "docker"
      ? await dockerEndpoint(path.join(directory, "docker"))
      : "private";
  const args = [
    "server",
    `--data-dir=${directory}/data`,
    `--manifests=${manifests}`,
    `--write-kubeconfig=${kubeconfig}`,
    `--secure-port=${ports.secure}`,
    `--port=${ports.agent}`,
    `--read-only-port=${ports.readOnly}`,
    `--healthz-port=${ports.healthz}`,
    `--controllers-port=${ports.controllers}`,
    `--cgroup-root=${cgroupRoot}`,
    // Nothing is shared with a cluster that runs on this machine.
    `--container-runtime-endpoint=${endpoint}`,
    `--cluster-cidr=${podRange}`,
    ...(options.network === true
      ? [`--service-cluster-ip-range=${serviceRange(podRange)}`]
      : []),
    ...(options.ingress
      ? [
          `--ingress-http-port=${options.ingress.http}`,
          `--ingress-https-port=${options.ingress.https}`,
          "--ingress-bind-address=127.0.0.1",
        ]
      : []),
    // They have the same names for every cluster of the machine.
    "--agent-arg=make-iptables-util-chains=false",
    ...disabledParts(options),
    ...(options.args ?? []),
  ];
  let output = "";
  const child: ChildProcess = spawn(
    process.execPath,
    [...(options.program ?? [orbitProgram]), ...args],
    {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...options.env },
    },
  );
  const exited = new Promise<number | null>((resolve) =>
    child.once("exit", resolve),
  );
  for (const stream of [child.stdout!, child.stderr!])
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const ended = exited.then((code) => {
    throw new Error(
      `orbit server ended with code ${code} before it was ready:\n${output.slice(-4000)}`,
    );
  });
  ended.catch(() => undefined);
  const ready = eventually(() => /ready in [\d.]+s/.test(output), {
    timeoutMs: options.readyTimeoutMs ?? 60_000,
    what: "orbit server to be ready",
  }).catch((error: Error) => {
    child.kill("SIGKILL");
    throw new Error(`${error.message}\n${output.slice(-4000)}`);
  });
  const clean = async (): Promise<void> => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
    await exited;
    clearTimeout(timer);
    await removeEverything(directory, cgroupRoot, podRange);
  };
  await Promise.race([ready, ended]).catch(async (error: Error) => {
    await clean();
    throw error;
  });
  const running: RunningOrbit = {
    directory,
    manifests,
    kubeconfig,
    ports,
    kubectl: createKubectl(kubeconfig),
    pid: child.pid!,
    runtimePid: () => daemonPid(directory, endpoint),
    log: () => output,
    orbit: (commandArgs, commandOptions = {}) =>
      runCommand(process.execPath, [orbitProgram, ...commandArgs], {
        ...commandOptions,
        env: { KUBECONFIG: kubeconfig },
      }),
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      return exited;
    },
    restart: () => startOrbit({ ...options, directory, ports, podRange }),
    clean,
  };
  return running;
}
