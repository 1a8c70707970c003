// What pods may ask for that depends on the runtime of the node, as it reports itself.
import type { Pod } from "../../../api/types/core-v1.ts";
import type { RuntimeFeatures } from "../../../cri/runtime-features.ts";

export type NodeFeatures = Readonly<Required<RuntimeFeatures>>;

/** Can that handler of the runtime ("": the default one) make what is mounted below a mount read-only? */
export function mountsReadOnlyBelow(
  { handlers }: NodeFeatures,
  handler: string,
): boolean {
  return handlers.some(
    ({ name, recursiveReadOnlyMounts }) =>
      name === handler && recursiveReadOnlyMounts,
  );
}

/** Why a pod that wants a user namespace of its own can't have one; undefined: it wants none. */
export function userNamespaceRefusal(
  { spec }: Pod,
  { handlers }: NodeFeatures,
): string | undefined {
  if (spec.hostUsers !== false) return undefined;
  const name = spec.runtimeClassName ?? "";
  const able = handlers.some((handler) => handler.userNamespaces);
  return able
    ? "can't set `spec.hostUsers: false`, user namespaces are not supported by this agent"
    : name === ""
      ? "can't set `spec.hostUsers: false`, runtime does not support user namespaces"
      : `can't set \`spec.hostUsers: false\`, RuntimeClass handler "${name}" does not support user namespaces`;
}
