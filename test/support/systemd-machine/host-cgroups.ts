// The cgroup of a guest in every hierarchy of the host: where the guest's cgroup namespace begins, so that its systemd
// does not take the host's hierarchies for its own.
import * as fs from "node:fs";
import * as path from "node:path";

const mount = "/sys/fs/cgroup";

/** The host has version 2 alone. */
export function isUnified(): boolean {
  return fs.existsSync(path.join(mount, "cgroup.controllers"));
}

function hierarchies(): string[] {
  if (isUnified()) return [mount];
  return fs
    .readdirSync(mount)
    .map((name) => path.join(mount, name))
    .filter((directory) => fs.existsSync(path.join(directory, "cgroup.procs")));
}

/** The directories of that cgroup, one for each hierarchy. */
export function cgroupsNamed(name: string): string[] {
  return hierarchies().map((directory) => path.join(directory, name));
}

/** Rejects nothing: throws with what the kernel said when a hierarchy can't be written. */
export function makeCgroups(name: string): void {
  for (const group of cgroupsNamed(name)) {
    fs.mkdirSync(group, { recursive: true });
    const parent = path.dirname(group);
    // cpuset of version 1 takes processes only with its values set.
    for (const file of ["cpuset.cpus", "cpuset.mems"])
      if (
        group.startsWith(path.join(mount, "cpuset")) &&
        fs.existsSync(path.join(group, file))
      )
        fs.writeFileSync(
          path.join(group, file),
          fs.readFileSync(path.join(parent, file)),
        );
    // In the unified hierarchy controllers are handed down one by one.
    const control = path.join(parent, "cgroup.subtree_control");
    if (parent === mount && fs.existsSync(control))
      for (const controller of ["cpu", "memory", "pids", "cpuset", "io"])
        try {
          fs.writeFileSync(control, `+${controller}`);
        } catch {
          // Not there, or the root has processes of its own: what is handed down already has to do.
        }
  }
}

/** All below included; fails while a process is left in one. */
export function removeCgroups(name: string): void {
  for (const group of cgroupsNamed(name)) removeTree(group);
}

function removeTree(directory: string): void {
  if (!fs.existsSync(directory)) return;
  for (const entry of fs.readdirSync(directory, { withFileTypes: true }))
    if (entry.isDirectory()) removeTree(path.join(directory, entry.name));
  fs.rmdirSync(directory);
}
