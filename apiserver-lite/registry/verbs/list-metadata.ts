// The metadata of a list's answer, the same for all transports.
import type { ListMeta } from "../../../api/types/meta-v1.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Listed } from "./list.ts";

/** The last page of custom resources in their own form says that there is no other. */
export function listMetadata(
  listed: Listed,
  { custom }: Pick<Endpoint, "custom">,
): ListMeta {
  const { revision, remainingItemCount } = listed;
  const next = listed.continue ?? (custom ? "" : undefined);
  return {
    ...(revision > 0 ? { resourceVersion: String(revision) } : {}),
    ...(next === undefined ? {} : { continue: next }),
    ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  };
}
