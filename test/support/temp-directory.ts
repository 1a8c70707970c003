// Private directories for tests, removed after the test file's last test.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

/** A fresh directory of the test's own; the caller removes it (or uses useTempDirectory). */
export function makeTempDirectory(prefix = "orbit-test-"): string {
  return fs.mkdtempSync(path.join(os.tmpdir(), prefix));
}

/** Mount points below a directory, the deepest first. */
export function mountsBelow(directory: string): string[] {
  return fs
    .readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "")
    .filter((target) => target.startsWith(`${directory}/`))
    .reverse();
}

/** Removes a directory made by makeTempDirectory, with all in it; a secrets' tmpfs of an agent that was killed as well. */
export function removeTempDirectory(directory: string): void {
  for (const target of mountsBelow(directory))
    try {
      execFileSync("umount", ["-l", target], { stdio: "pipe" });
    } catch (error) {
      // A runtime that still ends unmounts as well.
      if (mountsBelow(directory).includes(target)) throw error;
    }
  // A process that still ends may write meanwhile.
  fs.rmSync(directory, { recursive: true, force: true, maxRetries: 8 });
}

/** Call at the top of a test file or describe block: gives directories and removes them all afterwards. */
export function useTempDirectories(prefix?: string): () => string {
  const made: string[] = [];
  afterAll(() => {
    for (const directory of made.splice(0)) removeTempDirectory(directory);
  });
  return () => {
    const directory = makeTempDirectory(prefix);
    made.push(directory);
    return directory;
  };
}
