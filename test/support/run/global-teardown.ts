// Once after all test files: fails the run when it left something on the machine, and names it. Processes get a moment
// to end; nothing is killed, as what is found is a defect to be looked at. The run fails by its exit code: an error
// thrown here would keep jest from writing the results of the tests.
import * as fs from "node:fs";
import { eventually } from "../eventually.ts";
import { leftovers } from "./leftovers.ts";
import { runDirectoryVariable } from "./run-state.ts";

export default async function checkRun(): Promise<void> {
  const directory = process.env[runDirectoryVariable];
  if (!directory) return;
  // Each of jest's projects calls this, in the same process.
  delete process.env[runDirectoryVariable];
  let found: string[] = [];
  await eventually(() => (found = leftovers(directory)).length === 0, {
    timeoutMs: 30_000,
    intervalMs: 200,
  }).catch(() => undefined);
  if (found.length > 0) {
    process.stderr.write(
      `the tests left this behind on the machine:\n  ${found.join("\n  ")}\n`,
    );
    process.once("exit", () => {
      process.exitCode = 1;
    });
    return;
  }
  fs.rmSync(directory, { recursive: true, force: true });
}
