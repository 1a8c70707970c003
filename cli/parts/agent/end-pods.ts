// Ends pods in a runtime from the command line: connects, ends, says what was done. See agent/pods/end/end-pods.ts.
import { systemClock } from "../../../api/clock.ts";
import { within } from "../../../cri/deadline.ts";
import type { EndPodsOptions } from "../../../agent/pods/end/end-pods.ts";
import { DependencyError } from "../../options/table.ts";
import { socketAnswers } from "./runtime-endpoint.ts";

/** A runtime that takes longer to say how it is hangs. */
const answerTimeoutMs = 3000;

/** Resolves to the exit code: 0, or 2 when a pod could not be ended; rejects when the runtime does not answer. */
export async function endPodsOf(
  options: { endpoint: string } & Pick<
    EndPodsOptions,
    "rootDirectory" | "graceLimitSeconds" | "remove"
  >,
): Promise<number> {
  const { endpoint, ...ending } = options;
  if (!(await socketAnswers(endpoint)))
    throw new DependencyError(`no container runtime answers at ${endpoint}`);
  const [{ openRuntime }, { endPods }, { createLogger }] = await Promise.all([
    import("../../../cri/open-runtime.ts"),
    import("../../../agent/pods/end/end-pods.ts"),
    import("../../logging.ts"),
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
    const { failed } = await endPods({
      ...ending,
      runtime,
      clock: systemClock,
      logger,
      onEnded: ({ namespace, name }) =>
        process.stdout.write(
          `${ending.remove ? "removed" : "stopped"} ${namespace}/${name}\n`,
        ),
    });
    return failed === 0 ? 0 : 2;
  } finally {
    await runtime.stop();
  }
}
