// A container's last message: the termination log it may have written, else (when its policy says so and it failed) the
// end of its output. At most 4096 bytes of the file, 2048 characters or 80 lines of the log.
import { open } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { containerRecord } from "../pods/shape/labels.ts";
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
