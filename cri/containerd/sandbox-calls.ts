// Sandboxes: made, stopped, removed, listed. Making one waits for the sandbox image.
import type { Runtime, SandboxConfig } from "../runtime.ts";
import { isCutResult, removeCutResults } from "../cni/cached-results.ts";
import { sandboxStatus, sandboxSummary } from "./answers.ts";
import {
  ignoreNotFound,
  sandboxTimeoutFactor,
  type CallContext,
} from "./call-context.ts";
import { sandboxMessage } from "./requests.ts";
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

/** @param seccompProfile as the runtime's option */
export function sandboxCalls(
  { connection, requestTimeoutMs, whileEnding }: CallContext,
  image: SandboxImage,
  seccompProfile: string | undefined,
): SandboxCalls {
  return {
    async runPodSandbox(config, runtimeHandler) {
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
        // Another client removed the image, for instance under another of its names.
        if (!/failed to get sandbox image/.test((error as Error).message))
          throw error;
        await image.importAgain();
        return run();
      }
    },

    async stopPodSandbox(sandboxId) {
      const stop = (): Promise<void> =>
        ignoreNotFound(
          whileEnding(sandboxId, "stop", () =>
            connection.call("StopPodSandbox", { pod_sandbox_id: sandboxId }),
          ),
        );
      try {
        await stop();
      } catch (error) {
        if (!isCutResult((error as Error).message)) throw error;
        if ((await removeCutResults(sandboxId)) === 0) throw error;
        await stop();
      }
    },

    async removePodSandbox(sandboxId) {
      await ignoreNotFound(
        whileEnding(sandboxId, "remove", () =>
          connection.call("RemovePodSandbox", { pod_sandbox_id: sandboxId }),
        ),
      );
    },

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
