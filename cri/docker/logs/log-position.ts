// How far a container's log is copied, in a file beside the copy. It is written at most once a second: what was copied since
// then is found by counting the lines that the copy has beyond it, as each entry of the daemon's log is one line of the copy.
import * as fs from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { logFileFlags, openLogFile } from "../../logs/regular-file.ts";

export interface LogPosition {
  /** Time of the first entry of the daemon's file that is being copied: files are renamed, and inodes used again. */
  first: string;
  /** Bytes of that file. */
  offset: number;
  /** Size of the copy at that moment. */
  copiedBytes: number;
  /** The container has ended and all of it is copied. */
  done: boolean;
}

export const beginning: LogPosition = {
  first: "",
  offset: 0,
  copiedBytes: 0,
  done: false,
};

/** Hidden, so that no reader takes it for a log or a rotated one. */
export function positionFile(logPath: string): string {
  return join(dirname(logPath), `.${basename(logPath)}.position`);
}

export async function readPosition(
  logPath: string,
): Promise<LogPosition | undefined> {
  try {
    const file = await openLogFile(positionFile(logPath), logFileFlags.read);
    try {
      const text = await file.readFile("utf8");
      return { ...beginning, ...(JSON.parse(text) as Partial<LogPosition>) };
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

export async function writePosition(
  logPath: string,
  position: LogPosition,
): Promise<void> {
  const path = positionFile(logPath);
  await fs.rm(`${path}.new`, { force: true });
  await fs.writeFile(`${path}.new`, JSON.stringify(position), {
    mode: 0o600,
    flag: "wx",
  });
  await fs.rename(`${path}.new`, path);
}

const newline = 0x0a;
const chunkBytes = 64 * 1024;

/**
 * Lines of the copy from `from` on. A last line without its end, which a power loss may leave, is cut off: its entry is
 * copied again.
 */
export async function linesBeyond(
  copy: fs.FileHandle,
  from: number,
): Promise<number> {
  const chunk = Buffer.alloc(chunkBytes);
  let lines = 0;
  let end = from;
  let position = from;
  for (;;) {
    const { bytesRead } = await copy.read(chunk, 0, chunkBytes, position);
    if (bytesRead === 0) break;
    for (
      let at = chunk.indexOf(newline);
      at >= 0 && at < bytesRead;
      at = chunk.indexOf(newline, at + 1)
    ) {
      lines++;
      end = position + at + 1;
    }
    position += bytesRead;
  }
  if (end < position) await copy.truncate(end);
  return lines;
}
