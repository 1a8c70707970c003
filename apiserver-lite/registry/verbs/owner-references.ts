// Owners named twice are kept once: the repetition is dropped, with a warning.
import type { AnyObject } from "../../../api/object.ts";
import type { Call } from "../call.ts";

/** `when`: "" for what the request says, " after mutating admission happens" for what became of it. */
export function dedupeOwners(
  call: Call,
  { metadata }: AnyObject,
  when: "" | " after mutating admission happens",
): void {
  const owners = metadata.ownerReferences;
  if (!owners || owners.length < 2) return;
  const known = new Set<string>();
  const uids: string[] = [];
  const kept = owners.filter((owner) => {
    const { apiVersion, kind, name, uid } = owner;
    const { controller, blockOwnerDeletion } = owner;
    const text = JSON.stringify([
      apiVersion,
      kind,
      name,
      uid,
      controller,
      blockOwnerDeletion,
    ]);
    if (known.has(text)) {
      uids.push(uid);
      return false;
    }
    known.add(text);
    return true;
  });
  if (uids.length === 0) return;
  metadata.ownerReferences = kept;
  call.warn(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids.join(", ")}`,
  );
}
