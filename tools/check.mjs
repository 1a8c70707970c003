// `npm run check`: types, lint with the ratchet of sizes, format, exports and packages, all at once; as strict without a
// cache as with one. Only the formatter keeps a cache (.cache/, by content), and is split in two, as it is the slowest; its parser
// here is the fast one, which gives the same result.
// Each check prints what it found when it ends; the exit code is 1 when one found anything.
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");
const package_ = (file) => path.join(root, "node_modules", file);

const formatted = /\.(ts|mjs|cjs|json|md|ya?ml)$/;
/** All files that the formatter knows, without those of packages and builds. */
function* sources(directory) {
  for (const entry of readdirSync(path.join(root, directory), {
    withFileTypes: true,
  })) {
    const file = path.join(directory, entry.name);
    if (/^(node_modules|dist.*|coverage|\.git|\.cache.*)$/.test(entry.name))
      continue;
    if (entry.isDirectory()) yield* sources(file);
    else if (formatted.test(entry.name)) yield file;
  }
}

/** The same files in the same half at every run, as each half has a cache of its own. */
const half = (file) => {
  let sum = 0;
  for (const character of file) sum += character.charCodeAt(0);
  return sum % 2;
};
const halves = [[], []];
for (const file of sources("")) halves[half(file)].push(file);
mkdirSync(path.join(root, ".cache"), { recursive: true });

const checks = {
  ...Object.fromEntries(
    halves.map((files, index) => [
      `format ${index + 1} of 2`,
      [
        package_("prettier/bin/prettier.cjs"),
        ...["--check", "--log-level", "warn", "--ignore-unknown"],
        ...["--plugin", package_("@prettier/plugin-oxc/index.mjs")],
        ...["--cache", "--cache-strategy", "content"],
        ...["--cache-location", path.join(root, `.cache/format-${index}`)],
        ...files,
      ],
    ]),
  ),
  types: [package_("typescript-go/bin/tsc"), "-p", "tsconfig.json"],
  lint: [path.join(root, "tools/lint.mjs")],
  exports: [path.join(root, "tools/check-exports.mjs")],
};

function run(name, argv) {
  const begun = Date.now();
  return new Promise((resolve) => {
    const child = spawn(process.execPath, argv, {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    child.stdout.on("data", (chunk) => (text += chunk));
    child.stderr.on("data", (chunk) => (text += chunk));
    child.on("close", (code) => {
      const seconds = ((Date.now() - begun) / 1000).toFixed(1);
      console.log(`${name}: ${code === 0 ? "ok" : "FAILED"} (${seconds} s)`);
      if (code !== 0) console.log(text.trimEnd());
      resolve(code === 0);
    });
  });
}

const results = await Promise.all(
  Object.entries(checks).map(([name, argv]) => run(name, argv)),
);
process.exitCode = results.every(Boolean) ? 0 : 1;
