// What a cluster makes on the machine outside of its data directory: DATA/machine-files, one path a line, files and
// directories. uninstall.sh removes what is listed and nothing else: another cluster, or a package, may have made the
// rest. A path is listed before it is made, so that none is forgotten by a crash.
import * as fs from "node:fs/promises";
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
