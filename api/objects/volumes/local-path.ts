// The names by which controllers and node agents agree on the built-in class of local directories. The agent names its
// directory on its Node; the controllers make a `local` volume below it for a claim of the chosen node; the agent makes
// the directory with the first mount and removes it when the volume is gone.
import type { Node } from "../../types/core-v1.ts";

export const localPathProvisioner = "orbit.io/local-path";

/** On Nodes: the absolute path below which the agent keeps the volumes. */
export const localPathAnnotation = "orbit.io/local-path-directory";

/** On volumes of a node without an API server: the uid of the pod whose generic ephemeral volume it is. */
export const ephemeralAnnotation = "orbit.io/ephemeral-volume-of";

export function localPathDirectory({ metadata }: Node): string | undefined {
  const path = metadata.annotations?.[localPathAnnotation];
  return path?.startsWith("/") ? path : undefined;
}

/** The volume of a claim; never another one's, as uids are not used twice. */
export function provisionedName(claimUid: string): string {
  return `pvc-${claimUid}`;
}
