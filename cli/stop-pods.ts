// `orbit stop-pods`: ends this node's pods within their grace and leaves them to be started again, each one restart
// older, by the next start of the server. orbit-pods.service calls it when the machine halts, with the server's own
// options, by which it finds the runtime and the agent's directory. The server must not run, else it starts them again.
import * as path from "node:path";
import { cgroupNames } from "../agent/cgroups/systemd/slice-names.ts";
import { isGateOn } from "../agent/config/feature-gates.ts";
import { resolveAgentConfig } from "../agent/config/agent-config.ts";
import { within } from "../cri/deadline.ts";
import { endPodProcesses } from "../agent/pods/end/pod-processes.ts";
import { systemClock } from "../api/clock.ts";
import { group, option } from "./options/build-table.ts";
import { helpText, wantsHelp } from "./options/help.ts";
import { parseOptions } from "./options/parse.ts";
import { agentOptions } from "./options/agent.ts";
import { serverOptions } from "./options/server.ts";
import { UsageError } from "./options/table.ts";
import { agentConfig } from "./parts/agent/agent-config.ts";
import { agentValues, partArguments } from "./parts/agent/agent-values.ts";
import { endPodsOf } from "./parts/agent/end-pods.ts";
import {
  readCgroupDriver,
  readEndpoint,
} from "./parts/agent/runtime-endpoint.ts";

/** What stopping and tearing down takes beside the grace. */
const slackMs = 1500;

/** Named as in the reference's KubeletConfiguration; a halt stays below ten seconds. */
const own = [
  group(
    "Options",
    option(
      "shutdown-grace-period",
      "duration",
      "7s",
      "The most all pods may take to end; a pod's own grace counts where it is shorter.",
    ),
    option(
      "shutdown-grace-period-critical-pods",
      "duration",
      "2s",
      "How much of that is kept for critical pods, which end after all others.",
    ),
  ),
];

export async function runStopPods(argv: readonly string[]): Promise<number> {
  if (wantsHelp(argv, own)) {
    process.stdout.write(
      helpText(
        "orbit stop-pods [options] [options of orbit server]",
        "End this node's pods within their grace; the next start of the server starts them again.",
        own,
      ),
    );
    return 0;
  }
  const values = parseOptions([...own, ...serverOptions], argv);
  const totalMs = values.number("shutdown-grace-period");
  const criticalMs = values.number("shutdown-grace-period-critical-pods");
  if (criticalMs > totalMs)
    throw new UsageError(
      "--shutdown-grace-period-critical-pods must not be longer than --shutdown-grace-period",
    );
  const dataDirectory = path.resolve(values.text("data-dir"));
  const endpoint = await readEndpoint(dataDirectory);
  // No pod was ever started.
  if (endpoint === undefined) return 0;
  const startedMs = systemClock.monotonic();
  const remainingMs = (): number =>
    Math.max(0, startedMs + totalMs - systemClock.monotonic());
  const agent = agentValues(
    values,
    partArguments(values, "agent-arg", agentOptions),
    dataDirectory,
  );
  const rootDirectory = agent.text("root-dir");
  // The clock's timers do not keep the process alive.
  const alive = setInterval(() => undefined, 1000);
  try {
    return await within(
      systemClock,
      totalMs + slackMs,
      endPodsOf({
        endpoint,
        rootDirectory,
        graceLimitSeconds: {
          ordinary: (totalMs - criticalMs) / 1000,
          critical: criticalMs / 1000,
        },
        remove: false,
      }),
    );
  } catch (error) {
    process.stderr.write(
      `${(error as Error).message}: ending the pods' processes without their runtime\n`,
    );
    const { cgroupMount, ...config } = resolveAgentConfig(agentConfig(agent));
    const driver = isGateOn(config, "KubeletCgroupDriverFromCRI")
      ? await readCgroupDriver(dataDirectory)
      : undefined;
    const cgroupRoot = cgroupNames(driver ?? config.cgroupDriver).place(
      config.cgroupRoot,
    );
    await endPodProcesses({
      ...{ cgroupMount, cgroupRoot, rootDirectory },
      graceMs: remainingMs(),
      clock: systemClock,
    });
    return 2;
  } finally {
    clearInterval(alive);
  }
}
