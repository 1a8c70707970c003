// Finds what a run of the suite left on the machine: files in its directory, processes that carry it in their
// environment, command line or working directory, mounts below it, and announced cgroups, tables and paths.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { announced, isRunFile } from "./run-state.ts";

function readProc(pid: string, name: string): string {
  try {
    return name === "cwd"
      ? fs.readlinkSync(`/proc/${pid}/cwd`)
      : fs.readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return ""; // It ended meanwhile, or is somebody else's.
  }
}

function isWithin(text: string, directory: string): boolean {
  return text === directory || text.includes(`${directory}/`);
}

/** The pids of this process and of those it descends from. */
function ownLine(): Set<string> {
  const line = new Set<string>();
  for (let pid = String(process.pid); pid !== "0" && pid !== "";) {
    line.add(pid);
    const stat = readProc(pid, "stat");
    pid = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] ?? "";
  }
  return line;
}

function processesOf(directory: string): string[] {
  const own = ownLine();
  return fs
    .readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid) && !own.has(pid))
    .flatMap((pid) => {
      const command = readProc(pid, "cmdline").replaceAll("\0", " ").trim();
      // Jest's own workers may still be ending, and esbuild's service ends with the process that uses it.
      if (/jest-worker|processChild\.js|\/esbuild --service=/.test(command))
        return [];
      const marks = [command, readProc(pid, "cwd")];
      const environment = readProc(pid, "environ").split("\0");
      return marks.some((mark) => isWithin(mark, directory)) ||
        environment.some((entry) => entry === `TMPDIR=${directory}`)
        ? [`process ${pid}: ${command.slice(0, 200)}`]
        : [];
    });
}

function mountsOf(directory: string): string[] {
  return fs
    .readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "")
    .filter((target) => target.startsWith(`${directory}/`))
    .map((target) => `mount ${target}`);
}

function announcedOf(directory: string): string[] {
  return announced(directory).flatMap(({ kind, name }) => {
    if (kind === "path") return fs.existsSync(name) ? [`path ${name}`] : [];
    if (kind === "cgroup")
      return ["", ...fs.readdirSync("/sys/fs/cgroup")]
        .map((controller) => path.join("/sys/fs/cgroup", controller, name))
        .filter((group) => fs.existsSync(group))
        .map((group) => `cgroup ${group}`);
    const { status } = spawnSync("nft", ["list", "table", ...name.split(" ")]);
    return status === 0 ? [`nft table ${name}`] : [];
  });
}

/** One line for each thing found; empty when all is as before. */
export function leftovers(directory: string): string[] {
  const files = fs
    .readdirSync(directory)
    .filter((name) => !isRunFile(name))
    .map((name) => `file ${path.join(directory, name)}`);
  return [
    ...processesOf(directory),
    ...mountsOf(directory),
    ...announcedOf(directory),
    ...files,
  ];
}
