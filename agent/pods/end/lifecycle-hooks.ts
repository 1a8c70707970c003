// postStart and preStop handlers: exec in the container, an HTTP GET to the pod, or a sleep. Any answer to the GET is good.
// What a handler says when it fails may hold secrets: it goes into the container's state, not into events.
import type { Clock } from "../../../api/clock.ts";
import { Counters } from "../../../api/metrics/counted.ts";
import type { Family } from "../../../api/metrics/family.ts";
import type {
  Container,
  HTTPGetAction,
  LifecycleHandler,
  Pod,
} from "../../../api/types/core-v1.ts";
import { type Runtime } from "../../../cri/runtime.ts";
import { runtimeErrorText } from "../../../cri/runtime-error-text.ts";
import type { PodEvents } from "../../events/pod-events.ts";
import { httpGet } from "../../probes/http-get.ts";
import { isPlainAnswer } from "../../probes/network-errors.ts";
import { podDescription } from "../shape/labels.ts";

export interface HookRunner {
  /** Rejects, with a text for the container's state, when the handler failed; ends at the signal. */
  run(
    pod: Pod,
    container: Container,
    containerId: string,
    handler: LifecycleHandler,
    podIP: string,
    signal: AbortSignal,
  ): Promise<void>;
}

export function createHookRunner(
  runtime: Pick<Runtime, "execSync">,
  clock: Clock,
  events: Pick<PodEvents, "pod">,
): HookRunner & { families(): readonly Family[] } {
  const fallbacks = counting(
    "kubelet_lifecycle_handler_http_fallbacks_total",
    "[ALPHA] The number of times lifecycle handlers successfully fell back to http from https.",
  );
  const endedSleeps = counting(
    "kubelet_sleep_action_terminated_early_total",
    "[ALPHA] The number of times lifecycle sleep handler got terminated before it finishes",
  );
  return {
    families: () => [fallbacks.family(), endedSleeps.family()],
    async run(pod, container, containerId, handler, podIP, signal) {
      const where = `for Container "${container.name}" in Pod "${podDescription(pod)}" failed - error`;
      if (handler.exec) {
        const command = handler.exec.command ?? [];
        const failure = await orAborted(
          execHook(runtime, containerId, command),
          signal,
        );
        if (failure)
          throw new Error(
            `Exec lifecycle hook ([${command.join(" ")}]) ${where}: ${failure.error}, message: ${JSON.stringify(failure.output)}`,
          );
      } else if (handler.httpGet) {
        const { path = "" } = handler.httpGet;
        const action = handler.httpGet;
        try {
          if (await httpHook(events, pod, container, action, podIP, signal))
            fallbacks.count();
        } catch (error) {
          if (signal.aborted) return;
          throw new Error(
            `HTTP lifecycle hook (${path}) ${where}: ${(error as Error).message}`,
            { cause: error },
          );
        }
      } else if (handler.sleep) {
        await sleep(clock, handler.sleep.seconds * 1000, signal);
        if (signal.aborted) endedSleeps.count();
      }
      // tcpSocket is there for the API's sake; no kubelet runs it.
      else throw new Error("Cannot run handler: invalid handler");
    },
  };
}

/** undefined: it succeeded. */
async function execHook(
  runtime: Pick<Runtime, "execSync">,
  containerId: string,
  command: string[],
): Promise<{ error: string; output: string } | undefined> {
  try {
    const { exitCode, stdout, stderr } = await runtime.execSync(
      containerId,
      command,
      0,
    );
    if (exitCode === 0) return undefined;
    return {
      error: `command '${command.join(" ")}' exited with ${exitCode}: ${stderr.toString("utf8").slice(0, 1024)}`,
      output: Buffer.concat([stdout, stderr]).toString("utf8").slice(0, 1024),
    };
  } catch (error) {
    return { error: runtimeErrorText(error), output: "" };
  }
}

function counting(name: string, help: string): Counters {
  const counters = new Counters({ name, help });
  counters.add(0);
  return counters;
}

/** Where HTTPS is answered with HTTP it is asked once more so, as older handlers rely on that; resolves to true then. */
async function httpHook(
  events: Pick<PodEvents, "pod">,
  pod: Pod,
  container: Container,
  action: HTTPGetAction,
  podIP: string,
  signal: AbortSignal,
): Promise<boolean> {
  const host = action.host || podIP;
  const options = { signal, userAgent: "kube-lifecycle/1.32" };
  try {
    await httpGet(action, host, container, options);
    return false;
  } catch (error) {
    const cause = (error as Error).cause as NodeJS.ErrnoException | undefined;
    if (!cause || !isPlainAnswer(cause)) throw error;
    const httpHeaders = (action.httpHeaders ?? []).filter(
      ({ name }) => name.toLowerCase() !== "authorization",
    );
    const plain = { ...action, scheme: "HTTP", httpHeaders };
    try {
      await httpGet(plain, host, container, options);
    } catch {
      throw error;
    }
    events.pod(
      pod,
      "Warning",
      "LifecycleHTTPFallback",
      `request to HTTPS lifecycle hook ${host}:${action.port} got HTTP response, retry with HTTP succeeded`,
    );
    return true;
  }
}

function sleep(
  clock: Clock,
  delayMs: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = clock.after(delayMs, resolve);
    signal.addEventListener(
      "abort",
      () => {
        timer.cancel();
        resolve();
      },
      { once: true },
    );
  });
}

/** undefined when the signal came first; the work itself goes on unobserved. */
export async function orAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  if (signal.aborted) {
    work.catch(() => undefined);
    return undefined;
  }
  return await new Promise<T | undefined>((resolve, reject) => {
    const onAbort = (): void => resolve(undefined);
    signal.addEventListener("abort", onAbort, { once: true });
    work
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", onAbort));
  });
}
