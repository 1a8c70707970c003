// deletecollection: what a list selects, each deleted as by itself, some at a time, in slices of time.
import { isNotFound } from "../../../api/errors.ts";
import type { DeleteOptions } from "../../../api/types/meta-v1.ts";
import { Call } from "../call.ts";
import { checkDeleteOptions, remove } from "./delete.ts";
import { refuseForcedCollection } from "./unreadable.ts";
import { list, listQueryOf, type Listed } from "./list.ts";

const defaultWorkers = 64;

/** Returns what was selected, as the list of the answer. The first error stops it. */
export async function removeCollection(
  call: Call,
  options: DeleteOptions,
): Promise<Listed> {
  refuseForcedCollection(call, options);
  const query = listQueryOf(call.query);
  // Also where nothing is selected.
  checkDeleteOptions(options);
  // It is read in pages, which a version means exactly.
  const limit = query.limit === 0 ? Number.MAX_SAFE_INTEGER : query.limit;
  const listed = await list(call, { ...query, limit });
  const { slices } = call.registry;
  let next = 0;
  const run = async (): Promise<void> => {
    for (
      let entry = listed.entries[next++];
      entry;
      entry = listed.entries[next++]
    ) {
      const one = new Call(call.registry, {
        ...call.options,
        namespace: entry.namespace,
        name: entry.name,
        dryRun: call.dryRun,
      });
      if (slices.over) await slices.next(call);
      try {
        await remove(one, { ...options }, { collection: true });
      } catch (error) {
        if (isNotFound(error)) continue;
        next = listed.entries.length;
        throw error;
      }
    }
  };
  const length = call.registry.options.deleteCollectionWorkers;
  await Promise.all(Array.from({ length: length ?? defaultWorkers }, run));
  return listed;
}
