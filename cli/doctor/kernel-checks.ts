// What the kernel gives out in limited numbers, and what a node needs of it: inotify instances, descriptors, processes,
// tracked connections, control groups, overlay file systems, mount propagation, memory.
import {
  failed,
  ok,
  warning,
  type Finding,
  type MachineFiles,
} from "./finding.ts";

/** Of a limit: beyond it a busy hour may reach the limit. */
const nearlyUsed = 0.8;
/** What the service's unit asks for is more; below this, pods in the hundreds do not fit. */
const fewDescriptors = 65_536;
/** The kernel's own default on small machines, which a handful of watching programs in pods use up. */
const manyInstances = 512;
/** Below these a node evicts pods: the reference's hard threshold, and what a cluster with a few pods takes. */
const leastAvailableKiB = 100 << 10;
const smallMemoryKiB = 1 << 20;
const controllers = ["cpu", "cpuset", "memory", "pids"];

const numberOf = (text: string | undefined): number | undefined => {
  const value = Number.parseInt(text ?? "", 10);
  return Number.isNaN(value) ? undefined : value;
};

function used(
  name: string,
  count: number,
  limit: number,
  remedy: string,
): Finding {
  const found = `${count} of ${limit} in use`;
  if (count >= limit) return failed(name, found, remedy);
  return count > nearlyUsed * limit
    ? warning(name, found, remedy)
    : ok(name, found);
}

/** Instances that processes of root hold: pods run as root use the same count. */
export async function inotifyInstances(files: MachineFiles): Promise<Finding> {
  const key = "fs.inotify.max_user_instances";
  const limit = numberOf(
    await files.read("/proc/sys/fs/inotify/max_user_instances"),
  );
  const name = "inotify instances";
  if (limit === undefined) return ok(name, "the kernel does not say");
  let count = 0;
  for (const pid of await files.list("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const status = (await files.read(`/proc/${pid}/status`)) ?? "";
    if (!/^Uid:\s+0\s/m.test(status)) continue;
    const descriptors = await files.list(`/proc/${pid}/fd`);
    const targets = await Promise.all(
      descriptors.map((fd) => files.link(`/proc/${pid}/fd/${fd}`)),
    );
    count += targets.filter((target) => target === "anon_inode:inotify").length;
  }
  return used(
    name,
    count,
    limit,
    `sysctl -w ${key}=${Math.max(manyInstances, 2 * limit)} (and in /etc/sysctl.d, for the next boot)`,
  );
}

/** Of the whole machine, and how many this process may have. */
export async function descriptors(files: MachineFiles): Promise<Finding[]> {
  const [open, , limit] = ((await files.read("/proc/sys/fs/file-nr")) ?? "")
    .trim()
    .split(/\s+/)
    .map(Number);
  const findings: Finding[] = [];
  // Newer kernels set the largest number there is: no limit.
  if (open !== undefined && limit !== undefined && Number.isSafeInteger(limit))
    findings.push(
      used(
        "open files of the machine",
        open,
        limit,
        `sysctl -w fs.file-max=${2 * limit} (and in /etc/sysctl.d, for the next boot)`,
      ),
    );
  const line = /^Max open files\s+\S+\s+(\S+)/m.exec(
    (await files.read("/proc/self/limits")) ?? "",
  )?.[1];
  if (line === undefined) return findings;
  const name = "open files of one process";
  const hard = line === "unlimited" ? Infinity : Number(line);
  findings.push(
    hard < fewDescriptors
      ? warning(
          name,
          `at most ${hard}`,
          "ulimit -Hn 1048576 before the start, or run it as the service, whose unit sets it",
        )
      : ok(name, `at most ${line}`),
  );
  return findings;
}

export async function processes(files: MachineFiles): Promise<Finding> {
  const name = "processes and threads";
  const total = /^\S+ \S+ \S+ \d+\/(\d+)/.exec(
    (await files.read("/proc/loadavg")) ?? "",
  )?.[1];
  const limits = await Promise.all(
    ["pid_max", "threads-max"].map(async (key) =>
      numberOf(await files.read(`/proc/sys/kernel/${key}`)),
    ),
  );
  const limit = Math.min(...limits.map((each) => each ?? Infinity));
  if (total === undefined || limit === Infinity)
    return ok(name, "the kernel does not say");
  const key = limit === limits[0] ? "kernel.pid_max" : "kernel.threads-max";
  return used(name, Number(total), limit, `sysctl -w ${key}=${2 * limit}`);
}

export async function connections(
  files: MachineFiles,
): Promise<Finding | undefined> {
  const [count, limit] = await Promise.all(
    ["count", "max"].map(async (what) =>
      numberOf(
        await files.read(`/proc/sys/net/netfilter/nf_conntrack_${what}`),
      ),
    ),
  );
  // The module comes with the first rule that needs it.
  if (count === undefined || limit === undefined) return undefined;
  return used(
    "tracked connections",
    count,
    limit,
    `sysctl -w net.netfilter.nf_conntrack_max=${2 * limit}, or --conntrack-max-per-core of the proxy`,
  );
}

export async function controlGroups(files: MachineFiles): Promise<Finding> {
  const unified = await files.read("/sys/fs/cgroup/cgroup.controllers");
  const version = unified === undefined ? "v1" : "v2";
  const there = new Set(
    unified === undefined
      ? ((await files.read("/proc/cgroups")) ?? "")
          .split("\n")
          .map((line) => line.split("\t"))
          .filter(([, , , enabled]) => enabled === "1")
          .map(([controller]) => controller)
      : unified.trim().split(/\s+/),
  );
  const name = "control groups";
  const missing = controllers.filter((each) => !there.has(each));
  return missing.length === 0
    ? ok(name, `${version} with ${controllers.join(", ")}`)
    : failed(
        name,
        `${version} without ${missing.join(", ")}`,
        `boot with ${missing.map((each) => `cgroup_enable=${each}`).join(" ")} on the kernel's command line`,
      );
}

export async function overlay(files: MachineFiles): Promise<Finding> {
  const name = "overlay file systems";
  const known = (await files.read("/proc/filesystems")) ?? "";
  return /\boverlay$/m.test(known)
    ? ok(name, "known to the kernel")
    : warning(
        name,
        "not known to the kernel yet",
        "modprobe overlay; without it images take more room and time",
      );
}

/**
 * The runtime refuses mounts of host directories with propagation where the file system they lie on is not shared. systemd
 * shares the root; some other first processes, containers' among them, leave it private.
 */
export async function mountPropagation(files: MachineFiles): Promise<Finding> {
  const name = "mount propagation";
  const roots = ((await files.read("/proc/self/mountinfo")) ?? "")
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, , , , mountPoint]) => mountPoint === "/");
  // Of mounts on one place the last lies on top. Optional fields are between the options and a dash.
  const fields = roots.at(-1);
  if (!fields) return ok(name, "the kernel does not say");
  const optional = fields.slice(6, fields.indexOf("-"));
  return optional.some((field) => field.startsWith("shared:"))
    ? ok(name, "/ is shared")
    : warning(
        name,
        "/ is not shared: containers with mountPropagation, CSI drivers' among them, do not start",
        "mount --make-rshared / (each boot)",
      );
}

export async function memory(files: MachineFiles): Promise<Finding[]> {
  const text = (await files.read("/proc/meminfo")) ?? "";
  const kib = (line: RegExp): number => Number(line.exec(text)?.[1] ?? 0);
  const total = kib(/^MemTotal:\s+(\d+) kB/m);
  const available = kib(/^MemAvailable:\s+(\d+) kB/m);
  const found = `${available >> 10} of ${total >> 10} MiB available`;
  const findings = [
    available < leastAvailableKiB
      ? failed(
          "memory",
          found,
          "end other programs: below 100 MiB pods are evicted",
        )
      : total < smallMemoryKiB
        ? warning("memory", found, "give the machine 1 GiB or more")
        : ok("memory", found),
  ];
  const swaps = ((await files.read("/proc/swaps")) ?? "")
    .split("\n")
    .slice(1)
    .filter((line) => line.trim() !== "");
  findings.push(
    swaps.length === 0
      ? ok("swap", "off")
      : warning(
          "swap",
          `on: ${swaps.map((line) => line.split(/\s/)[0]).join(", ")}`,
          "swapoff -a: what a pod swaps is not counted by its memory limit",
        ),
  );
  return findings;
}
