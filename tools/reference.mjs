// Bundles and runs the comparison with a reference server (see test/reference/main.ts).
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const args = process.argv.slice(2);
const root = fileURLToPath(new URL("..", import.meta.url));
const directory = mkdtempSync(join(root, ".cache-reference-"));
const outfile = join(directory, "reference.mjs");
await build({
  entryPoints: [join(root, "test", "reference", "main.ts")],
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  packages: "external",
  outfile,
});
const child = spawn(process.execPath, [outfile, ...args], { stdio: "inherit" });
child.on("exit", (code) => {
  rmSync(directory, { recursive: true, force: true });
  process.exitCode = code ?? 1;
});
