// Runs iptables-restore and iptables-save of one address family, in either variant (legacy or nf_tables). What fails leaves
// the table that it concerns as it was, and the error has the program's text.
import { spawn } from "node:child_process";

/** The variant on nf_tables takes its time for tens of thousands of rules. */
const patienceMs = 300_000;
const maxErrorText = 4096;
/** Other programs hold the lock of the tables for a moment. */
const lockSeconds = "5";

export interface IptablesCommand {
  /** One transaction for each table in the text; chains that it does not declare stay. */
  restore(script: string): Promise<void>;
  /** The rules of all tables. */
  save(): Promise<string>;
  /** Whether a chain has the rule. @param rule of words without blanks */
  has(table: string, chain: string, rule: string): Promise<boolean>;
}

interface IptablesCommandOptions {
  family: 4 | 6;
  /** A program and its arguments that runs iptables, such as `ip netns exec NAME`; default: none. */
  wrapper?: readonly string[];
  /** In place of `iptables`, such as `iptables-legacy`. */
  program?: string;
}

export function iptablesCommand({
  family,
  wrapper = [],
  program = "iptables",
}: IptablesCommandOptions): IptablesCommand {
  const name = family === 4 ? program : program.replace(/^ip/, "ip6");
  const run = (words: readonly string[], input: string): Promise<string> => {
    const [file = "", ...rest] = [...wrapper, ...words];
    return new Promise((resolve, reject) => {
      const child = spawn(file, rest, { timeout: patienceMs });
      let problem = "";
      const output: Buffer[] = [];
      child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
      child.stderr.on("data", (chunk: Buffer) => {
        if (problem.length < maxErrorText) problem += chunk.toString("utf8");
      });
      child.once("error", reject);
      child.once("close", (code, signal) => {
        if (code === 0) resolve(Buffer.concat(output).toString("utf8"));
        else
          reject(
            Object.assign(
              new Error(
                `${words[0]}: ${problem.trim().slice(0, maxErrorText) || `ended with ${signal ?? `code ${code}`}`}`,
              ),
              { exitCode: code },
            ),
          );
      });
      // It may end before it has read: its exit says why.
      child.stdin.on("error", () => undefined);
      child.stdin.end(input);
    });
  };
  return {
    restore: async (script) =>
      void (await run(
        [`${name}-restore`, "--noflush", "--wait", lockSeconds],
        script,
      )),
    save: () => run([`${name}-save`], ""),
    has: (table, chain, rule) =>
      run(
        [name, "--wait", lockSeconds, "-t", table, "-C", chain].concat(
          rule.split(" "),
        ),
        "",
      ).then(
        () => true,
        (error: unknown) => {
          // 1: there is no such rule; 2: the chain that it would enter is gone.
          const { exitCode } = error as { exitCode?: number | null };
          if (exitCode === 1 || exitCode === 2) return false;
          throw error;
        },
      ),
  };
}
