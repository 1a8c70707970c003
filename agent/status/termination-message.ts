// A container's last words: the termination log it may have written, else (when its policy says so and it failed) the
// end of its output. At most 4096 bytes of the file, 2048 bytes or 80 lines of the log.
import { open } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { parseLogLine } from "../../cri/logs/log-line.ts";
import { tailPosition } from "../../cri/logs/log-reader.ts";
import { containerRecord } from "../pods/shape/labels.ts";
import type { ContainerStatus } from "../../cri/runtime.ts";

const maxFileBytes = 4096;
const maxLogBytes = 2048;
const maxLogLines = 80;
const LOG_DELAY_MS = 100;

/** "" when there are none. Never rejects. */
export async function terminationMessage(
  status: ContainerStatus,
): Promise<string> {
  const record = containerRecord(status.annotations);
  const mount = status.mounts.find(
    ({ containerPath }) => containerPath === record.terminationMessagePath,
  );
  const text = mount ? await beginning(mount.hostPath) : "";
  if (
    text !== "" ||
    record.terminationMessagePolicy !== "FallbackToLogsOnError" ||
    status.exitCode === 0
  )
    return text;
  if (!status.logPath) return "";
  const log = await endOfLog(status.logPath);
  if (log !== "") return log;
  // The runtime tells of the end a moment before it has written the last output.
  await setTimeout(LOG_DELAY_MS);
  return endOfLog(status.logPath);
}

async function beginning(path: string): Promise<string> {
  try {
    const handle = await open(path, "r");
    try {
      const buffer = Buffer.alloc(maxFileBytes);
      const { bytesRead } = await handle.read(buffer, 0, maxFileBytes, 0);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch {
    return "";
  }
}

async function endOfLog(path: string): Promise<string> {
  try {
    const handle = await open(path, "r");
    try {
      const { size } = await handle.stat();
      const position = await tailPosition(handle, maxLogLines, size);
      // Timestamps and tags come on top of the text.
      const start = Math.max(
        position,
        size - 2 * maxLogBytes - maxLogLines * 64,
      );
      const buffer = Buffer.alloc(size - start);
      await handle.read(buffer, 0, buffer.length, start);
      const text = buffer
        .toString("latin1")
        .split("\n")
        .map((line) => {
          const parsed = parseLogLine(Buffer.from(line, "latin1"));
          return parsed
            ? parsed.text.toString("utf8") + (parsed.partial ? "" : "\n")
            : "";
        })
        .join("");
      return text.slice(-maxLogBytes);
    } finally {
      await handle.close();
    }
  } catch {
    return "";
  }
}
