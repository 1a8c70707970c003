// A process that stands still, with all its threads.
import * as fs from "node:fs";
import { eventually } from "./eventually.ts";

/**
 * Stops a process with SIGSTOP. The signal takes effect only once one of the threads has run to take it: on a busy
 * machine the others serve some more requests until then, so this waits until all of them have stopped.
 */
export async function stopProcess(pid: number): Promise<void> {
  process.kill(pid, "SIGSTOP");
  await eventually(
    () =>
      fs.readdirSync(`/proc/${pid}/task`).every((thread) => {
        const stat = fs.readFileSync(
          `/proc/${pid}/task/${thread}/stat`,
          "utf8",
        );
        return stat[stat.lastIndexOf(")") + 2] === "T";
      }),
    { what: `process ${pid} to stand still` },
  );
}
