// Runs the machine's stock kubectl with a kubeconfig, without a shell and without the user's own configuration.
import { spawn } from "node:child_process";
import { patience } from "./eventually.ts";

export interface CommandResult {
  stdout: string;
  stderr: string;
  /** Exit code; -1 when it was killed by a signal. */
  code: number;
}

export interface KubectlOptions {
  stdin?: string;
  /** It is written when stdout shows this: what an attached container says before somebody listens is lost. */
  stdinAfter?: RegExp;
  timeoutMs?: number;
  env?: Record<string, string>;
}

export type Kubectl = (
  args: readonly string[] | string,
  options?: KubectlOptions,
) => Promise<CommandResult>;

/** Runs a program to its end; never rejects because of its exit code. Kills it after timeoutMs (default 90 s). */
export function runCommand(
  file: string,
  args: readonly string[],
  { stdin, stdinAfter, timeoutMs = 90_000, env }: KubectlOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    const chunks: Record<"stdout" | "stderr", Buffer[]> = {
      stdout: [],
      stderr: [],
    };
    child.stdout.on("data", (chunk: Buffer) => chunks.stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.stderr.push(chunk));
    const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs * patience);
    child.stdin.on("error", () => undefined);
    const write = (): unknown => child.stdin.end(stdin ?? "");
    if (!stdinAfter) write();
    else
      child.stdout.on("data", () => {
        if (child.stdin.writableEnded) return;
        if (stdinAfter.test(Buffer.concat(chunks.stdout).toString())) write();
      });
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve({
        stdout: Buffer.concat(chunks.stdout).toString(),
        stderr: Buffer.concat(chunks.stderr).toString(),
        code: code ?? -1,
      });
    });
  });
}

/** A kubectl bound to one kubeconfig; a string is split at spaces. */
export function createKubectl(kubeconfig: string): Kubectl {
  return (args, options = {}) =>
    runCommand("kubectl", typeof args === "string" ? args.split(" ") : args, {
      ...options,
      env: { KUBECONFIG: kubeconfig, ...options.env },
    });
}
