// Whether a read-only mount covers what is mounted below it: as the mount asks and the runtime's handler can. Rules and
// texts are the reference's.
import type { VolumeMount } from "../../../api/types/core-v1.ts";

/** @throws when the mount insists and can't have it; `supported`: by the handler of the pod's runtime */
export function recursiveReadOnly(
  { name, readOnly, mountPropagation, recursiveReadOnly: mode }: VolumeMount,
  supported: boolean,
): boolean {
  if (mode === undefined || mode === "Disabled") return false;
  const failed = "failed to resolve recursive read-only mode:";
  const asked = `${failed} volume "${name}" requested recursive read-only mode, but it is not`;
  if (!readOnly) throw new Error(`${asked} read-only`);
  if (mountPropagation !== undefined && mountPropagation !== "None")
    throw new Error(
      `${asked} compatible with propagation "${mountPropagation}"`,
    );
  if (mode === "IfPossible") return supported;
  if (mode !== "Enabled")
    throw new Error(`${failed} unknown recursive read-only mode "${mode}"`);
  if (!supported) throw new Error(`${asked} supported by the runtime`);
  return true;
}
