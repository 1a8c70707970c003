// What the node agent wants of its machine before it starts: no swap, cgroup v2, its own place when memory runs out, how
// many files it may open, and its and others' cgroups.
// `orbit server` asks for it only where the options are given: it is to start on any machine.
import { execFile } from "node:child_process";
import { readFileSync, statfsSync, writeFileSync } from "node:fs";
import type { Logger } from "pino";
import { SystemProcesses } from "../../../agent/cgroups/system-processes.ts";
import type { Clock } from "../../../api/clock.ts";
import { moveToCgroup } from "../../../cri/private-containerd/own-cgroup.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { kernelSettingProblems } from "./kernel-settings.ts";

/** statfs' type of the one hierarchy of cgroup v2. */
const CGROUP2_SUPER_MAGIC = 0x63677270;

/** Names of what is swapped to. */
function swaps(): string[] {
  let text: string;
  try {
    text = readFileSync("/proc/swaps", "utf8");
  } catch {
    // A kernel without swap has no such file.
    return [];
  }
  return text
    .split("\n")
    .slice(1)
    .filter((line) => line.trim() !== "")
    .map((line) => line.split(/[\t ]/)[0]!);
}

export function isCgroupV2(): boolean {
  try {
    return statfsSync("/sys/fs/cgroup").type === CGROUP2_SUPER_MAGIC;
  } catch {
    return false;
  }
}

/** Node has no call for it: util-linux's prlimit does it beside the start. */
function limitOpenFiles(files: number, logger: Logger): void {
  execFile(
    "prlimit",
    ["--pid", String(process.pid), `--nofile=${files}:${files}`],
    (error, _output, complaint) => {
      if (error)
        logger.warn(
          { err: error, files, complaint: complaint.trim() },
          "the limit of open files can't be set",
        );
    },
  );
}

/** @param defaults whether the options' defaults count, or only what was given */
export function checkHost(
  values: OptionValues,
  logger: Logger,
  defaults: boolean,
): void {
  const asked = (name: string): boolean => defaults || values.isSet(name);
  if (asked("fail-swap-on") && values.flag("fail-swap-on")) {
    const on = swaps();
    if (on.length > 0)
      throw new UsageError(
        `running with swap on is not supported, please disable swap or set --fail-swap-on to false: ${on.join(", ")}`,
      );
  }
  if (values.flag("fail-cgroupv1") && !isCgroupV2()) {
    if (values.isSet("fail-cgroupv1"))
      throw new UsageError(
        "--fail-cgroupv1: cgroup v1 is not supported: this machine has no /sys/fs/cgroup of cgroup v2",
      );
    logger.warn("cgroup v1 is in maintenance mode: migrate to cgroup v2");
  }
  if (values.flag("protect-kernel-defaults")) {
    const problems = kernelSettingProblems();
    if (problems.length > 0) throw new UsageError(problems.join("\n"));
  }
  if (asked("max-open-files"))
    limitOpenFiles(values.number("max-open-files"), logger);
  if (asked("oom-score-adj")) {
    const score = values.number("oom-score-adj");
    try {
      writeFileSync("/proc/self/oom_score_adj", String(score));
    } catch (error) {
      logger.warn({ err: error, score }, "oom_score_adj can't be set");
    }
  }
}

/** `--kubelet-cgroups`: this process moves to a cgroup of its own. @throws UsageError when it can't */
export async function enterCgroup(values: OptionValues): Promise<void> {
  const group = values.text("kubelet-cgroups");
  if (group === "") return;
  if (!/^\/[^\s]+$/.test(group) || group.split("/").includes(".."))
    throw new UsageError(
      `--kubelet-cgroups: ${group} is no absolute name of a cgroup`,
    );
  if ((await moveToCgroup(process.pid, group)) === 0)
    throw new UsageError(
      `--kubelet-cgroups: this process can't be moved to the cgroup ${group}`,
    );
}

/** `--system-cgroups`: processes outside of any cgroup move there, now and once a minute. Undefined without the option. */
export async function gatherProcesses(
  values: OptionValues,
  clock: Clock,
  logger: Logger,
): Promise<SystemProcesses | undefined> {
  const cgroup = values.text("system-cgroups");
  if (cgroup === "") return undefined;
  const processes = new SystemProcesses({
    mount: "/sys/fs/cgroup",
    cgroup,
    clock,
    logger,
  });
  await processes.start();
  return processes;
}
