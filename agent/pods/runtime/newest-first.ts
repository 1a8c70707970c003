// The order of what the runtime has of a pod: the newest first, of each container by its restarts.
import type { ContainerStatus, SandboxStatus } from "../../../cri/runtime.ts";
import { containerRecord } from "../shape/labels.ts";

export function newestFirst(a: SandboxStatus, b: SandboxStatus): number {
  return (
    b.metadata.attempt - a.metadata.attempt || b.createdAtMs - a.createdAtMs
  );
}

export function newestContainerFirst(
  a: ContainerStatus,
  b: ContainerStatus,
): number {
  const attempts =
    containerRecord(b.annotations).restartCount -
    containerRecord(a.annotations).restartCount;
  return a.name === b.name
    ? attempts || b.createdAtMs - a.createdAtMs
    : b.createdAtMs - a.createdAtMs;
}
