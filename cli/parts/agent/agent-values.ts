// The options of one part, out of those of `orbit server`: its own names given to the server, and --agent-arg and its like.
import * as path from "node:path";
import { agentOptions } from "../../options/agent.ts";
import { apiServerOptions } from "../../options/apiserver.ts";
import { parseOptions, type OptionValues } from "../../options/parse.ts";
import {
  allOptions,
  UsageError,
  type OptionTable,
} from "../../options/table.ts";

export const clusterDomain = "cluster.local";

/** --agent-arg=max-pods=20 and its like, read by the part's own table. */
export function partArguments(
  values: OptionValues,
  name: string,
  table: OptionTable,
): OptionValues {
  try {
    const read = parseOptions(
      table,
      values
        .list(name)
        .map((text) => (text.startsWith("--") ? text : `--${text}`)),
    );
    read.refuseUnbuilt();
    return read;
  } catch (error) {
    throw error instanceof UsageError
      ? new UsageError(`--${name}: ${error.message}`)
      : error;
  }
}

/** The agent's options: those of its names given to the server, what --agent-arg adds, and what only the server knows. */
export function agentValues(
  values: OptionValues,
  agentArguments: OptionValues,
  dataDirectory: string,
): OptionValues {
  const shared = new Set([
    "logging-format",
    "v",
    "tls-min-version",
    "tls-cipher-suites",
    "disabled-metrics",
    "allow-metric-labels",
    "allow-metric-labels-manifest",
  ]);
  const notTheAgents = new Set(
    allOptions(apiServerOptions)
      .map(({ name }) => name)
      .filter((name) => !shared.has(name)),
  );
  const given = values
    .forTable(agentOptions, notTheAgents)
    .under(agentArguments);
  const own = new Map<string, string | readonly string[]>([
    ["pod-manifest-path", values.text("manifests")],
  ]);
  if (!given.isSet("root-dir"))
    own.set("root-dir", path.join(dataDirectory, "agent"));
  own.set("cgroup-root", values.text("cgroup-root"));
  if (!given.isSet("cluster-domain")) own.set("cluster-domain", clusterDomain);
  return given.under(own);
}
