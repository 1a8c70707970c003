// The pod's fsGroup as owner of a volume's files.
import type { Pod } from "../../api/types/core-v1.ts";
import { setGroup } from "./files/ownership.ts";
import type { MountedVolume } from "./volume-plugin.ts";

export async function applyFsGroup(
  { spec }: Pod,
  { path, fsGroup }: MountedVolume,
): Promise<void> {
  const group = spec.securityContext?.fsGroup;
  if (group === undefined || fsGroup === undefined) return;
  const policy = spec.securityContext?.fsGroupChangePolicy;
  await setGroup(
    path,
    group,
    fsGroup === "by-policy" && policy === "OnRootMismatch",
  );
}
