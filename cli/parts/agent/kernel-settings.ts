// --protect-kernel-defaults: the start is refused on a machine whose kernel is not set as the reference's agent would set it.
// Without the option nothing is looked at, and nothing of the machine is changed in any case.
import { readFileSync } from "node:fs";
import * as path from "node:path";

const settings: Readonly<Record<string, string>> = {
  "vm/overcommit_memory": "1",
  "vm/panic_on_oom": "0",
  "kernel/panic": "10",
  "kernel/panic_on_oops": "1",
  "kernel/keys/root_maxkeys": "1000000",
  "kernel/keys/root_maxbytes": "25000000",
};

/** What is set otherwise, a line each. @param root /proc/sys */
export function kernelSettingProblems(root = "/proc/sys"): readonly string[] {
  return Object.entries(settings).flatMap(([name, expected]) => {
    let actual: string;
    try {
      actual = readFileSync(path.join(root, name), "utf8").trim();
    } catch (error) {
      return [
        `protectKernelDefaults (--protect-kernel-defaults): ${(error as Error).message}`,
      ];
    }
    return actual === expected
      ? []
      : [
          `protectKernelDefaults (--protect-kernel-defaults): invalid kernel flag: ${name}, expected value: ${expected}, actual value: ${actual}`,
        ];
  });
}
