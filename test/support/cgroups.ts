// Removal of the cgroups that tests let runtimes and agents make: nobody else removes the parents.
import * as fs from "node:fs";
import * as path from "node:path";
import { eventually } from "./eventually.ts";

const mount = "/sys/fs/cgroup";

/** Where a controller's groups are: in a hierarchy of its own (version 1), or with all others (version 2). */
export function controllerRoot(controller: string): string {
  const own = path.join(mount, controller);
  return fs.existsSync(own) ? own : mount;
}

/**
 * Removes these groups (paths below the root, as `--cgroup-root` takes them) and all below, in every controller. A
 * group whose last process is still ending can't be removed: it is tried again until the deadline.
 */
export async function removeCgroups(...parents: string[]): Promise<void> {
  const groups = ["", ...fs.readdirSync(mount)].flatMap((controller) =>
    parents.map((parent) => path.join(mount, controller, parent)),
  );
  await eventually(
    () => {
      groups.forEach(removeTree);
      return groups.every((group) => !fs.existsSync(group));
    },
    { what: `the cgroups ${parents.join(", ")} to be removed` },
  );
}

function removeTree(directory: string): void {
  try {
    for (const entry of fs.readdirSync(directory, { withFileTypes: true }))
      if (entry.isDirectory()) removeTree(path.join(directory, entry.name));
    fs.rmdirSync(directory);
  } catch {
    // Not in this controller, or not empty yet.
  }
}
