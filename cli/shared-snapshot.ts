// A snapshot for a store that the reference's servers share. A file of its own, so that the other commands on stores load
// no codec.
import { inSharedForm } from "../apiserver-lite/index.ts";
import type { Snapshot } from "../storage/snapshot.ts";

export function sharedSnapshot(snapshot: Snapshot): Snapshot {
  const entries = snapshot.entries.map((entry) => ({
    ...entry,
    value: inSharedForm(entry.value),
  }));
  return { ...snapshot, entries };
}
