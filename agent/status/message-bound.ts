// The last messages of a pod's containers together: 12 KiB, each container's equal share of it, as at the reference.
import type { ContainerStatus, Pod } from "../../api/types/core-v1.ts";
import { podContainers } from "../pods/shape/pod-shape.ts";

const maxPodBytes = 12 * 1024;

/** The statuses are the caller's own; states that are too long are replaced. */
export function boundMessages(
  pod: Pod,
  statuses: readonly ContainerStatus[],
): void {
  const maxBytes = Math.floor(
    maxPodBytes / Math.max(1, podContainers(pod).length),
  );
  for (const status of statuses)
    for (const part of ["state", "lastState"] as const) {
      const terminated = status[part]?.terminated;
      const message = terminated?.message ?? "";
      if (Buffer.byteLength(message) > maxBytes)
        status[part] = {
          terminated: { ...terminated!, message: beginning(message, maxBytes) },
        };
    }
}

/** Whole characters only. */
function beginning(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  let end = maxBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}
