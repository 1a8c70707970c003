// A container's last message: the termination log it may have written, else (when its policy says so and it failed) the
// end of its output. At most the last 4096 bytes of the file, 2048 characters or 80 lines of the log.
import { open } from "node:fs/promises";
import { posix } from "node:path";
import { setTimeout } from "node:timers/promises";
import { containerRecord } from "../pods/shape/labels.ts";
import { descriptorPath, openPathFlags } from "../volumes/files/descriptors.ts";
import type { ContainerLogs } from "../../cri/logs/container-logs.ts";
import type { ContainerStatus } from "../../cri/runtime.ts";

const maxFileBytes = 4096;
const maxLogCharacters = 2048;
const maxLogLines = 80;
/** The runtime reports the end a moment before it has written the last output, on a busy machine a longer one. */
const logDelaysMs = [50, 100, 200, 400];

/** "" when there are none. Never rejects. */
export async function terminationMessage(
  status: ContainerStatus,
  logs: Pick<ContainerLogs, "tail">,
): Promise<string> {
  const record = containerRecord(status.annotations);
  // Docker says what the path comes to.
  const place = posix.normalize(record.terminationMessagePath);
  const mount = status.mounts.find(
    ({ containerPath }) => posix.normalize(containerPath) === place,
  );
  const text = mount ? await endOf(mount.hostPath) : "";
  if (
    text !== "" ||
    record.terminationMessagePolicy !== "FallbackToLogsOnError" ||
    status.exitCode === 0
  )
    return text;
  if (!status.logPath) return "";
  const endOfLog = (): Promise<string> =>
    logs.tail(status, maxLogLines, maxLogCharacters).catch(() => "");
  let log = await endOfLog();
  for (const delayMs of logDelaysMs) {
    if (log !== "") break;
    await setTimeout(delayMs);
    log = await endOfLog();
  }
  return log;
}

/**
 * Of a regular file alone. The mount may be a sub-path of a volume in which the pod made what it likes: a pipe would hold
 * one of this process's few threads for good, and a device node, which the pod itself may not open, would be the host's.
 */
async function endOf(path: string): Promise<string> {
  try {
    const place = await open(path, openPathFlags.path | openPathFlags.noFollow);
    try {
      if (!(await place.stat()).isFile()) return "";
      const handle = await open(descriptorPath(place), "r");
      try {
        const buffer = Buffer.alloc(maxFileBytes);
        const { size } = await handle.stat();
        const start = Math.max(0, size - maxFileBytes);
        const { bytesRead } = await handle.read(buffer, 0, maxFileBytes, start);
        return buffer.toString("utf8", 0, bytesRead);
      } finally {
        await handle.close();
      }
    } finally {
      await place.close();
    }
  } catch {
    return "";
  }
}
