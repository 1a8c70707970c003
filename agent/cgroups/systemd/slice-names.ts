// How cgroups are named: by the driver cgroupfs as they are, by the driver systemd as slices. Pure.
// Worked example: /kubepods/burstable/pod1-2 is the slice kubepods-burstable-pod1_2.slice, which lies in
// /kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice: a dash separates the levels, so that those of
// a name become underscores.

export interface CgroupNames {
  /** Where the cgroup lies below the mount; a path that lies there already stays. */
  place(path: string): string;
  /** How a container runtime is given a parent for its cgroups. */
  parent(path: string): string;
}

const pathNames: CgroupNames = {
  place: (path) => path,
  parent: (path) => path,
};

const suffix = ".slice";

const sliceNames: CgroupNames = { place: slicePath, parent: sliceOf };

export function cgroupNames(driver: "cgroupfs" | "systemd"): CgroupNames {
  return driver === "systemd" ? sliceNames : pathNames;
}

/** The slice's own name: `-.slice` is the root. */
export function sliceOf(path: string): string {
  const levels = levelsOf(path);
  return levels.length === 0 ? `-${suffix}` : `${levels.join("-")}${suffix}`;
}

function slicePath(path: string): string {
  const levels = levelsOf(path);
  return `/${levels.map((_, depth) => `${levels.slice(0, depth + 1).join("-")}${suffix}`).join("/")}`;
}

/** Of a path of names, or of a slice: its last part says all. */
function levelsOf(path: string): string[] {
  const parts = path.split("/").filter(Boolean);
  const last = parts.at(-1) ?? "";
  if (last === `-${suffix}`) return [];
  return last.endsWith(suffix)
    ? last.slice(0, -suffix.length).split("-")
    : parts.map((part) => part.replaceAll("-", "_"));
}
