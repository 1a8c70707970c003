// The torn end of the log after a crash is kept beside the log as `log.torn-<time>` before it is cut off: the write was
// never acknowledged, and an administrator can check that in the file. The newest few files are kept.
import * as path from "node:path";
import { crashPoint } from "../../api/crash-point.ts";
import { removeIfThere, syncDirectory } from "./directories.ts";
import type { FileSystem, OpenFile } from "./file-system.ts";
import { FileWindow, WINDOW_BYTES } from "./file-window.ts";
import { createLog } from "./log-file.ts";

const KEPT_FILES = 10;
const PREFIX = "log.torn-";

/** Copies the bytes between two positions; durable when it resolves to the copy's name. */
export async function keepTornTail(
  fileSystem: FileSystem,
  directory: string,
  log: OpenFile,
  from: number,
  to: number,
  nowMs: number,
): Promise<string> {
  const time = new Date(nowMs).toISOString().replace(/[:.]/g, "-");
  const kept = (await fileSystem.list(directory))
    .filter((name) => name.startsWith(PREFIX))
    .sort();
  const same = kept.filter((name) => name.startsWith(PREFIX + time)).length;
  const file = path.join(
    directory,
    `${PREFIX}${time}${same > 0 ? `-${same + 1}` : ""}`,
  );
  const copy = await createLog(fileSystem, file);
  try {
    const window = new FileWindow(log, to);
    for (let at = from; at < to; at += WINDOW_BYTES)
      await copy.appendUnsynced(await window.read(at, WINDOW_BYTES));
    await copy.sync();
  } finally {
    await copy.close();
  }
  await syncDirectory(fileSystem, directory);
  crashPoint("store.open.tailKept");
  for (const name of kept.slice(0, Math.max(0, kept.length + 1 - KEPT_FILES)))
    await removeIfThere(fileSystem, path.join(directory, name));
  return file;
}
