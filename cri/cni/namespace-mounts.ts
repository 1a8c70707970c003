// The directory of named network namespaces, /run/netns, kept so that a sandbox's namespace can always be removed.
// `ip netns add` makes the directory a shared mount point when it is none yet, by binding it over itself with all that is
// mounted in it. Where /run is a shared mount the two stay one; where it is not, each namespace of a sandbox is then mounted
// twice, and the mount below is out of reach: its file can't be removed any more ("device or resource busy").
// So the directory is made such a mount point before the first sandbox. Where others did it while sandboxes ran, their mount
// is put aside for some milliseconds, what it hides is unmounted, and it is put back, with all namespaces in it.
// `ip` takes the same lock while it makes the mount point.
import { execFile } from "node:child_process";
import * as fs from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Logger } from "pino";
import { makeDirectory } from "../directories.ts";

const namespaceDirectory = "/run/netns";
const scriptTimeoutMs = 30_000;

interface Mount {
  readonly id: string;
  readonly parent: string;
  readonly point: string;
  readonly shared: boolean;
}

/** Beside the directory, so that it is in the same mount. */
const asideOf = (directory: string): string =>
  join(dirname(directory), `.${basename(directory)}-orbit`);

// A mount that was left aside by one that was killed is put back first.
const opening = `set -e
directory=$1 aside=$2
shift 2
exec 9<"$directory"
flock 9
if mountpoint -q "$aside"; then mountpoint -q "$directory" || mount --move "$aside" "$directory"; fi
`;

const protectScript = `${opening}
if ! mountpoint -q "$directory"; then
  mount --rbind "$directory" "$directory"
  mount --make-rshared "$directory"
fi
`;

const unhideScript = `${opening}
mkdir -p "$aside"
mount --move "$directory" "$aside"
for name; do umount -l "$directory/$name" || :; done
mount --move "$aside" "$directory"
rmdir "$aside"
`;

/** Whether a runtime's failure is that it can't remove the file of a namespace. */
export function isHiddenNamespace(message: string): boolean {
  return (
    message.includes("/netns/") && message.includes("device or resource busy")
  );
}

function parsed(line: string): Mount[] {
  const [id, parent, , , field, , ...rest] = line.split(" ");
  if (id === undefined || parent === undefined || field === undefined)
    return [];
  const point = field.replace(/\\([0-7]{3})/g, (_all, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
  const options = rest.slice(0, rest.indexOf("-"));
  const shared = options.some((option) => option.startsWith("shared:"));
  return [{ id, parent, point, shared }];
}

async function mounts(): Promise<Mount[]> {
  const text = await fs.readFile("/proc/self/mountinfo", "utf8");
  return text.split("\n").flatMap(parsed);
}

/** Of the mount that is seen there. */
async function mountId(directory: string): Promise<string | undefined> {
  const handle = await fs.open(directory, "r");
  try {
    const text = await fs.readFile(`/proc/self/fdinfo/${handle.fd}`, "utf8");
    return /^mnt_id:\s*(\d+)$/m.exec(text)?.[1];
  } finally {
    await handle.close();
  }
}

async function run(
  script: string,
  directory: string,
  names: readonly string[] = [],
): Promise<void> {
  await promisify(execFile)(
    "sh",
    ["-c", script, "sh", directory, asideOf(directory), ...names],
    { timeout: scriptTimeoutMs },
  );
}

/** Resolves to the names that were hidden and are not any more. */
async function protect(directory: string): Promise<string[]> {
  await makeDirectory(directory, 0o755);
  const seen = async (): Promise<{
    all: Mount[];
    top: Mount | undefined;
  }> => {
    const [all, id] = [await mounts(), await mountId(directory)];
    return { all, top: all.find((mount) => mount.id === id) };
  };
  let { all, top } = await seen();
  if (top !== undefined && top.point !== directory) {
    // Its copy would be one with it.
    if (top.shared) return [];
    await run(protectScript, directory);
    ({ all, top } = await seen());
  }
  if (top === undefined || top.point !== directory) return [];
  const below = all.find((mount) => mount.id === top.parent);
  if (below === undefined || below.shared) return [];
  const names = all
    .filter(
      ({ parent, point }) =>
        parent === below.id && dirname(point) === directory,
    )
    .map(({ point }) => basename(point));
  if (names.length > 0) await run(unhideScript, directory, names);
  return names;
}

/**
 * Does what is needed so that namespaces can be removed whatever other programs do, and again when it is called again. A
 * failure is logged: most machines need none of it.
 */
export async function protectNamespaces(
  logger: Logger,
  directory = namespaceDirectory,
): Promise<void> {
  try {
    const names = await protect(directory);
    if (names.length > 0)
      logger.info(
        { directory, namespaces: names.length },
        "another program's mount hid network namespaces of pods: brought in order",
      );
  } catch (err) {
    logger.warn(
      { err, directory },
      "can't keep the directory of network namespaces in order: `ip netns add` may keep pods from being removed",
    );
  }
}
