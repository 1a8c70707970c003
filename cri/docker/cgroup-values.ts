// Values of a container's cgroup that the daemon's API has no field for: limits of huge pages, and files of the unified
// hierarchy that the agent names. They are written as soon as the container runs; one that can't be written is an error.
import { access, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { RuntimeError, type LinuxResources } from "../runtime.ts";

/** Kept with the container: who starts it may be another process than the one that made it. */
export interface CgroupValues extends Pick<
  LinuxResources,
  "hugepageLimits" | "unified"
> {
  /** Of the pod, as a path of the cgroup file system. */
  parent: string;
}

interface Driver {
  readonly cgroupDriver: string;
  readonly cgroupVersion: 1 | 2;
}

/** undefined: the daemon sets all of them. */
export function cgroupValues(
  parent: string,
  { hugepageLimits = [], unified = {} }: LinuxResources = {},
): CgroupValues | undefined {
  const hasUnified = Object.keys(unified).length > 0;
  if (hugepageLimits.length === 0 && !hasUnified) return undefined;
  return {
    parent,
    ...(hugepageLimits.length > 0 ? { hugepageLimits } : {}),
    ...(hasUnified ? { unified } : {}),
  };
}

const swapLimit = "memory.swap.max";

/**
 * What is to be written after the daemon has set these resources of a running container; undefined: nothing. Where it sets the
 * memory it takes away the swap, of which its API only knows how much more than the memory it may be.
 *
 * @param made with the container
 */
export function valuesAfterUpdate(
  made: CgroupValues | undefined,
  resources: LinuxResources,
): CgroupValues | undefined {
  const values = cgroupValues("", resources);
  const swap =
    (resources.memoryLimitBytes ?? 0) > 0
      ? made?.unified?.[swapLimit]
      : undefined;
  if (!values && swap === undefined) return undefined;
  if (!made)
    throw new RuntimeError(
      "unsupported",
      "a container that was made without such values gets none of its cgroup later with the docker runtime",
    );
  return {
    ...values,
    ...(swap === undefined
      ? {}
      : { unified: { [swapLimit]: swap, ...values?.unified } }),
    parent: made.parent,
  };
}

/** As the daemon names it: by the id, or as a scope. */
function cgroupPath(parent: string, id: string, driver: string): string {
  return driver === "systemd"
    ? join(slicePath(parent), `docker-${id}.scope`)
    : join(parent, id);
}

/** orbit-burstable-podu.slice lies in orbit-burstable.slice, and that one in orbit.slice. */
function slicePath(slice: string): string {
  const parts = basename(slice, ".slice").split("-");
  return parts
    .map((_, n) => `${parts.slice(0, n + 1).join("-")}.slice`)
    .join("/");
}

/** Of a container that runs. Rejects also when its cgroup is gone. */
export async function writeCgroupValues(
  mount: string,
  { cgroupDriver, cgroupVersion }: Driver,
  id: string,
  { parent, hugepageLimits = [], unified = {} }: CgroupValues,
): Promise<void> {
  const path = cgroupPath(parent, id, cgroupDriver);
  const directory = join(mount, cgroupVersion === 2 ? "" : "hugetlb");
  const set = async (
    file: string,
    value: string,
    mayLack = false,
  ): Promise<void> => {
    // A name is no way to another cgroup.
    if (file !== basename(file))
      throw new RuntimeError("invalid", `${file} is no file of a cgroup`);
    try {
      await writeFile(join(directory, path, file), value, { flag: "r+" });
    } catch (error) {
      if (mayLack && (error as NodeJS.ErrnoException).code === "ENOENT") return;
      throw new RuntimeError(
        "unknown",
        `can't set ${file} of the container to ${value}: ${(error as Error).message}`,
        { cause: error },
      );
    }
  };
  const ending = cgroupVersion === 2 ? "max" : "limit_in_bytes";
  // Without that controller nothing counts huge pages, with any runtime.
  if (hugepageLimits.length > 0 && (await countsHugePages(mount)))
    for (const { pageSize, limitBytes } of hugepageLimits) {
      await set(`hugetlb.${pageSize}.${ending}`, String(limitBytes));
      // What is reserved and never touched; kernels before 5.7 do not count it.
      await set(`hugetlb.${pageSize}.rsvd.${ending}`, String(limitBytes), true);
    }
  for (const [file, value] of Object.entries(unified)) await set(file, value);
}

async function countsHugePages(mount: string): Promise<boolean> {
  const controllers = await readFile(
    join(mount, "cgroup.controllers"),
    "utf8",
  ).catch(() => undefined);
  if (controllers !== undefined)
    return controllers.trim().split(" ").includes("hugetlb");
  return await access(join(mount, "hugetlb")).then(
    () => true,
    () => false,
  );
}
