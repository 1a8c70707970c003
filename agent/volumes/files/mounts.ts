// The few mounts the agent itself makes (tmpfs for emptyDir, binds for subPath) through mount(8), and what is mounted.
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";

/** Rejects with what mount or umount said. `fd` is handed to it as descriptor 3. */
function run(program: string, args: string[], fd?: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "ignore", "pipe", ...(fd === undefined ? [] : [fd])],
    });
    let text = "";
    child.stderr!.on("data", (chunk: Buffer) => {
      if (text.length < 4096) text += chunk.toString("utf8");
    });
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0
        ? resolve()
        : reject(
            new Error(
              `${program} ${args.join(" ")}: ${text.trim() || `exit ${code}`}`,
            ),
          ),
    );
  });
}

/** `options`: further ones, e.g. mode=0700. */
export async function mountTmpfs(
  target: string,
  sizeBytes: number | undefined,
  options: readonly string[] = [],
): Promise<void> {
  const all = [
    ...(sizeBytes === undefined ? [] : [`size=${sizeBytes}`]),
    ...options,
  ];
  const mount = (given: readonly string[]): Promise<void> =>
    run("mount", [
      ...["-t", "tmpfs"],
      ...(given.length === 0 ? [] : ["-o", given.join(",")]),
      ...["tmpfs", target],
    ]);
  // Linux 6.4 and later can keep it out of swap.
  await mount([...all, "noswap"]).catch(() => mount(all));
}

export async function mountHugepages(
  target: string,
  pageSizeBytes: number,
): Promise<void> {
  const option = `pagesize=${pageSizeBytes / 1024}K`;
  await run("mount", ["-t", "hugetlbfs", "-o", option, "nodev", target]);
}

/** A file system of another machine. Fails when its mount helper is not installed. */
export async function mountRemote(
  type: string,
  source: string,
  target: string,
  options: readonly string[],
): Promise<void> {
  const given = options.length === 0 ? [] : ["-o", options.join(",")];
  // A source that begins with a dash would be an option, "-T" with a table of mounts of a pod's own.
  await run("mount", ["-t", type, ...given, "--", source, target]);
}

/** Binds what the open descriptor refers to, whatever its path may lead to by now. */
export async function bindDescriptor(
  fd: number,
  target: string,
): Promise<void> {
  await run(
    "mount",
    ["--no-canonicalize", "--bind", "/proc/self/fd/3", target],
    fd,
  );
}

/** Binds a directory. `options`: of this mount alone, e.g. noexec. */
export async function bindMount(
  source: string,
  target: string,
  options: readonly string[] = [],
): Promise<void> {
  const given = ["bind", ...options].join(",");
  await run("mount", ["-o", given, "--", source, target]);
}

export async function unmount(target: string): Promise<void> {
  await run("umount", ["-l", target]);
}

/** Fails while it is in use; afterwards everything is on the device. */
export async function unmountIdle(target: string): Promise<void> {
  await run("umount", [target]);
}

interface MountPoint {
  /** `major:minor` of the file system. */
  readonly device: string;
  readonly target: string;
}

/** All of this namespace, in the order in which they were made. */
export async function mountPoints(): Promise<MountPoint[]> {
  return (await mountLines()).flatMap(mountPoint);
}

/** One for each mount, for mountsBelow(). */
export async function mountLines(): Promise<string[]> {
  return (await readFile("/proc/self/mountinfo", "utf8")).split("\n");
}

function mountPoint(line: string): MountPoint[] {
  const device = line.split(" ", 3)[2];
  if (device === undefined) return [];
  return [{ device, target: mountTarget(line) }];
}

/** Of one of mountLines(). */
export function mountTarget(line: string): string {
  const field = line.split(" ", 5)[4] ?? "";
  return field.replace(/\\([0-7]{3})/g, (_all, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

/** A path as the kernel writes it in mountinfo. */
function mountField(path: string): string {
  return path.replace(
    /[ \t\n\\]/g,
    (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
}

/** Mount points at or below a directory, deepest first. */
export async function mountsBelow(
  directory: string,
  lines: Promise<readonly string[]> = mountLines(),
): Promise<string[]> {
  // A node with a hundred pods has a thousand mounts: only the lines that may count are taken apart.
  const field = ` ${mountField(directory)}`;
  return (await lines)
    .filter((line) => line.includes(field))
    .flatMap(mountPoint)
    .map(({ target }) => target)
    .filter(
      (target) => target === directory || target.startsWith(`${directory}/`),
    )
    .reverse();
}

export async function isMountPoint(directory: string): Promise<boolean> {
  return (await mountsBelow(directory)).includes(directory);
}
