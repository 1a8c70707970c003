// Bundles a TypeScript program of the tests into a directory of its own, runs it and leaves nothing behind.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** Its exit code becomes this process's. @param {string} entry from the project's root @param {string[]} args */
export async function runBundled(entry, args) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const directory = mkdtempSync(join(root, ".cache-bundled-"));
  const outfile = join(directory, "main.mjs");
  await build({
    entryPoints: [join(root, entry)],
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    // Files of tests find the project's root two directories above their own.
    define: { __dirname: JSON.stringify(join(root, "test/support")) },
    outfile,
  });
  const child = spawn(process.execPath, [outfile, ...args], {
    stdio: "inherit",
  });
  child.on("exit", (code) => {
    rmSync(directory, { recursive: true, force: true });
    process.exitCode = code ?? 1;
  });
}
