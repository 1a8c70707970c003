// `orbit stop-pods`: ends this node's pods within their grace and leaves them to be started again, each one restart
// older, by the next start of the server. orbit-pods.service calls it when the machine halts, with the server's own
// options, by which it finds the runtime, the agent's directory and how long pods may take. The server must not run, else
// it starts them again.
import * as path from "node:path";
import { cgroupNames } from "../agent/cgroups/systemd/slice-names.ts";
import { isGateOn } from "../agent/config/feature-gates.ts";
import { minimumGraceSeconds } from "../agent/pods/end/container-end.ts";
import { endPodProcesses } from "../agent/pods/end/pod-processes.ts";
import { totalSeconds } from "../agent/pods/shape/shutdown-groups.ts";
import { systemClock } from "../api/clock.ts";
import { helpText, wantsHelp } from "./options/help.ts";
import { parseOptions } from "./options/parse.ts";
import { serverOptions } from "./options/server.ts";
import { endPodsOf } from "./parts/agent/halt/end-pods.ts";
import { haltOptions, haltSettings } from "./parts/agent/halt/settings.ts";
import {
  readCgroupDriver,
  readEndpoint,
} from "./parts/agent/runtime-endpoint.ts";

/** What stopping and tearing down takes beside the grace. */
const slackMs = 1500;

export async function runStopPods(argv: readonly string[]): Promise<number> {
  if (wantsHelp(argv, haltOptions)) {
    process.stdout.write(
      helpText(
        "orbit stop-pods [options] [options of orbit server]",
        "End this node's pods within their grace; the next start of the server starts them again.",
        haltOptions,
      ),
    );
    return 0;
  }
  const values = parseOptions([...haltOptions, ...serverOptions], argv);
  const dataDirectory = path.resolve(values.text("data-dir"));
  const { settings, periods } = await haltSettings(values, dataDirectory);
  const endpoint = await readEndpoint(dataDirectory);
  // No pod was ever started.
  if (endpoint === undefined) return 0;
  const startedMs = systemClock.monotonic();
  const totalMs = totalSeconds(periods) * 1000;
  const { rootDirectory } = settings;
  // The clock's timers do not keep the process alive.
  const alive = setInterval(() => undefined, 1000);
  try {
    return await endPodsOf({
      ...{ endpoint, rootDirectory, periods },
      limitMs: totalMs + slackMs,
      remove: false,
    });
  } catch (error) {
    process.stderr.write(
      `${(error as Error).message}: ending the pods' processes without their runtime\n`,
    );
    const driver = isGateOn(settings, "KubeletCgroupDriverFromCRI")
      ? await readCgroupDriver(dataDirectory)
      : undefined;
    const cgroupRoot = cgroupNames(driver ?? settings.cgroupDriver).place(
      settings.cgroupRoot,
    );
    const leftMs = startedMs + totalMs - systemClock.monotonic();
    await endPodProcesses({
      ...{ cgroupMount: settings.cgroupMount, cgroupRoot, rootDirectory },
      // Some may hear only now that they are to end.
      graceMs: Math.max(minimumGraceSeconds * 1000, leftMs),
      clock: systemClock,
    });
    return 2;
  } finally {
    clearInterval(alive);
  }
}
