// The runtime behind an endpoint, by scheme and socket. A unix socket speaks CRI v1 (containerd, CRI-O, cri-dockerd), but for
// Docker's own, which is known by its name and spoken to in its own API. A runtime that is not served is refused by name. A
// runtime's code is loaded when it is chosen.
import { basename } from "node:path";
import { socketPath } from "./endpoint.ts";
import type { ContainerdRuntimeOptions } from "./containerd/containerd-runtime.ts";
import type { DockerRuntimeOptions } from "./docker/docker-runtime.ts";
import type { Runtime } from "./runtime.ts";

/** Another kind is a line here and in openRuntime. */
type RuntimeKind = "cri" | "docker";

/** @throws RuntimeError "unsupported", which names the endpoint and why no runtime here serves it */
export function runtimeKind(endpoint: string): RuntimeKind {
  return basename(socketPath(endpoint)) === "docker.sock" ? "docker" : "cri";
}

/** Not started yet. Rejects as runtimeKind throws. */
export async function openRuntime(
  options: ContainerdRuntimeOptions & DockerRuntimeOptions,
): Promise<Runtime> {
  switch (runtimeKind(options.endpoint)) {
    case "docker": {
      const { createDockerRuntime } =
        await import("./docker/docker-runtime.ts");
      return createDockerRuntime(options);
    }
    case "cri": {
      const { createContainerdRuntime } =
        await import("./containerd/containerd-runtime.ts");
      return createContainerdRuntime(options);
    }
  }
}
