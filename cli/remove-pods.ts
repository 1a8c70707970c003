// `orbit remove-pods`: ends and removes all pods (or those of one agent) of a container runtime, with their network; for
// uninstall.sh. The server must not run. Images and the runtime itself stay.
import { systemPriority } from "../agent/pods/shape/critical-pod.ts";
import { group, option } from "./options/build-table.ts";
import { helpText, wantsHelp } from "./options/help.ts";
import { parseOptions } from "./options/parse.ts";
import { endPodsOf } from "./parts/agent/halt/end-pods.ts";
import { defaultEndpoint } from "./parts/agent/runtime-endpoint.ts";

const table = [
  group(
    "Options",
    option(
      "container-runtime-endpoint",
      "string",
      "",
      "Socket of the runtime.",
    ),
    option(
      "root-dir",
      "string",
      "",
      "Only pods of the agent with this root directory.",
    ),
  ),
];
const periods = [
  { priority: 0, graceSeconds: 2 },
  { priority: systemPriority, graceSeconds: 2 },
];

export async function runRemovePods(argv: readonly string[]): Promise<number> {
  if (wantsHelp(argv, table)) {
    process.stdout.write(
      helpText(
        "orbit remove-pods [options]",
        "End and remove all pods of a container runtime, with their network. The server must not run.",
        table,
      ),
    );
    return 0;
  }
  const values = parseOptions(table, argv);
  const rootDirectory = values.optionalText("root-dir");
  return endPodsOf({
    endpoint:
      values.optionalText("container-runtime-endpoint") ?? defaultEndpoint,
    ...(rootDirectory ? { rootDirectory } : {}),
    periods,
    remove: true,
  });
}
