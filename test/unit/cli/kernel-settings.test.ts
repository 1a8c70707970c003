// --protect-kernel-defaults: which settings of the kernel are looked at, on a tree of files.
import * as fs from "node:fs";
import * as path from "node:path";
import { kernelSettingProblems } from "../../../cli/parts/agent/kernel-settings.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();

function tree(changed: Readonly<Record<string, string | undefined>> = {}) {
  const root = directories();
  const all = {
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/keys/root_maxbytes": "25000000",
    ...changed,
  };
  for (const [name, value] of Object.entries(all)) {
    if (value === undefined) continue;
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), `${value}\n`);
  }
  return root;
}

test("a kernel that is set as pods want it", () => {
  expect(kernelSettingProblems(tree())).toEqual([]);
});

test("every other setting is named, and one that can't be read", () => {
  const option = "protectKernelDefaults (--protect-kernel-defaults)";
  const root = tree({
    "vm/overcommit_memory": "0",
    "kernel/panic": "100",
    "vm/panic_on_oom": undefined,
  });
  expect(kernelSettingProblems(root)).toEqual([
    `${option}: invalid kernel flag: vm/overcommit_memory, expected value: 1, actual value: 0`,
    expect.stringContaining(`${option}: ENOENT`),
    `${option}: invalid kernel flag: kernel/panic, expected value: 10, actual value: 100`,
  ]);
});
