// Runs nft: one transaction from its standard input. What fails changes nothing in the kernel, and the error has nft's text.
// A transaction is over when the kernel reports it: nft ends 5 to 17 ms later, since the kernel frees first what was deleted.
import { spawn } from "node:child_process";
import type { OwnProcesses } from "./own-processes.ts";

const patienceMs = 30_000;
const maxErrorText = 4096;

/** Applies the text as one transaction. Rejects with nft's error, also when there is no nft. */
export type RunNft = (script: string) => Promise<void>;

interface NftCommandOptions {
  /** A program and its arguments that runs nft, such as `ip netns exec NAME`; default: none. */
  wrapper?: readonly string[];
  /** Gets each process that is started; where a monitor reads it, too, a transaction is over once that has seen it. */
  processes?: OwnProcesses;
}

export function nftCommand({
  wrapper = [],
  processes,
}: NftCommandOptions = {}): RunNft {
  const [program = "nft", ...leading] = [...wrapper, "nft"];
  return (script) =>
    new Promise((resolve, reject) => {
      const child = spawn(program, [...leading, "-f", "-"], {
        stdio: ["pipe", "ignore", "pipe"],
        timeout: patienceMs,
      });
      if (child.pid !== undefined) processes?.add(child.pid, resolve);
      let text = "";
      child.stderr.on("data", (chunk: Buffer) => {
        if (text.length < maxErrorText) text += chunk.toString("utf8");
      });
      child.once("error", reject);
      child.once("close", (code, signal) => {
        if (child.pid !== undefined) processes?.ended(child.pid, code !== 0);
        if (code === 0) resolve();
        else
          reject(
            new Error(
              `nft: ${text.trim().slice(0, maxErrorText) || `ended with ${signal ?? `code ${code}`}`}`,
            ),
          );
      });
      // It may end before it has read: its exit says why.
      child.stdin.on("error", () => undefined);
      child.stdin.end(script);
    });
}

/** Why rules can't be written here, such as that there is no such program; undefined: they can. */
export async function nftProblem(
  wrapper: readonly string[] = [],
): Promise<string | undefined> {
  try {
    // Asks the program and the kernel, and changes nothing.
    await nftCommand({ wrapper })("list tables\n");
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT"
      ? "there is no program nft"
      : (error as Error).message;
  }
}
