// Prints the folders below node_modules that the built program needs at run time: the packages the build leaves out of
// its bundle (tools/build.mjs), with everything they depend on. Used by systemd/install.sh.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

const external = ["dockerode", "node-cron", "systeminformation"];
const seen = new Set();

/** The folder a package's import of `name` finds, as Node looks for it. */
function locate(name, from) {
  for (let directory = from; ; directory = path.dirname(directory)) {
    const candidate = path.join(directory, "node_modules", name);
    if (existsSync(path.join(candidate, "package.json"))) return candidate;
    if (directory === path.dirname(directory) || directory === ".")
      return undefined;
  }
}

function visit(name, from, optional) {
  const folder = locate(name, from);
  if (!folder) {
    if (!optional)
      console.error(`production-packages: ${name} is not installed`);
    return;
  }
  const shown = path.relative(process.cwd(), folder);
  if (seen.has(shown)) return;
  seen.add(shown);
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
    readFileSync(path.join(folder, "package.json"), "utf8"),
  );
  for (const each of Object.keys(dependencies))
    visit(each, folder, each in optionalDependencies);
  for (const each of Object.keys(optionalDependencies))
    visit(each, folder, true);
}
for (const name of external) visit(name, process.cwd(), true);
// A folder inside another one is copied with it.
const all = [...seen].sort();
for (const folder of all)
  if (!all.some((other) => folder.startsWith(`${other}/node_modules/`)))
    console.log(folder);
