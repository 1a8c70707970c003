// docs/POD-FIELDS.md says what becomes of every field of a pod, and the code that acts on each is there.
import { spawnSync } from "node:child_process";
import * as path from "node:path";

test("docs/POD-FIELDS.md is up to date (node tools/generate-pod-fields.mjs)", () => {
  const root = path.join(__dirname, "../../..");
  const { status, stderr } = spawnSync(
    process.execPath,
    [path.join(root, "tools/generate-pod-fields.mjs"), "--check"],
    { encoding: "utf8" },
  );
  expect(stderr).toBe("");
  expect(status).toBe(0);
});
