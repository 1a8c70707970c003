// The lint: oxlint with the rules of .oxlintrc.json, types included, and the ratchet of sizes. A file of more than 400
// lines or a function of more than 120 is refused unless tools/sizes.json lists it with at least as many lines; an
// entry that is no longer needed must go. `--fix` lowers and strikes entries, never raises one, and follows moved files.
//
//   node tools/lint.mjs [--fix] [FILE…]    FILE: only these files; the ratchet needs all and is then left out
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const listFile = path.join(
  path.dirname(fileURLToPath(import.meta.url)),
  "sizes.json",
);
const oxlint = path.resolve("node_modules/oxlint/bin/oxlint");
const fix = process.argv.includes("--fix");
const files = process.argv.slice(2).filter((name) => name !== "--fix");

const output = await new Promise((resolve, reject) => {
  execFile(
    process.execPath,
    [
      oxlint,
      "--type-aware",
      "--report-unused-disable-directives",
      ...["--format", "json"],
      ...files,
    ],
    { maxBuffer: 1 << 28 },
    (error, stdout, stderr) => {
      // It exits with 1 when it finds anything; without findings to read it did not run.
      if (stdout.startsWith("{")) resolve(stdout);
      else reject(new Error(`${stderr}${stdout}` || error?.message));
    },
  );
});

const problems = [];
/** `file` or `file function` → lines, of those above the limits. */
const sizes = new Map();
for (const found of JSON.parse(output).diagnostics) {
  const { code, filename, message, labels } = found;
  if (/^eslint\(max-lines/.test(code)) {
    const named = /`([^`]+)`/.exec(message)?.[1] ?? "a function without a name";
    const key =
      code === "eslint(max-lines)" ? filename : `${filename} ${named}`;
    const lines = Number(/\((\d+)\)/.exec(message)[1]);
    sizes.set(key, Math.max(lines, sizes.get(key) ?? 0));
    continue;
  }
  const { line = 0, column = 0 } = labels?.[0]?.span ?? {};
  problems.push(`${filename}:${line}:${column} ${message} ${code}`);
}

/** Findings of sizes against the list, and the list as it should be; entries never grow. */
function ratchet(listed) {
  const next = {};
  const wrong = [];
  // A moved file keeps its name: its entry moves along.
  const entryOf = (key) =>
    key in listed
      ? key
      : Object.keys(listed).find(
          (other) =>
            !sizes.has(other) && path.basename(other) === path.basename(key),
        );
  const found = new Set();
  for (const [key, lines] of [...sizes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const from = entryOf(key);
    const most = from === undefined ? limitOf(key) : listed[from];
    if (lines > most) wrong.push(`${key}: ${lines} lines, more than ${most}`);
    if (from === undefined) continue;
    found.add(from);
    next[key] = Math.min(lines, most);
    if (from !== key && !fix) wrong.push(`${key}: was ${from}; ${rewrite}`);
  }
  for (const key of Object.keys(listed))
    if (!found.has(key) && !fix)
      wrong.push(`${key}: not too long any more; ${rewrite}`);
  return { next, wrong };
}

const limitOf = (key) => (key.includes(" ") ? 120 : 400);
const rewrite = "run node tools/lint.mjs --fix";
if (files.length === 0) {
  const { next, wrong } = ratchet(JSON.parse(readFileSync(listFile, "utf8")));
  problems.push(...wrong);
  if (fix) writeFileSync(listFile, `${JSON.stringify(next, null, 2)}\n`);
}
for (const line of problems) console.log(line);
process.exitCode = problems.length > 0 ? 1 : 0;
