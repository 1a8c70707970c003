// cgroup v2: one tree; controllers are delegated downwards by cgroup.subtree_control, from the root to the parent.
import { access, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../../cri/directories.ts";
import type {
  CgroupDriver,
  CgroupLimits,
  CgroupUsage,
} from "./cgroup-driver.ts";
import { removeTree } from "./removal.ts";
import { namedAmounts, readAmount, workingSet } from "./usage-files.ts";

const wanted = ["cpuset", "cpu", "io", "memory", "hugetlb", "pids"];

/** True where the unified hierarchy alone is mounted. */
export async function isUnified(mount: string): Promise<boolean> {
  return await access(join(mount, "cgroup.controllers")).then(
    () => true,
    () => false,
  );
}

/** v1 shares 2…262144 onto v2 weight 1…10000. */
export function cpuWeight(shares: number): number {
  return Math.floor(1 + ((shares - 2) * 9999) / 262_142);
}

export class CgroupV2 implements CgroupDriver {
  readonly version = 2;
  readonly #mount: string;
  /** rmdir on the real file system; tests on a plain tree pass a recursive removal. */
  readonly #rmdir: (path: string) => Promise<void>;

  constructor(
    mount: string,
    removeDirectory: (path: string) => Promise<void> = rmdir,
  ) {
    this.#mount = mount;
    this.#rmdir = removeDirectory;
  }

  async create(path: string, limits: CgroupLimits): Promise<void> {
    let directory = this.#mount;
    for (const segment of path.split("/").filter(Boolean)) {
      await this.#delegate(directory);
      directory = join(directory, segment);
      await makeDirectory(directory);
    }
    await this.update(path, limits);
  }

  async #delegate(directory: string): Promise<void> {
    const [available, enabled] = await Promise.all([
      this.#controllers(directory),
      this.#controllers(directory, "cgroup.subtree_control"),
    ]);
    const missing = wanted.filter(
      (name) => available.has(name) && !enabled.has(name),
    );
    // One by one: one controller that can't be delegated must not keep the others back.
    for (const name of missing)
      await writeFile(
        join(directory, "cgroup.subtree_control"),
        `+${name}`,
      ).catch(() => undefined);
  }

  async #controllers(
    directory: string,
    file = "cgroup.controllers",
  ): Promise<Set<string>> {
    const text = await readFile(join(directory, file), "utf8").catch(() => "");
    return new Set(text.trim().split(/\s+/));
  }

  /** @throws Error when a limit's controller is the machine's and was not handed down to the cgroup */
  async update(path: string, limits: CgroupLimits): Promise<void> {
    const directory = join(this.#mount, path);
    const set = (file: string, value: string): Promise<void> =>
      writeFile(join(directory, file), value).catch(ignoreMissing);
    const limit = async (file: string, value: string): Promise<void> => {
      try {
        await writeFile(join(directory, file), value);
      } catch (error) {
        ignoreMissing(error as NodeJS.ErrnoException);
        const [controller = ""] = file.split(".");
        const machines = await this.#controllers(this.#mount);
        // The cgroup may be gone by now.
        if (!machines.has(controller) || !(await this.exists(path))) return;
        throw new Error(
          `cgroup ${path}: ${file} can't be set: its controller is not handed down`,
          { cause: error },
        );
      }
    };
    if (limits.cpuShares !== undefined)
      await set("cpu.weight", String(cpuWeight(limits.cpuShares)));
    if (limits.cpuQuota !== undefined)
      await limit(
        "cpu.max",
        `${limits.cpuQuota} ${limits.cpuPeriod ?? 100_000}`,
      );
    if (limits.memoryLimitBytes !== undefined)
      await limit("memory.max", String(limits.memoryLimitBytes));
    if (limits.memoryMinBytes !== undefined)
      await set("memory.min", String(limits.memoryMinBytes));
    // systemd knows no huge pages, and may take their controller back. What is reserved and never touched counts alone;
    // kernels before 5.7 do not count it.
    for (const [size, bytes] of Object.entries(limits.hugepageLimits ?? {}))
      for (const what of [size, `${size}.rsvd`])
        await set(`hugetlb.${what}.max`, String(bytes));
    if (limits.maxPids !== undefined && limits.maxPids > 0)
      await limit("pids.max", String(limits.maxPids));
  }

  async usage(path: string): Promise<CgroupUsage> {
    const file = (name: string): string => join(this.#mount, path, name);
    const [cpu, used, limit, stat, processes] = await Promise.all([
      readFile(file("cpu.stat"), "utf8").catch(() => ""),
      readAmount(file("memory.current")),
      readAmount(file("memory.max")),
      readFile(file("memory.stat"), "utf8").catch(() => ""),
      readAmount(file("pids.current")),
    ]);
    const { microseconds } = namedAmounts(cpu, { microseconds: "usage_usec" });
    return {
      ...(microseconds === undefined
        ? {}
        : { cpuNanoseconds: microseconds * 1000 }),
      ...(used === undefined ? {} : { memoryBytes: used }),
      ...workingSet(used, stat, "inactive_file"),
      ...namedAmounts(stat, {
        rssBytes: "anon",
        pageFaults: "pgfault",
        majorPageFaults: "pgmajfault",
      }),
      ...(limit === undefined ? {} : { memoryLimitBytes: limit }),
      ...(processes === undefined ? {} : { processes }),
    };
  }

  async exists(path: string): Promise<boolean> {
    return await access(join(this.#mount, path)).then(
      () => true,
      () => false,
    );
  }

  async remove(path: string): Promise<void> {
    const directory = join(this.#mount, path);
    await writeFile(join(directory, "cgroup.kill"), "1", { flag: "r+" }).catch(
      () => undefined,
    );
    await removeTree(directory, this.#rmdir);
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  // A file that is not there: its controller is not, or was not handed down.
  if (
    error.code !== "ENOENT" &&
    error.code !== "EACCES" &&
    error.code !== "EPERM"
  )
    throw error;
}
