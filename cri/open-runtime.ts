// The runtime behind an endpoint, by scheme and socket. A unix socket speaks CRI v1 (containerd, CRI-O, cri-dockerd), but for
// Docker's own, which is known by its name. A runtime that is not served is refused by name. A runtime's code is loaded
// when it is chosen.
import { basename } from "node:path";
import { socketPath } from "./endpoint.ts";
import type { ContainerdRuntimeOptions } from "./containerd/containerd-runtime.ts";
import { RuntimeError, type Runtime } from "./runtime.ts";

/** Another kind is a line here and in openRuntime. */
type RuntimeKind = "cri";

/** @throws RuntimeError "unsupported", which names the endpoint and why no runtime here serves it */
export function runtimeKind(endpoint: string): RuntimeKind {
  if (basename(socketPath(endpoint)) === "docker.sock")
    throw new RuntimeError(
      "unsupported",
      `container runtime endpoint ${endpoint} is Docker's own, which does not speak CRI: give the socket of cri-dockerd or of containerd`,
    );
  return "cri";
}

/** Not started yet. Rejects as runtimeKind throws. */
export async function openRuntime(
  options: ContainerdRuntimeOptions,
): Promise<Runtime> {
  switch (runtimeKind(options.endpoint)) {
    case "cri": {
      const { createContainerdRuntime } =
        await import("./containerd/containerd-runtime.ts");
      return createContainerdRuntime(options);
    }
  }
}
