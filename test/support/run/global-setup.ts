// Once before all test files: the run's own directory, which becomes TMPDIR for tests and all they start.
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { runDirectoryVariable } from "./run-state.ts";

export default function setUpRun(): void {
  // Each of jest's projects calls this, in the same process.
  if (process.env[runDirectoryVariable]) return;
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "orbit-run-"));
  process.env[runDirectoryVariable] = directory;
  process.env["TMPDIR"] = directory;
}
