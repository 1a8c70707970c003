// A containerd of our own under one directory: its root, state, sockets, configuration and log. It runs detached, so it
// and its pods outlive this process; the next start adopts it when pid, start time and socket still agree.
// Layout of DIRECTORY: config.toml, containerd.json (pid record), containerd.log, crun-worked, bin/, root/, run/, opt/, cni/net.d/, cni/bin/.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs/promises";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeDirectory } from "../directories.ts";
import type { Logger } from "pino";
import { RuntimeError } from "../runtime.ts";
import { sandboxImageName } from "../sandbox-image/image.ts";
import { containerdToml } from "./configuration.ts";
import { moveToCgroup } from "./own-cgroup.ts";
import { workingCrun } from "./oci-runtime.ts";
import { usualPluginDirectories } from "../cni/configuration.ts";
import { linkPlugins } from "../cni/plugin-links.ts";
import { writeSandboxProfile } from "./sandbox-seccomp.ts";
import { installShimScript } from "./shim-script.ts";
import { findProgram, hasSysResource, processStartTicks } from "../process.ts";

export interface PrivateContainerdOptions {
  /** Absolute; made when missing (mode 0700). */
  directory: string;
  logger: Logger;
  sandboxImage?: string;
  /** Default: DIRECTORY/cni/net.d */
  cniConfigurationDirectory?: string;
  /** First that holds the ptp plug-in wins. */
  cniBinaryDirectories?: readonly string[];
  /** overlayfs by default; native where overlay mounts do not work. */
  snapshotter?: string;
  /** Where registries are configured (hosts.toml); default: those of the machine, which every containerd and Docker reads. */
  registryDirectories?: readonly string[];
  /** It lives there instead of in the cgroup of the process that starts it, e.g. /orbit-runtime. */
  cgroup?: string;
  /** Containers' cgroups are made by systemd, below parents that are slices. */
  systemdCgroup?: boolean;
  /** How long to wait for the socket; default 15 s. */
  startTimeoutMs?: number;
}

export interface PrivateContainerd {
  /** `unix://…`, for createContainerdRuntime. */
  readonly endpoint: string;
  readonly pid: number;
  /** True when a running one was found. */
  readonly adopted: boolean;
  readonly cniConfigurationDirectory: string;
  readonly cniBinaryDirectory: string;
  /** Of sandboxes that would take the runtime's default one. */
  readonly sandboxSeccompProfile: string | undefined;
  /** False once the process is gone. */
  alive(): Promise<boolean>;
  /** Ends containerd; its pods go on and are found again at the next start. */
  stop(): Promise<void>;
}

interface PidRecord {
  pid: number;
  startTicks: string;
  configurationDigest: string;
}

/** sun_path is 108 bytes with its end; containerd adds ".ttrpc". */
const maxSocketPathBytes = 100;
const adoptTimeoutMs = 3_000;
const systemPath =
  "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** As containerd 2 has it by itself. */
const defaultRegistries = ["/etc/containerd/certs.d", "/etc/docker/certs.d"];

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** The process may have been started a moment ago, by a process that was killed meanwhile. */
async function answersSoon(
  record: PidRecord,
  socket: string,
): Promise<boolean> {
  const end = performance.now() + adoptTimeoutMs;
  while (performance.now() < end && (await isAlive(record))) {
    if (await answers(socket)) return true;
    await sleep(20);
  }
  return false;
}

async function firstCniDirectory(
  directories: readonly string[],
): Promise<string> {
  for (const directory of directories)
    if (
      await fs.access(join(directory, "ptp")).then(
        () => true,
        () => false,
      )
    )
      return directory;
  return directories[0] ?? usualPluginDirectories[0]!;
}

/** Under DIRECTORY, unless that is too deep for a socket's name; then a directory named by its digest under /run. */
function socketDirectory(directory: string): string {
  const own = join(directory, "run");
  if (
    Buffer.byteLength(join(own, "containerd.sock.ttrpc")) <= maxSocketPathBytes
  )
    return own;
  return join(
    "/run",
    `orbit-${createHash("sha256").update(directory).digest("hex").slice(0, 16)}`,
  );
}

/** Where the private containerd of that directory listens, whether or not it runs. */
export function privateContainerdEndpoint(directory: string): string {
  return `unix://${join(socketDirectory(directory), "containerd.sock")}`;
}

async function readRecord(path: string): Promise<PidRecord | undefined> {
  try {
    const record = JSON.parse(
      await fs.readFile(path, "utf8"),
    ) as Partial<PidRecord>;
    if (typeof record.pid !== "number" || typeof record.startTicks !== "string")
      return undefined;
    return {
      pid: record.pid,
      startTicks: record.startTicks,
      configurationDigest: record.configurationDigest ?? "",
    };
  } catch {
    return undefined;
  }
}

async function isAlive(record: PidRecord): Promise<boolean> {
  return (await processStartTicks(record.pid)) === record.startTicks;
}

async function writeAtomically(path: string, text: string): Promise<void> {
  await fs.writeFile(`${path}.new`, text, { mode: 0o600 });
  await fs.rename(`${path}.new`, path);
}

/** The last lines of containerd's log, for an error message. */
async function logTail(path: string): Promise<string> {
  const text = await fs.readFile(path, "utf8").catch(() => "");
  return text.trimEnd().split("\n").slice(-5).join("\n");
}

/** SIGTERM, then SIGKILL after 10 s. */
async function endProcess(record: PidRecord): Promise<void> {
  for (const [signal, waitMs] of [
    ["SIGTERM", 10_000],
    ["SIGKILL", 5_000],
  ] as const) {
    if (!(await isAlive(record))) return;
    try {
      process.kill(record.pid, signal);
    } catch {
      return;
    }
    const end = performance.now() + waitMs;
    while (performance.now() < end) {
      if (!(await isAlive(record))) return;
      await sleep(10);
    }
  }
}

interface Files {
  readonly socket: string;
  readonly record: string;
  readonly log: string;
  readonly configuration: string;
}

/** Makes what is missing and writes down how containerd is to be configured, without touching a running one. */
async function prepare(options: PrivateContainerdOptions): Promise<{
  files: Files;
  toml: string;
  /** What comes first on containerd's PATH. */
  scripts: string | undefined;
  cniConfigurationDirectory: string;
  cniBinaryDirectory: string;
  sandboxSeccompProfile: string | undefined;
}> {
  const { directory } = options;
  const sockets = socketDirectory(directory);
  const socket = join(sockets, "containerd.sock");
  const cniConfigurationDirectory =
    options.cniConfigurationDirectory ?? join(directory, "cni", "net.d");
  for (const made of [
    directory,
    sockets,
    join(directory, "root"),
    join(directory, "opt"),
  ])
    await makeDirectory(made, 0o700);
  await makeDirectory(cniConfigurationDirectory, 0o755);
  const cniBinaryDirectory = await linkPlugins(
    join(directory, "cni", "bin"),
    await firstCniDirectory(
      options.cniBinaryDirectories ?? usualPluginDirectories,
    ),
  );
  const [crun, scripts] = await Promise.all([
    workingCrun(options),
    installShimScript(join(directory, "bin")),
  ]);
  const toml = containerdToml({
    root: join(directory, "root"),
    state: join(sockets, "state"),
    socket,
    ttrpcSocket: `${socket}.ttrpc`,
    pluginDirectory: join(directory, "opt"),
    cniConfigurationDirectory,
    cniBinaryDirectory,
    sandboxImage: options.sandboxImage ?? sandboxImageName,
    snapshotter: options.snapshotter ?? "overlayfs",
    registryDirectories: options.registryDirectories ?? defaultRegistries,
    restrictOomScoreAdj: !(await hasSysResource()),
    systemdCgroup: options.systemdCgroup ?? false,
    crun,
  });
  const files = {
    socket,
    record: join(directory, "containerd.json"),
    log: join(directory, "containerd.log"),
    configuration: join(directory, "config.toml"),
  };
  return {
    files,
    toml,
    scripts,
    cniConfigurationDirectory,
    cniBinaryDirectory,
    sandboxSeccompProfile:
      options.sandboxImage === undefined
        ? await writeSandboxProfile(directory)
        : undefined,
  };
}

async function leaveCgroup(
  { cgroup, logger }: PrivateContainerdOptions,
  pid: number,
): Promise<void> {
  if (cgroup === undefined) return;
  if ((await moveToCgroup(pid, cgroup)) === 0)
    logger.debug(
      { cgroup },
      "the private containerd stays in the cgroup of this process",
    );
}

/** Resolves to the running containerd of this directory, if it is as it should be; ends another one. */
async function adopt(
  options: PrivateContainerdOptions,
  { socket, record }: Files,
  configurationDigest: string,
): Promise<PidRecord | undefined> {
  const { logger } = options;
  const found = await readRecord(record);
  if (found === undefined || !(await isAlive(found))) return undefined;
  const containerdPid = found.pid;
  if (
    found.configurationDigest === configurationDigest &&
    (await answersSoon(found, socket))
  ) {
    await leaveCgroup(options, containerdPid);
    logger.info({ containerdPid }, "adopted the running private containerd");
    return found;
  }
  logger.info(
    { containerdPid },
    "restarting the private containerd: its configuration changed or it does not answer",
  );
  await endProcess(found);
  return undefined;
}

async function installed(name: string): Promise<string> {
  const program = await findProgram(name);
  if (program === undefined)
    throw new RuntimeError(
      "unavailable",
      `${name} is not installed: install the Debian package ${name}`,
    );
  return program;
}

/** Resolves when its socket answers. */
async function launch(
  options: PrivateContainerdOptions,
  files: Files,
  configurationDigest: string,
  program: string,
  scripts: string | undefined,
): Promise<PidRecord> {
  const log = await fs.open(files.log, "w", 0o600);
  const child = spawn(
    program,
    ["--config", files.configuration, "--log-level", "warn"],
    {
      cwd: options.directory,
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
      env: {
        PATH: [scripts, dirname(program), systemPath].filter(Boolean).join(":"),
      },
    },
  );
  let ended: string | undefined;
  child.once("error", (error) => (ended = error.message));
  child.once(
    "exit",
    (code, signal) =>
      (ended = `it ended with ${signal ?? `exit code ${code}`}`),
  );
  child.unref();
  await log.close();
  try {
    // Before it starts a shim, which would stay in the cgroup it was born in.
    if (child.pid !== undefined) await leaveCgroup(options, child.pid);
    const startTicks =
      child.pid === undefined ? undefined : await processStartTicks(child.pid);
    const pid = child.pid ?? 0;
    const record = { pid, startTicks: startTicks ?? "", configurationDigest };
    // At once, so that the next start finds it even if this process dies now.
    if (startTicks !== undefined)
      await writeAtomically(files.record, JSON.stringify(record));
    const end = performance.now() + (options.startTimeoutMs ?? 15_000);
    while (ended === undefined && !(await answers(files.socket))) {
      if (performance.now() > end) ended = "its socket does not answer";
      else await sleep(5);
    }
    if (ended !== undefined || startTicks === undefined)
      throw new RuntimeError(
        "unavailable",
        `the private containerd did not start: ${ended ?? "it ended"}\n${await logTail(files.log)}`,
      );
    options.logger.info({ containerdPid: pid }, "started a private containerd");
    return record;
  } catch (error) {
    // Without a record no later start finds it, and it keeps the directory's lock.
    child.kill("SIGKILL");
    await fs.rm(files.record, { force: true });
    throw error;
  }
}

/**
 * Starts or adopts the private containerd and resolves when its socket answers (about 0.1 s). Rejects with a
 * RuntimeError "unavailable" that names the missing Debian package, or quotes the end of containerd's log.
 */
export async function startPrivateContainerd(
  options: PrivateContainerdOptions,
): Promise<PrivateContainerd> {
  const { files, toml, scripts, ...given } = await prepare(options);
  const digest = createHash("sha256")
    .update(toml)
    .update(scripts ?? "")
    .digest("hex");
  const adopted = await adopt(options, files, digest);
  let record = adopted;
  if (!record) {
    const program = await installed("containerd");
    await installed("runc");
    await writeAtomically(files.configuration, toml);
    record = await launch(options, files, digest, program, scripts);
  }
  const running = record;
  return {
    endpoint: `unix://${files.socket}`,
    pid: running.pid,
    adopted: adopted !== undefined,
    ...given,
    alive: () => isAlive(running),
    async stop() {
      await endProcess(running);
      await fs.rm(files.record, { force: true });
    },
  };
}
