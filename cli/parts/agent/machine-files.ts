// What a cluster makes on the machine outside of its data directory: DATA/machine-files, one path a line, files and
// directories. uninstall.sh removes what is listed and nothing else: another cluster, or a package, may have made the
// rest. A path is listed before it is made, so that none is forgotten by a crash.
import * as fs from "node:fs/promises";
import { execFile } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import * as path from "node:path";

const listFile = (dataDirectory: string): string =>
  path.join(dataDirectory, "machine-files");

async function exists(file: string): Promise<boolean> {
  return fs.lstat(file).then(
    () => true,
    () => false,
  );
}

/** Lists the file, and those directories above it that are not there yet. Does nothing when the file is there. */
export async function recordMachineFile(
  dataDirectory: string,
  file: string,
): Promise<void> {
  if (await exists(file)) return;
  const missing = [file];
  for (
    let directory = path.dirname(file);
    !(await exists(directory));
    directory = path.dirname(directory)
  )
    missing.push(directory);
  const list = listFile(dataDirectory);
  const known = (await fs.readFile(list, "utf8").catch(() => "")).split("\n");
  const fresh = missing.filter((each) => !known.includes(each));
  await fs.appendFile(list, fresh.map((each) => `${each}\n`).join(""), {
    mode: 0o600,
  });
}

/**
 * DATA/kernel-settings has what a file below /proc/sys held before the cluster changed it, as `FILE VALUE`, one a line;
 * uninstall.sh writes it back. The first value counts: later ones are the cluster's own.
 */
export function recordKernelSetting(
  dataDirectory: string,
  file: string,
  before: string,
): void {
  const list = path.join(dataDirectory, "kernel-settings");
  let known = "";
  try {
    known = readFileSync(list, "utf8");
  } catch {
    // The first one.
  }
  if (!known.split("\n").some((line) => line.startsWith(`${file} `)))
    appendFileSync(list, `${file} ${before}\n`, { mode: 0o600 });
}

/**
 * DATA/nat-tables lists the tables of iptables that were there before the cluster's first pod. Programs that use iptables make
 * them and leave them, empty: the port mapping plug-in those named nat, the utility chains the others too.
 */
export async function recordNatTables(dataDirectory: string): Promise<void> {
  const file = path.join(dataDirectory, "nat-tables");
  if (await exists(file)) return;
  const tables = await new Promise<string | undefined>((resolve) =>
    execFile("nft", ["list", "tables"], { timeout: 5000 }, (error, text) =>
      resolve(error ? undefined : text),
    ),
  );
  // Without nft nothing is known, and nothing will be taken back.
  if (tables === undefined) return;
  const known = tables
    .split("\n")
    .filter((line) => /^table ip6? (nat|mangle|filter)$/.test(line.trim()));
  await fs.mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  await fs.writeFile(file, known.map((line) => `${line}\n`).join(""), {
    mode: 0o600,
  });
}
