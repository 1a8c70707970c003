// cgroup v1: the same path in every controller's hierarchy. The cpusets of a pod's parents are filled from above; the pod's
// own is left to the runtimes, which fill those of a container and of all above it that are empty. Nothing but us removes
// these directories (the runtime makes them in controllers we do not know of).
import {
  access,
  mkdir,
  readdir,
  readFile,
  rmdir,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import type {
  CgroupDriver,
  CgroupLimits,
  CgroupUsage,
} from "./cgroup-driver.ts";
import { fillCpuset } from "./cpuset-values.ts";
import { namedAmounts, readAmount, workingSet } from "./usage-files.ts";
import { isMissing, removeTree } from "./removal.ts";

export class CgroupV1 implements CgroupDriver {
  readonly version = 1;
  readonly #mount: string;
  #controllers: Promise<string[]> | undefined;
  #hierarchical: Promise<boolean> | undefined;
  readonly #made = new Set<string>();

  constructor(mount: string) {
    this.#mount = mount;
  }

  async create(path: string, limits: CgroupLimits): Promise<void> {
    const segments = path.split("/").filter(Boolean);
    const controllers = await this.#list();
    for (let depth = 1; depth <= segments.length; depth++) {
      const partial = `/${segments.slice(0, depth).join("/")}`;
      const isParent = depth < segments.length;
      if (isParent && this.#made.has(partial)) continue;
      const done = await Promise.all(
        controllers.map((controller) =>
          this.#make(controller, partial, isParent),
        ),
      );
      if (isParent && done.every(Boolean)) this.#made.add(partial);
    }
    await this.update(path, limits);
  }

  /** Resolves to whether nothing is left to be done for what is made below it. */
  async #make(
    controller: string,
    path: string,
    isParent: boolean,
  ): Promise<boolean> {
    const directory = join(this.#mount, controller, path);
    await mkdir(directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    if (controller === "memory" && !(await this.#isHierarchical()))
      await write(join(directory, "memory.use_hierarchy"), "1").catch(
        () => undefined,
      );
    if (controller !== "cpuset" || !isParent) return true;
    return await fillCpuset(directory).then(
      () => true,
      // It is tried again; the runtime fills it, too, or says why it can't.
      () => false,
    );
  }

  /** All cgroups are, where the root is: with systemd, and since Linux 5.11. */
  #isHierarchical(): Promise<boolean> {
    this.#hierarchical ??= readFile(
      join(this.#mount, "memory/memory.use_hierarchy"),
      "utf8",
    ).then(
      (text) => text.trim() === "1",
      () => false,
    );
    return this.#hierarchical;
  }

  async update(path: string, limits: CgroupLimits): Promise<void> {
    const controllers = new Set(await this.#list());
    const set = async (
      controller: string,
      file: string,
      value: number | undefined,
    ): Promise<void> => {
      if (value !== undefined && controllers.has(controller))
        await write(join(this.#mount, controller, path, file), String(value));
    };
    await set("cpu", "cpu.shares", limits.cpuShares);
    if (limits.cpuQuota !== undefined) {
      await set("cpu", "cpu.cfs_period_us", limits.cpuPeriod);
      await set("cpu", "cpu.cfs_quota_us", limits.cpuQuota);
    }
    await set("memory", "memory.limit_in_bytes", limits.memoryLimitBytes);
    for (const [size, bytes] of Object.entries(limits.hugepageLimits ?? {})) {
      await set("hugetlb", `hugetlb.${size}.limit_in_bytes`, bytes);
      // What is reserved and never touched; kernels before 5.7 do not count it.
      await set("hugetlb", `hugetlb.${size}.rsvd.limit_in_bytes`, bytes);
    }
    if (limits.maxPids !== undefined && limits.maxPids > 0)
      await set("pids", "pids.max", limits.maxPids);
  }

  async usage(path: string): Promise<CgroupUsage> {
    const file = (controller: string, name: string): string =>
      join(this.#mount, controller, path, name);
    const [cpu, used, limit, stat, processes] = await Promise.all([
      readAmount(file("cpuacct", "cpuacct.usage")),
      readAmount(file("memory", "memory.usage_in_bytes")),
      readAmount(file("memory", "memory.limit_in_bytes")),
      readFile(file("memory", "memory.stat"), "utf8").catch(() => ""),
      readAmount(file("pids", "pids.current")),
    ]);
    return {
      ...(cpu === undefined ? {} : { cpuNanoseconds: cpu }),
      ...(used === undefined ? {} : { memoryBytes: used }),
      ...workingSet(used, stat, "total_inactive_file"),
      ...namedAmounts(stat, {
        rssBytes: "total_rss",
        pageFaults: "total_pgfault",
        majorPageFaults: "total_pgmajfault",
      }),
      // Without a limit the kernel reports its largest number of pages.
      ...(limit !== undefined && limit < Number.MAX_SAFE_INTEGER
        ? { memoryLimitBytes: limit }
        : {}),
      ...(processes === undefined ? {} : { processes }),
    };
  }

  async exists(path: string): Promise<boolean> {
    const found = await Promise.all(
      ["cpu", "memory"].map((controller) =>
        access(join(this.#mount, controller, path)).then(
          () => true,
          () => false,
        ),
      ),
    );
    return found.every(Boolean);
  }

  async remove(path: string): Promise<void> {
    await Promise.all(
      (await this.#list()).map((controller) =>
        removeTree(join(this.#mount, controller, path), rmdir),
      ),
    );
  }

  /** Hierarchies present; symbolic links (cpu → cpu,cpuacct) are the same hierarchy twice. */
  #list(): Promise<string[]> {
    this.#controllers ??= readdir(this.#mount, { withFileTypes: true }).then(
      (entries) => {
        const links = entries
          .filter((entry) => entry.isSymbolicLink())
          .map(({ name }) => name);
        const directories = entries
          .filter((entry) => entry.isDirectory())
          .map(({ name }) => name);
        // A joint hierarchy is addressed by its short names where links exist.
        return directories
          .filter((name) => !name.includes(","))
          .concat(
            links.includes("cpu") ? ["cpu"] : [],
            links.includes("net_cls") ? ["net_cls"] : [],
          );
      },
    );
    return this.#controllers;
  }
}

async function write(file: string, value: string): Promise<void> {
  try {
    await writeFile(file, value, { flag: "r+" });
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
