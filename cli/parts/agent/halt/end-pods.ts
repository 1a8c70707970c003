// Ends pods in a runtime from the command line: connects, ends, says what was done. See agent/pods/end/end-pods.ts.
import { systemClock } from "../../../../api/clock.ts";
import { within } from "../../../../cri/deadline.ts";
import type { EndPodsOptions } from "../../../../agent/pods/end/end-pods.ts";
import { DependencyError } from "../../../options/table.ts";
import { socketAnswers } from "../runtime-endpoint.ts";

/** A runtime that takes longer to say how it is hangs. */
const answerTimeoutMs = 3000;

/**
 * Resolves to the exit code: 0, or 2 when a pod could not be ended; rejects when the runtime does not answer.
 * @param options.limitMs the most it may take once the runtime has answered; it goes on after that, unwaited for
 */
export async function endPodsOf(
  options: { endpoint: string; limitMs?: number } & Pick<
    EndPodsOptions,
    "rootDirectory" | "periods" | "remove"
  >,
): Promise<number> {
  const { endpoint, limitMs, ...ending } = options;
  if (!(await socketAnswers(endpoint)))
    throw new DependencyError(`no container runtime answers at ${endpoint}`);
  const [{ openRuntime }, { endPods }, { createLogger }] = await Promise.all([
    import("../../../../cri/open-runtime.ts"),
    import("../../../../agent/pods/end/end-pods.ts"),
    import("../../../logging.ts"),
  ]);
  const logger = createLogger({ format: "text", verbosity: -1 });
  const runtime = await openRuntime({
    endpoint,
    logger,
    ensureSandboxImage: false,
  });
  await within(systemClock, answerTimeoutMs, runtime.start());
  try {
    await within(systemClock, answerTimeoutMs, runtime.status());
  } catch (error) {
    await runtime.stop();
    throw error;
  }
  const work = endPods({
    ...ending,
    runtime,
    clock: systemClock,
    logger,
    onEnded: ({ namespace, name }) =>
      process.stdout.write(
        `${ending.remove ? "removed" : "stopped"} ${namespace}/${name}\n`,
      ),
  }).finally(() => runtime.stop());
  const { failed } = await (limitMs === undefined
    ? work
    : within(systemClock, limitMs, work));
  return failed === 0 ? 0 : 2;
}
