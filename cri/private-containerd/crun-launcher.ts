// A small program in front of crun, as machine code (`launcher-code.ts`), that saves two things.
// crun makes sure that no container can write its program (CVE-2019-5736): each call makes a read-only mount of a file of its
// own, takes the mount out of sight and starts itself once more from there. It starts only once where its file is on a
// read-only mount already, and the program gives it one, by two calls of the kernel.
// On machines whose cgroups are of both versions at once crun makes no container while the hierarchy of version 2
// (/sys/fs/cgroup/unified) has a controller. Its containers get the limits of version 1 there in any case, as runc's do, so
// the program lets it make them in a mount namespace that does not show that hierarchy.
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../directories.ts";
import { installProgram } from "../program-file.ts";
import { hostArchitecture } from "../machine-code/architecture.ts";
import { launcherProgram, type LauncherMount } from "./launcher-code.ts";

const secondHierarchy = "/sys/fs/cgroup/unified";

/** MS_PRIVATE of mount(2). */
const privateMount = 0x40000;

/**
 * What hides the hierarchy behind a file system that goes with the namespace: crun makes each container's directory there,
 * too. Mounts go on between the machine and the namespace, in which the container's own one is made, as without it. The
 * hierarchy's mount is made private first: where it is shared, the machine would lose it otherwise.
 */
export const hidingMounts = (hierarchy = secondHierarchy): LauncherMount[] => [
  { target: hierarchy, flags: privateMount },
  { source: "orbit", target: hierarchy, type: "tmpfs", flags: 0 },
];

/** Whether both versions are there and the second one has a controller. */
export async function hasMixedControllers(
  hierarchy = secondHierarchy,
): Promise<boolean> {
  const controllers = join(hierarchy, "cgroup.controllers");
  return (await fs.readFile(controllers, "utf8").catch(() => "")) !== "";
}

/** The shims of containers that older versions have made run this file. */
const mixedLauncherName = "crun-cgroups-v1";

interface CrunLauncherOptions {
  /** Where it is written. */
  directory: string;
  crun: string;
  /** The hierarchy of version 2 is hidden from it. */
  mixedControllers: boolean;
}

/** Writes the program. Resolves to its path; undefined where it can't run there. */
export async function installCrunLauncher({
  directory,
  crun,
  mixedControllers,
}: CrunLauncherOptions): Promise<string | undefined> {
  const name = mixedControllers ? mixedLauncherName : "crun-read-only";
  const launcher = join(directory, name);
  const mounts = mixedControllers ? hidingMounts() : [];
  try {
    await makeDirectory(directory, 0o700);
    const settings = { program: crun, mounts };
    const bytes = launcherProgram(hostArchitecture(), settings);
    if (!(await installProgram(launcher, bytes))) return undefined;
    // What a script of that name showed, with a directory of each container that it made.
    const shown = join(directory, "no-cgroups");
    await fs.rm(shown, { recursive: true, force: true });
    return launcher;
  } catch {
    return undefined;
  }
}
