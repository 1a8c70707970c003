// The pod's fsGroup as owner of a volume's files.
import { stat } from "node:fs/promises";
import type { Logger } from "pino";
import type { Pod } from "../../api/types/core-v1.ts";
import { setGroup } from "./files/ownership.ts";
import type { MountedVolume } from "./volume-plugin.ts";

export async function applyFsGroup(
  { spec, metadata }: Pod,
  { path, fsGroup, readOnly }: MountedVolume,
  logger: Logger,
): Promise<void> {
  const group = spec.securityContext?.fsGroup;
  // What a pod asks for to read alone stays as others left it.
  if (group === undefined || fsGroup === undefined || readOnly) return;
  const policy = spec.securityContext?.fsGroupChangePolicy;
  const { count, error } = await setGroup(
    path,
    group,
    fsGroup === "by-policy" && policy === "OnRootMismatch",
  );
  if (count > 0)
    logger.warn(
      { err: error, pod: metadata.name, namespace: metadata.namespace, count },
      "files of a volume keep their group or mode",
    );
}

/** Of a volume that other pods have, too, and whose group stays theirs; undefined: it is the pod's own. */
export async function otherGroup(
  { spec }: Pod,
  name: string,
  { path, readOnly }: MountedVolume,
): Promise<string | undefined> {
  const group = spec.securityContext?.fsGroup;
  if (group === undefined || readOnly) return undefined;
  const { gid } = await stat(path);
  return gid === group
    ? undefined
    : `The requested fsGroup is ${group}, but the volume ${name} has GID ${gid}. The volume may not be shareable.`;
}
