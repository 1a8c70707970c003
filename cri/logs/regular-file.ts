// Opening log files. Their directory may be a volume of a pod that collects logs, which can put what it likes in a log's place:
// a link would lead to another file of the node, and opening a pipe would hold one of this process's few threads until it has
// another end. So the name itself is opened, and nothing but a file.
import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";

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
