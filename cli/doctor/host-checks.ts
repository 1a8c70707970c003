// What a node needs beside its kernel: programs, room for its data, ports that no other program has, certificates that hold.
import { X509Certificate } from "node:crypto";
import { statfs } from "node:fs/promises";
import * as net from "node:net";
import * as path from "node:path";
import { findProgram, processStartTicks } from "../../cri/process.ts";
import {
  failed,
  ok,
  warning,
  type Finding,
  type MachineFiles,
} from "./finding.ts";

interface Program {
  readonly name: string;
  /** Of Debian. */
  readonly package: string;
  readonly use: string;
}

const needed: readonly Program[] = [
  { name: "nft", package: "nftables", use: "Services and pod networks" },
  { name: "ip", package: "iproute2", use: "pod networks" },
  { name: "mount", package: "mount", use: "volumes" },
  { name: "flock", package: "util-linux", use: "the file store" },
];
const ofContainerd: readonly Program[] = [
  { name: "containerd", package: "containerd", use: "the private runtime" },
  { name: "runc", package: "runc", use: "the private runtime" },
];
const useful: readonly Program[] = [
  { name: "conntrack", package: "conntrack", use: "flows of gone endpoints" },
  { name: "zstd", package: "zstd", use: "images packed with it" },
];

/** The reference's hard thresholds of eviction: free bytes and inodes, as parts of all. */
const evicting = { bytes: 0.15, inodes: 0.05 };
/** As much again is near to it. */
const near = 0.05;
const day = 86_400_000;
/** They are renewed at two thirds of their year: one this old means that renewal fails. */
const soonMs = 30 * day;

/** @param privateRuntime whether the cluster runs containerd itself */
export async function programs(
  privateRuntime: boolean,
  find: (name: string) => Promise<string | undefined> = findProgram,
): Promise<Finding[]> {
  const look = async (
    list: readonly Program[],
    missing: typeof failed,
  ): Promise<Finding[]> =>
    await Promise.all(
      list.map(async ({ name, package: debian, use }) => {
        const found = await find(name);
        return found === undefined
          ? missing(
              name,
              `not installed: needed for ${use}`,
              `apt-get install -y ${debian}`,
            )
          : ok(name, found);
      }),
    );
  return [
    ...(await look(
      [...needed, ...(privateRuntime ? ofContainerd : [])],
      failed,
    )),
    ...(await look(useful, warning)),
  ];
}

/** The file system that the directory is or will be on. */
export async function room(directory: string): Promise<Finding[]> {
  let at = path.resolve(directory);
  let stats: Awaited<ReturnType<typeof statfs>> | undefined;
  while (!stats)
    stats = await statfs(at).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT" || at === "/") throw error;
      at = path.dirname(at);
      return undefined;
    });
  const part = (
    what: string,
    free: number,
    all: number,
    least: number,
  ): Finding => {
    const name = `${what} for ${directory}`;
    // Some file systems count no inodes.
    const share = all === 0 ? 1 : free / all;
    const found = `${Math.floor(share * 100)} % free`;
    const remedy = `make room on the file system of ${at}, or choose another --data-dir: below ${least * 100} % pods are evicted`;
    if (share < least) return failed(name, found, remedy);
    return share < least + near
      ? warning(name, found, remedy)
      : ok(name, found);
  };
  return [
    part("room", Number(stats.bavail), Number(stats.blocks), evicting.bytes),
    part("inodes", Number(stats.ffree), Number(stats.files), evicting.inodes),
  ];
}

/** undefined: the port is free. */
async function listenError(port: number): Promise<string | undefined> {
  const server = net.createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ port, exclusive: true }, resolve);
    });
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    server.close();
  }
}

/** Whether a server has the file store below the data directory: its lock names the process. */
export async function isServing(
  dataDirectory: string,
  files: MachineFiles,
): Promise<boolean> {
  const lock = await files.read(path.join(dataDirectory, "store", "lock"));
  const [pid, startTicks] = (lock ?? "").trim().split(" ");
  return (
    pid !== undefined &&
    /^[1-9]\d*$/.test(pid) &&
    (await processStartTicks(Number(pid))) === startTicks
  );
}

/** @param running whether the cluster itself runs, which has these ports then */
export async function ports(
  wanted: Readonly<Record<string, number>>,
  running: boolean,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [option, port] of Object.entries(wanted)) {
    const name = `port ${port}`;
    const error = await listenError(port);
    if (error === undefined) findings.push(ok(name, "free"));
    else if (error === "EADDRINUSE" && running)
      findings.push(ok(name, "in use, while the cluster runs"));
    else
      findings.push(
        failed(
          name,
          error === "EADDRINUSE"
            ? "in use by another program, or by a server without the file store"
            : error,
          `ss -ltnp sport = :${port} shows it; --${option} chooses another`,
        ),
      );
  }
  return findings;
}

/** Files that the programs that keep time leave while they run. */
const timeSources: readonly (readonly [directory: string, file: string])[] = [
  ["/run/systemd/timesync", "synchronized"],
  ["/run/chrony", "chronyd.pid"],
  ["/run", "chronyd.pid"],
  ["/run", "ntpd.pid"],
  ["/run", "openntpd.pid"],
];

/** Whether something sets this machine's clock. Virtual machines may have it from their host, which can't be seen. */
export async function timeSource(files: MachineFiles): Promise<Finding> {
  const name = "time source";
  for (const [directory, file] of timeSources)
    if ((await files.list(directory)).includes(file))
      return ok(name, path.join(directory, file));
  return warning(
    name,
    "no program that sets the clock was found",
    "apt-get install -y chrony, unless the machine's host keeps its time",
  );
}

/** Certificates of a cluster that was started: none where it was not. */
export async function certificates(
  directory: string,
  files: MachineFiles,
  nowMs: number,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const file of (await files.list(directory)).sort()) {
    if (!file.endsWith(".crt")) continue;
    const name = `certificate ${file}`;
    const remedy = "start the server, which renews it, and read its log";
    let until: number;
    try {
      const text = await files.read(path.join(directory, file));
      until = Date.parse(new X509Certificate(text ?? "").validTo);
    } catch (error) {
      findings.push(
        failed(name, `unreadable: ${(error as Error).message}`, remedy),
      );
      continue;
    }
    const found = `valid until ${new Date(until).toISOString().slice(0, 10)}`;
    if (until <= nowMs) findings.push(failed(name, found, remedy));
    else
      findings.push(
        until - nowMs < soonMs ? warning(name, found, remedy) : ok(name, found),
      );
  }
  return findings;
}
