// What one run of the suite keeps to itself: a directory that is TMPDIR for all its tests and for every process they
// start, so that whatever is still there at the end can be recognised as this run's, also beside a running cluster and
// beside other runs. Things that live elsewhere (cgroups, tables of rules) are announced in a list before they are made.
import * as fs from "node:fs";
import * as path from "node:path";

export const runDirectoryVariable = "ORBIT_TEST_RUN";

const listName = ".announced";

/** The one file that all tests of a run share. */
export const busyboxTarName = "busybox.tar";

/** The directory of the ports and pod ranges that tests of a run have claimed: one empty file each, named by it. */
export const portsName = ".ports";

export type AnnouncedKind = "cgroup" | "nft" | "path";

/** Says that the calling test makes something outside of its directories; the end of the run checks that it is gone. */
export function announce(kind: AnnouncedKind, name: string): void {
  const directory = process.env[runDirectoryVariable];
  if (directory)
    fs.appendFileSync(path.join(directory, listName), `${kind} ${name}\n`);
}

/** What was announced by all test files of the run, each once. */
export function announced(
  directory: string,
): readonly { kind: AnnouncedKind; name: string }[] {
  const file = path.join(directory, listName);
  if (!fs.existsSync(file)) return [];
  return [...new Set(fs.readFileSync(file, "utf8").split("\n"))]
    .filter((line) => line !== "")
    .map((line) => {
      const at = line.indexOf(" ");
      return {
        kind: line.slice(0, at) as AnnouncedKind,
        name: line.slice(at + 1),
      };
    });
}

export function isRunFile(name: string): boolean {
  return [listName, busyboxTarName, portsName].includes(name);
}
