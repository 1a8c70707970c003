// Runs iproute2's programs: queries that answer in JSON, and batches of commands from standard input.
import { spawn } from "node:child_process";

const patienceMs = 10_000;
const maxAnswerBytes = 64 * 1024 * 1024;
const maxErrorText = 4096;

/** `input` is written to the program. Resolves to its output; rejects with its error text. */
export type RunProgram = (
  words: readonly string[],
  input?: string,
) => Promise<string>;

/** @param wrapper a program and its arguments that runs others, such as `ip netns exec NAME` */
export function programRunner(wrapper: readonly string[] = []): RunProgram {
  return (words, input = "") =>
    new Promise((resolve, reject) => {
      const [program = "", ...rest] = [...wrapper, ...words];
      const child = spawn(program, rest, { timeout: patienceMs });
      const chunks: Buffer[] = [];
      let bytes = 0;
      let text = "";
      child.stdout.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= maxAnswerBytes) chunks.push(chunk);
      });
      child.stderr.on("data", (chunk: Buffer) => {
        if (text.length < maxErrorText) text += chunk.toString("utf8");
      });
      child.once("error", reject);
      child.once("close", (code, signal) => {
        if (code === 0) resolve(Buffer.concat(chunks).toString("utf8"));
        else
          reject(
            new Error(
              `${words.slice(0, 3).join(" ")}: ${text.trim().slice(0, maxErrorText) || `ended with ${signal ?? `code ${code}`}`}`,
            ),
          );
      });
      // It may end before it has read: its exit says why.
      child.stdin.on("error", () => undefined);
      child.stdin.end(input);
    });
}

/** An empty answer is an empty list. */
export async function queryJson<T>(
  run: RunProgram,
  words: readonly string[],
): Promise<T[]> {
  const text = await run(words);
  return text.trim() === "" ? [] : (JSON.parse(text) as T[]);
}
