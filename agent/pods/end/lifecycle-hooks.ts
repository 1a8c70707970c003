// postStart and preStop handlers: exec in the container, an HTTP GET to the pod, or a sleep.
import type { Clock } from "../../../api/clock.ts";
import type {
  Container,
  LifecycleHandler,
  Pod,
} from "../../../api/types/core-v1.ts";
import type { Runtime } from "../../../cri/runtime.ts";
import { httpGet, resolvePort } from "../../probes/http-get.ts";

export interface HookRunner {
  /** Rejects when the handler failed; ends at the signal. */
  run(
    pod: Pod,
    container: Container,
    containerId: string,
    handler: LifecycleHandler,
    podIP: string,
    signal: AbortSignal,
  ): Promise<void>;
}

export function createHookRunner(runtime: Runtime, clock: Clock): HookRunner {
  return {
    async run(_pod, container, containerId, handler, podIP, signal) {
      if (handler.exec) {
        const command = handler.exec.command ?? [];
        const result = await orAborted(
          runtime.execSync(containerId, command, 0),
          signal,
        );
        if (result && result.exitCode !== 0) {
          const output = Buffer.concat([result.stdout, result.stderr])
            .toString("utf8")
            .slice(0, 1024);
          throw new Error(
            `command '${command.join(" ")}' exited with ${result.exitCode}: ${output}`,
          );
        }
      } else if (handler.httpGet) {
        const { statusCode } = await httpGet(
          handler.httpGet,
          handler.httpGet.host || podIP,
          container,
          { signal, userAgent: "kube-lifecycle/1.32" },
        );
        if (statusCode >= 400)
          throw new Error(`HTTP GET returned ${statusCode}`);
      } else if (handler.tcpSocket) {
        resolvePort(handler.tcpSocket.port, container);
        throw new Error("tcpSocket handlers are not supported");
      } else if (handler.sleep)
        await sleep(clock, handler.sleep.seconds * 1000, signal);
    },
  };
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
