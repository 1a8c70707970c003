// Sandboxes: made, stopped, removed, listed. Making one waits for the sandbox image.
import type { Logger } from "pino";
import { RuntimeError, type Runtime, type SandboxConfig } from "../runtime.ts";
import { bandwidthCapability } from "../cni/bandwidth.ts";
import { isCutResult, removeCutResults } from "../cni/cached-results.ts";
import {
  isHiddenNamespace,
  protectNamespaces,
} from "../cni/namespace-mounts.ts";
import { sandboxStatus, sandboxSummary } from "./answers.ts";
import {
  ignoreNotFound,
  sandboxTimeoutFactor,
  type CallContext,
} from "./call-context.ts";
import { sandboxMessage } from "./requests.ts";
import { retryEndedByItself } from "./ended-by-itself.ts";
import type { SandboxImage } from "../sandbox-image/present-image.ts";

type SandboxCalls = Pick<
  Runtime,
  | "runPodSandbox"
  | "stopPodSandbox"
  | "removePodSandbox"
  | "podSandboxStatus"
  | "listPodSandboxes"
>;

/** What asks for another profile, or for none, keeps it. */
function withProfile(
  config: SandboxConfig,
  localhostRef: string | undefined,
): SandboxConfig {
  const { security } = config;
  if (!localhostRef || security.seccomp?.type !== "runtime-default")
    return config;
  return {
    ...config,
    security: { ...security, seccomp: { type: "localhost", localhostRef } },
  };
}

/** Puts right what keeps a sandbox from being stopped; resolves to whether it can be tried again. */
async function mended(
  sandboxId: string,
  message: string,
  logger: Logger,
): Promise<boolean> {
  if (isCutResult(message)) return (await removeCutResults(sandboxId)) > 0;
  if (!isHiddenNamespace(message)) return false;
  await protectNamespaces(logger);
  return true;
}

/** Ends a sandbox, or what is left of it, once more when what kept it could be put right. */
async function mending(
  sandboxId: string,
  logger: Logger,
  end: () => Promise<unknown>,
): Promise<void> {
  try {
    await ignoreNotFound(end());
  } catch (error) {
    if (!(await mended(sandboxId, (error as Error).message, logger)))
      throw error;
    await ignoreNotFound(end());
  }
}

/** Containerd makes a sandbox whose limits it can't read before it says so, and then can't stop it. */
function checkBandwidth({ annotations }: SandboxConfig): void {
  try {
    bandwidthCapability(annotations);
  } catch (error) {
    throw new RuntimeError("invalid", (error as Error).message, {
      cause: error,
    });
  }
}

/** @param seccompProfile as the runtime's option */
export function sandboxCalls(
  { connection, requestTimeoutMs, clock, whileEnding }: CallContext,
  image: SandboxImage,
  seccompProfile: string | undefined,
  logger: Logger,
): SandboxCalls {
  const end = (
    sandboxId: string,
    how: "stop" | "remove",
    method: "StopPodSandbox" | "RemovePodSandbox",
  ): Promise<void> =>
    mending(sandboxId, logger, () =>
      retryEndedByItself(clock, () =>
        whileEnding(sandboxId, how, () =>
          connection.call(method, { pod_sandbox_id: sandboxId }),
        ),
      ),
    );

  return {
    async runPodSandbox(config, runtimeHandler) {
      checkBandwidth(config);
      await image.ready();
      const request = {
        config: sandboxMessage(withProfile(config, seccompProfile)),
        runtime_handler: runtimeHandler,
      };
      const run = async (): Promise<string> =>
        (
          await connection.call(
            "RunPodSandbox",
            request,
            requestTimeoutMs * sandboxTimeoutFactor,
          )
        ).pod_sandbox_id;
      try {
        return await run();
      } catch (error) {
        // Another client removed the image, for instance under another of its names. Or it never was there: containerd 2
        // shows nowhere else what it is configured with.
        const missing = /failed to get sandbox image(?: "([^"]+)")?/.exec(
          (error as Error).message,
        );
        if (!missing) throw error;
        await image.importAgain(missing[1]);
        return run();
      }
    },

    stopPodSandbox: (sandboxId) => end(sandboxId, "stop", "StopPodSandbox"),
    removePodSandbox: (sandboxId) =>
      end(sandboxId, "remove", "RemovePodSandbox"),

    async podSandboxStatus(sandboxId, verbose = false) {
      return sandboxStatus(
        await connection.call("PodSandboxStatus", {
          pod_sandbox_id: sandboxId,
          verbose,
        }),
      );
    },

    async listPodSandboxes(labels) {
      const { items } = await connection.call(
        "ListPodSandbox",
        labels === undefined ? {} : { filter: { label_selector: labels } },
      );
      return items.map(sandboxSummary);
    },
  };
}
