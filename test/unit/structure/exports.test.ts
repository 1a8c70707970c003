import { execFile } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { promisify } from "node:util";
import { useTempDirectories } from "../../support/temp-directory.ts";

const run = promisify(execFile);
const directory = useTempDirectories();
const tool = path.resolve("tools/check-exports.mjs");

test("every export and every package is used, and every package declared", async () => {
  const { stdout } = await run("node", [tool]).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe("");
});

test("what nobody imports is found, tests alone do not count, packages are compared", async () => {
  const cwd = directory();
  const files = {
    "a.ts":
      "export const used = 1;\nexport function unused() {}\nexport const own = () => own;\n" +
      "export type Looked = 1;\nexport class Tested {}\nexport const step = 1;\nconst a = step;\n",
    "b.ts":
      'import { used as one } from "./a.ts";\nimport "kept";\nimport "mine";\n' +
      'type L = import("./a.ts").Looked;\n',
    "test/a.test.ts":
      'import {\n  Tested,\n  step,\n} from "../a.ts";\nimport x from "own/deep.js";\n',
    "package.json": JSON.stringify({
      dependencies: { kept: "1", gone: "1" },
      devDependencies: { mine: "1" },
    }),
  };
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
    fs.writeFileSync(path.join(cwd, name), text);
  }
  const found = await run("node", [tool], { cwd }).catch(
    (error: { stdout: string; code: number }) => error,
  );
  expect(found).toMatchObject({ code: 1 });
  expect(found.stdout.trimEnd().split("\n")).toEqual([
    "a.ts unused",
    "a.ts own",
    "a.ts Tested",
    "mine is imported by b.ts and no dependency",
    "own is imported by test/a.test.ts and not declared",
    "gone is declared and not imported",
  ]);
});
