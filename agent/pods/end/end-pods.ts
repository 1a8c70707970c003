// Ends all pods of one agent in a container runtime while no agent runs: when the machine halts (what is stopped stays,
// to be started again after the boot) and when the agent is to use another runtime (what is stopped is removed). Pods
// are known from the runtime alone. As with a kubelet's graceful shutdown they end by priority, the lowest first, and a
// period that is over holds up no later one: a machine too slow to tear ordinary pods down still sends critical ones their
// TERM. Within a pod preStop hooks and grace as always, the grace bounded by its period.
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import { sleep } from "../../../api/queueing/backoff.ts";
import type { Runtime } from "../../../cri/runtime.ts";
import type { ShutdownPeriod } from "../../config/shutdown-period.ts";
import { logSink } from "../../events/event-sinks.ts";
import { PodEvents } from "../../events/pod-events.ts";
import { terminationMessage } from "../../status/termination-message.ts";
import { PodEnding } from "./container-end.ts";
import { systemPriority } from "../shape/critical-pod.ts";
import { isOwn, sandboxPriority } from "../shape/labels.ts";
import { createHookRunner } from "./lifecycle-hooks.ts";
import { graceSeconds } from "../shape/pod-shape.ts";
import { podGroups } from "../shape/shutdown-groups.ts";
import { removeFromRuntime, stopSandboxes } from "./sandboxes.ts";
import { runtimePodAsPod } from "../runtime/reconstructed-pod.ts";
import { RuntimePods, type RuntimePod } from "../runtime/runtime-pods.ts";

export interface EndPodsOptions {
  /** Started. */
  runtime: Runtime;
  /** The agent whose pods are meant: its root directory. Absent: pods of every agent. */
  rootDirectory?: string;
  /** Absent: each pod has its own grace, critical ones after all others. */
  periods?: readonly ShutdownPeriod[];
  /** Containers and sandboxes are removed as well, with all that the runtime knows of them. */
  remove: boolean;
  clock: Clock;
  logger: Logger;
  onEnded?: (pod: { name: string; namespace: string }) => void;
}

const unlimited: readonly ShutdownPeriod[] = [
  { priority: 0, graceSeconds: Infinity },
  { priority: systemPriority, graceSeconds: Infinity },
];

/** Resolves to how many pods ended and how many could not be ended; rejects when the runtime can't be asked. */
export async function endPods(
  options: EndPodsOptions,
): Promise<{ ended: number; failed: number }> {
  const { runtime, rootDirectory, clock, logger } = options;
  const { periods = unlimited } = options;
  const runtimePods = new RuntimePods({
    runtime,
    clock,
    logger,
    lastMessage: (status) => terminationMessage(status, runtime.logs),
    onChange: () => undefined,
  });
  const events = new PodEvents(logSink(logger, clock), () => {
    throw new Error("pods are ended without a node");
  });
  const context = {
    runtime,
    runtimePods,
    clock,
    logger,
    hooks: createHookRunner(runtime, clock, events),
    events,
    nodeIPs: (): readonly string[] => [],
  };
  await runtimePods.start();
  try {
    const known = await Promise.all(
      runtimePods.list().map((pod) => runtimePods.refresh(pod.uid, pod)),
    );
    const own = known.filter(
      ({ sandboxes, containers }) =>
        rootDirectory === undefined ||
        [...sandboxes, ...containers].some((made) =>
          isOwn(made, rootDirectory),
        ),
    );
    let failed = 0;
    const endOne = async (
      found: RuntimePod,
      limitSeconds: number,
    ): Promise<void> => {
      try {
        const pod = runtimePodAsPod(found);
        if (pod)
          await new PodEnding(
            context,
            pod,
            Math.min(graceSeconds(pod), limitSeconds),
          ).run(found);
        await stopSandboxes(runtime, found);
        if (options.remove) await removeFromRuntime(runtime, found);
        options.onEnded?.(found);
      } catch (err) {
        failed++;
        logger.error(
          { err },
          `pod ${found.namespace}/${found.name} could not be ended`,
        );
      }
    };
    const endings: Promise<unknown>[] = [];
    for (const group of podGroups(periods, own, priorityOf)) {
      const ending = Promise.all(
        group.pods.map((found) => endOne(found, group.graceSeconds)),
      );
      endings.push(ending);
      await Promise.race([ending, sleep(clock, group.graceSeconds * 1000)]);
    }
    await Promise.all(endings);
    return { ended: own.length - failed, failed };
  } finally {
    runtimePods.stop();
  }
}

function priorityOf({ sandboxes }: RuntimePod): number {
  return sandboxPriority(sandboxes[0]?.annotations ?? {});
}
