// delete: marks or removes an object, or, where the gate and the options say so, a value that can't be read. The answer
// for a removed object is a Status, or, where the strategy says so, the object's last state.
import type { Call } from "../registry/call.ts";
import { remove } from "../registry/verbs/delete.ts";
import {
  asksForced,
  removeUnreadable,
  unsafeDeleteVerb,
} from "../registry/verbs/unreadable.ts";
import { deleteOptionsOf } from "./delete-options.ts";
import { callOf, type Outcome, type RequestContext } from "./request.ts";

export async function performDelete(request: RequestContext): Promise<Outcome> {
  const options = await deleteOptionsOf(request);
  const dryRun = (options.dryRun?.length ?? 0) > 0;
  const call = callOf(request, { dryRun });
  if (asksForced(call, options)) {
    await call.authorize(unsafeDeleteVerb);
    await removeUnreadable(call);
    return { status: 200, value: deletedStatus(call, undefined) };
  }
  const { entry, gone } = await remove(call, options);
  if (!gone)
    return { status: options.orphanDependents === false ? 202 : 200, entry };
  if (request.endpoint.strategy.returnsDeleted) return { status: 200, entry };
  return { status: 200, value: deletedStatus(call, entry.raw.metadata.uid) };
}

function deletedStatus(call: Call, uid: string | undefined): object {
  const { group, resource } = call.endpoint.info;
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: {
      name: call.name,
      ...(group ? { group } : {}),
      kind: resource,
      ...(uid ? { uid } : {}),
    },
  };
}
