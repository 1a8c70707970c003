import { execFile } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { promisify } from "node:util";
import { useTempDirectories } from "../../support/temp-directory.ts";

const run = promisify(execFile);
const directory = useTempDirectories();
const tool = path.resolve("tools/check-exports.mjs");

test("nothing is exported that nobody names", async () => {
  const { stdout } = await run("node", [tool]).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe("");
});

test("an export that nobody names is found", async () => {
  const cwd = directory();
  fs.writeFileSync(
    path.join(cwd, "a.ts"),
    "export const used = 1;\nexport function unused() {}\nexport const own = () => own;\n",
  );
  fs.writeFileSync(path.join(cwd, "b.ts"), 'import { used } from "./a.ts";\n');
  const found = await run("node", [tool], { cwd }).catch(
    (error: { stdout: string; code: number }) => error,
  );
  expect(found).toMatchObject({ code: 1, stdout: "a.ts unused\n" });
});
