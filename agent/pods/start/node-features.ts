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

/**
 * Why a pod can't have the user namespace it asks for, in the reference's words; undefined: it asks for none of
 * its own, or may have it.
 *
 * @param handler Of the pod's RuntimeClass; "": the runtime's default one.
 * @param isGateOn UserNamespacesSupport. Pods of an API server have lost the field without it, static pods have not.
 */
export function userNamespaceRefusal(
  { spec: { hostUsers } }: Pod,
  handler: string,
  { handlers }: NodeFeatures,
  isGateOn: boolean,
): string | undefined {
  if (hostUsers === undefined) return undefined;
  if (!isGateOn)
    return 'the feature gate "UserNamespacesSupport" is disabled: can\'t set spec.HostUsers';
  if (hostUsers) return undefined;
  const found = handlers.find(({ name }) => name === handler);
  if (found?.userNamespaces) return undefined;
  const text =
    handler === ""
      ? "can't set `spec.hostUsers: false`, runtime does not support user namespaces"
      : `can't set \`spec.hostUsers: false\`, RuntimeClass handler ${JSON.stringify(handler)} does not support user namespaces`;
  // A runtime that lists no handlers is an older one.
  return found || handlers.length === 0
    ? text
    : `${text}: the handler ${JSON.stringify(handler)} is not known`;
}
