// `orbit cleanup`: leaves the machine as it was before the cluster of a data directory ran on it: pods, the private
// containerd, mounts, cgroups, links, routes, rules, settings of the kernel, files outside of the directory. Service,
// program and data stay. The work is done by systemd/uninstall.sh, which needs nothing of the program but `remove-pods`.
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { group, option } from "./options/build-table.ts";
import { helpText, wantsHelp } from "./options/help.ts";
import { parseOptions } from "./options/parse.ts";
import {
  DependencyError,
  UsageError,
  type OptionTable,
} from "./options/table.ts";

const table: OptionTable = [
  group(
    "Options",
    option(
      "data-dir",
      "string",
      "/var/lib/orbit",
      "Data directory of the server, or root directory of an agent that runs alone.",
    ),
    option(
      "cgroup-root",
      "string",
      "/orbit",
      "As the server or the agent was started with.",
    ),
    option("dry-run", "bool", "false", "Print what would be done."),
  ),
];

/** Beside the program: in a checkout, and where install.sh put it. */
function scriptFile(): string {
  const found = [1, 2, 3]
    .map((up) =>
      path.join(
        path.dirname(fs.realpathSync(process.argv[1] ?? ".")),
        ...Array<string>(up).fill(".."),
        "systemd/uninstall.sh",
      ),
    )
    .find((file) => fs.existsSync(file));
  if (found === undefined)
    throw new DependencyError("systemd/uninstall.sh is not beside the program");
  return found;
}

/** The cluster's own cgroup: as for the agent, the machine's root means the default, which the script knows. */
export const clusterCgroup = (root: string): string =>
  root.replace(/^\/+$/, "");

export async function runCleanup(argv: readonly string[]): Promise<number> {
  if (wantsHelp(argv, table)) {
    process.stdout.write(
      helpText(
        "orbit cleanup [options]",
        "Leave the machine as it was before the cluster: ends its server and its pods; service, program and data stay.",
        table,
      ),
    );
    return 0;
  }
  const values = parseOptions(table, argv);
  const dataDirectory = path.resolve(values.text("data-dir"));
  if (!fs.existsSync(dataDirectory))
    throw new UsageError(
      `--data-dir: there is no directory ${dataDirectory}: nothing was started with it`,
    );
  const words = [
    scriptFile(),
    "--host-only",
    ...(values.flag("dry-run") ? ["--dry-run"] : []),
  ];
  const child = spawn("sh", words, {
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      ORBIT_DATA_DIR: dataDirectory,
      ORBIT_CGROUP_ROOT: clusterCgroup(values.text("cgroup-root")),
      ...(fs.existsSync(path.join(dataDirectory, "pods"))
        ? { ORBIT_AGENT_DIR: dataDirectory }
        : {}),
    },
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 2));
  });
}
