// A small shell script in front of crun, for machines whose cgroups are of both versions at once. crun makes no container
// while the hierarchy of version 2 (/sys/fs/cgroup/unified) has a controller. Its containers get the limits of version 1
// there in any case, as runc's do, so the script lets it make them in a mount namespace that does not show that hierarchy.
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../directories.ts";
import { findProgram } from "../process.ts";
import { installScript, shellQuoted } from "../script-file.ts";

const secondHierarchy = "/sys/fs/cgroup/unified";

interface ScriptPrograms {
  crun: string;
  unshare: string;
  mount: string;
  /** An empty directory, shown in place of the hierarchy. */
  empty: string;
}

/**
 * The script. Only `create` looks for the hierarchy; every other command is crun's own. Mounts go on between the machine and
 * the namespace, in which the container's own one is made, as without it. The hierarchy's mount is made private first:
 * where it is shared, the machine would lose it otherwise.
 */
export function crunScript(
  { crun, unshare, mount, empty }: ScriptPrograms,
  hierarchy = secondHierarchy,
): string {
  return `#!/bin/sh
# Written by orbit at every start; changes are lost.
case $1 in check) exit 0 ;; esac
crun=${shellQuoted(crun)}
for word; do
  case $word in
  create)
    exec ${shellQuoted(unshare)} --mount --propagation unchanged /bin/sh -c '
      mount=$1 empty=$2 hierarchy=$3
      shift 3
      "$mount" --make-private "$hierarchy" &&
        "$mount" --bind "$empty" "$hierarchy" && exec "$@"' \\
      sh ${shellQuoted(mount)} ${shellQuoted(empty)} ${shellQuoted(hierarchy)} "$crun" "$@"
    ;;
  start | state | kill | delete | exec | ps | update | pause | resume) break ;;
  esac
done
exec "$crun" "$@"
`;
}

/** Whether both versions are there and the second one has a controller. */
export async function hasMixedControllers(
  hierarchy = secondHierarchy,
): Promise<boolean> {
  const controllers = join(hierarchy, "cgroup.controllers");
  return (await fs.readFile(controllers, "utf8").catch(() => "")) !== "";
}

/** Writes the script below the directory. Resolves to its path; undefined where it can't run there. */
export async function installCrunScript(
  directory: string,
  crun: string,
): Promise<string | undefined> {
  const unshare = await findProgram("unshare");
  const mount = await findProgram("mount");
  if (unshare === undefined || mount === undefined) return undefined;
  const empty = join(directory, "no-cgroups");
  const script = join(directory, "crun-cgroups-v1");
  try {
    await makeDirectory(directory, 0o700);
    await makeDirectory(empty, 0o755);
  } catch {
    return undefined;
  }
  const text = crunScript({ crun, unshare, mount, empty });
  return (await installScript(script, text)) ? script : undefined;
}
