// The metadata of a list's answer, the same for all transports.
import type { ListMeta } from "../../../api/types/meta-v1.ts";
import type { Listed } from "./list.ts";

/** @param custom custom resources in their own form: their last page says that there is no other */
export function listMetadata(listed: Listed, custom: boolean): ListMeta {
  const { revision, remainingItemCount } = listed;
  const next = listed.continue ?? (custom ? "" : undefined);
  return {
    ...(revision > 0 ? { resourceVersion: String(revision) } : {}),
    ...(next === undefined ? {} : { continue: next }),
    ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  };
}
