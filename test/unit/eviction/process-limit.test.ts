// The lower of the kernel's two limits of processes and threads holds, in the capacity as well as in the signal.
import * as fs from "node:fs";
import * as path from "node:path";
import { machineCapacity } from "../../../agent/node/machine.ts";
import { mostProcesses } from "../../../eviction/process-limit.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();

test.each([
  ["4194304\n", "192730\n", 192_730],
  ["32768\n", "192730\n", 32_768],
  ["4194304\n", undefined, 4_194_304],
  [undefined, "100\n", 100],
  ["", "no number\n", 0],
  [undefined, undefined, 0],
])("pid_max %j and threads-max %j: %i", (pids, threads, expected) => {
  const directory = directories();
  for (const [name, text] of [
    ["pid_max", pids],
    ["threads-max", threads],
  ] as const)
    if (text !== undefined) fs.writeFileSync(path.join(directory, name), text);
  expect(mostProcesses(directory)).toBe(expected);
});

test("the machine's capacity is no more than either", async () => {
  const limit = (name: string): number =>
    Number(fs.readFileSync(`/proc/sys/kernel/${name}`, "utf8"));
  expect((await machineCapacity("/")).maxPids).toBe(
    Math.min(limit("pid_max"), limit("threads-max")),
  );
});
