// Opening log files. Their directory may be a volume of a pod that collects logs, which can put what it likes in a log's place:
// a link would lead to another file of the node, and opening a pipe would hold one of this process's few threads until it has
// another end. So the name itself is opened, and nothing but a file. The one link that is followed is cri-dockerd's: to the file
// in which Docker itself keeps the log of that container.
import { constants } from "node:fs";
import { lstat, open, readlink, stat, type FileHandle } from "node:fs/promises";

export const logFileFlags = {
  read: constants.O_RDONLY,
  append: constants.O_RDWR | constants.O_APPEND | constants.O_CREAT,
  /** Rejects with EEXIST when there is anything of that name. */
  create: constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
} as const;

/** Rejects with what open() says, and when it is no regular file. */
export async function openLogFile(
  path: string,
  flags: number,
  mode?: number,
): Promise<FileHandle> {
  const { O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(path, flags | O_NOFOLLOW | O_NONBLOCK, mode);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new Error(`${path} is not a regular file`);
}

/** A log that is read. */
export interface LogSource {
  path: string;
  /** Of the container, where the path may be a link to Docker's own file. */
  dockerId?: string;
}

/** For reading. Rejects as openLogFile does. */
export async function openLogSource({
  path,
  dockerId,
}: LogSource): Promise<FileHandle> {
  const target = dockerId && (await readlink(path).catch(() => undefined));
  if (!target || !isDockerLog(target, dockerId))
    return await openLogFile(path, logFileFlags.read);
  const handle = await openLogFile(target, logFileFlags.read);
  // A directory of the target's path may have been a link.
  const real = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => "");
  if (isDockerLog(real, dockerId)) return handle;
  await handle.close();
  throw new Error(`${path} is not a regular file`);
}

/** The number of the file that would be opened now; undefined when there is none. */
export async function inodeOf({
  path,
  dockerId,
}: LogSource): Promise<number | undefined> {
  const look = dockerId === undefined ? lstat : stat;
  return (await look(path).catch(() => undefined))?.ino;
}

function isDockerLog(path: string, id: string): boolean {
  return path.endsWith(`/containers/${id}/${id}-json.log`);
}
