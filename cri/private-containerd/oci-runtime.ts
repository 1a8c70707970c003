// Which OCI runtime makes the containers of a private containerd: crun where it is installed and works, else runc. crun
// does in a quarter of the time what a pod's start and end mostly wait for. Whether it works on a machine is found by making
// one container with it, in the version of the specification that the containerd writes; that it did is kept in a file, for
// these programs and this boot.
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Logger } from "pino";
import { makeDirectory } from "../directories.ts";
import { findProgram } from "../process.ts";
import { hostArchitecture } from "../machine-code/architecture.ts";
import { pauseProgram } from "../sandbox-image/pause-program.ts";
import { hasMixedControllers, installCrunLauncher } from "./crun-launcher.ts";
import { specVersion } from "./spec-version.ts";
import { canFilter, sandboxProfile } from "./sandbox-seccomp.ts";

const cgroupRoot = "/sys/fs/cgroup";

interface CrunOptions {
  /** Of the private containerd; the trial and its record are below it. */
  directory: string;
  logger: Logger;
  /** systemd makes the containers' cgroups. */
  systemdCgroup?: boolean;
  /** Where it and containerd are looked for first; default: this process's PATH. */
  path?: string;
  /** It needs the program in front of it for cgroups of both versions; found by default. */
  mixedControllers?: boolean;
  /** Of each call of the trial; default 5 s. */
  timeoutMs?: number;
}

/** A sandbox without a network, in the format of the OCI runtime specification. */
const bundleConfig = (
  name: string,
  ociVersion: string,
  filter: boolean,
): object => ({
  ociVersion,
  process: {
    user: { uid: 65535, gid: 65535 },
    args: ["/pause"],
    cwd: "/",
    noNewPrivileges: true,
  },
  root: { path: "rootfs", readonly: true },
  mounts: [
    { destination: "/proc", type: "proc", source: "proc" },
    { destination: "/dev", type: "tmpfs", source: "tmpfs" },
  ],
  linux: {
    cgroupsPath: `/${name}`,
    namespaces: ["pid", "ipc", "uts", "mount", "network"].map((type) => ({
      type,
    })),
    resources: { memory: { limit: 16 << 20 }, pids: { limit: 16 } },
    ...(filter ? { seccomp: sandboxProfile } : {}),
  },
});

/** With systemd's NOTIFY_SOCKET in its environment crun would wait until the container reports that it is ready. */
const callOptions = (timeoutMs: number) =>
  ({
    env: { PATH: process.env["PATH"] },
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  }) as const;

/** Resolves when it has ended well; the container that it may have made keeps none of this process's files open. */
async function succeeds(
  program: string,
  args: readonly string[],
  timeoutMs: number,
): Promise<void> {
  const child = spawn(program, args, {
    ...callOptions(timeoutMs),
    stdio: "ignore",
  });
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`it ended with ${signal ?? `exit code ${code}`}`));
    });
  });
}

/** Makes a container, looks that it runs, and removes it. Rejects with an error that says what went wrong. */
async function tryContainer(
  program: string,
  containerd: string | undefined,
  { directory, timeoutMs = 5_000 }: CrunOptions,
): Promise<void> {
  const name = `orbit-trial-${randomBytes(6).toString("hex")}`;
  const trial = join(directory, name);
  const log = join(trial, "log");
  const global = ["--root", join(trial, "state"), "--log", log];
  const call = (...args: string[]): Promise<void> =>
    succeeds(program, [...global, ...args], timeoutMs);
  try {
    await makeDirectory(join(trial, "rootfs", "proc"), 0o755);
    await makeDirectory(join(trial, "rootfs", "dev"), 0o755);
    const pause = pauseProgram(hostArchitecture());
    await fs.writeFile(join(trial, "rootfs", "pause"), pause, { mode: 0o755 });
    const config = bundleConfig(
      name,
      await specVersion(containerd, timeoutMs),
      await canFilter(),
    );
    await fs.writeFile(join(trial, "config.json"), JSON.stringify(config));
    await call("create", "--bundle", trial, name);
    try {
      await call("start", name);
      const { stdout } = await promisify(execFile)(
        program,
        [...global, "state", name],
        callOptions(timeoutMs),
      );
      const { status } = JSON.parse(stdout) as { status?: string };
      if (status !== "running") throw new Error(`its container is ${status}`);
    } finally {
      await call("delete", "--force", name);
    }
  } catch (error) {
    const text = await fs.readFile(log, "utf8").catch(() => "");
    throw new Error(text.trim().slice(0, 300) || (error as Error).message, {
      cause: error,
    });
  } finally {
    await fs.rm(trial, { recursive: true, force: true });
    await removeCgroups(name);
  }
}

/** A container that could not be made whole may leave its cgroups; they are empty. */
async function removeCgroups(name: string): Promise<void> {
  const hierarchies = await fs.readdir(cgroupRoot).catch(() => []);
  for (const hierarchy of ["", ...hierarchies])
    await fs.rmdir(join(cgroupRoot, hierarchy, name)).catch(() => undefined);
}

/** Another one after each installation. */
async function stampOf(program: string): Promise<string> {
  const { mtimeMs, size } = await fs.stat(program);
  return `${mtimeMs} ${size}`;
}

/**
 * Resolves to the absolute path of a crun, or of the program in front of it, that works here; undefined where there is none,
 * or where it does not work, which is logged. With systemd's cgroups runc is kept: crun would put each container a level below its scope.
 */
export async function workingCrun(
  options: CrunOptions,
): Promise<string | undefined> {
  if (options.systemdCgroup) return undefined;
  const crun = await findProgram("crun", options.path);
  if (crun === undefined) return undefined;
  const mixed = options.mixedControllers ?? (await hasMixedControllers());
  const launcher = await installCrunLauncher({
    directory: join(options.directory, "bin"),
    crun,
    mixedControllers: mixed,
  });
  const program = launcher ?? crun;
  const containerd = await findProgram("containerd", options.path);
  const boot = await fs.readFile("/proc/sys/kernel/random/boot_id", "utf8");
  const proof = [
    program,
    await stampOf(program),
    await stampOf(crun),
    containerd && `${containerd} ${await stampOf(containerd)}`,
    boot.trim(),
  ].join(" ");
  const record = join(options.directory, "crun-worked");
  if ((await fs.readFile(record, "utf8").catch(() => "")) === proof)
    return program;
  try {
    await tryContainer(program, containerd, options);
  } catch (error) {
    options.logger.warn(
      { program, reason: (error as Error).message },
      "crun is installed but does not work here: runc makes the containers",
    );
    return undefined;
  }
  await fs.writeFile(record, proof, { mode: 0o600 });
  return program;
}
