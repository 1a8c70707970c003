// The watch cache and what it read from the store, by resource, with the reference's names and labels; made at a scrape.
// Its capacity is not there: history is bounded by its age and by the bytes of all resources (cache/history.ts).
import { Family, type Labels } from "../../api/metrics/family.ts";
import { qualifiedResource } from "../../api/object.ts";
import type { CacheCounts } from "../cache/cache-counts.ts";

interface CountedKind {
  readonly group: string;
  readonly resource: string;
  readonly cache: {
    /** Below the root of the store. */
    readonly prefix: string;
    readonly counts: CacheCounts;
  };
}

type Place = "resource" | "resource_prefix" | "index";

type Row = readonly [
  name: string,
  help: string,
  count: (counts: CacheCounts) => number,
  labels?: readonly Place[],
];

const ofLists = ["index", "resource_prefix"] as const;

const counters: readonly Row[] = [
  [
    "apiserver_cache_list_total",
    "Lists that were served from the watch cache.",
    ({ lists }) => lists,
    ofLists,
  ],
  [
    "apiserver_cache_list_fetched_objects_total",
    "Objects that lists looked at in the watch cache.",
    ({ fetched }) => fetched,
    ofLists,
  ],
  [
    "apiserver_cache_list_returned_objects_total",
    "Objects of the watch cache that lists were answered with.",
    ({ returned }) => returned,
    ["resource_prefix"],
  ],
  [
    "apiserver_watch_cache_events_received_total",
    "Events that came to the watch cache.",
    ({ events }) => events,
  ],
  [
    "apiserver_watch_cache_events_dispatched_total",
    "Events that the watch cache passed on to its watchers.",
    ({ events }) => events,
  ],
  [
    "apiserver_watch_cache_initializations_total",
    "How often the watch cache was filled.",
    ({ loads }) => loads,
  ],
  [
    "apiserver_init_events_total",
    "Objects and past events that watches began with.",
    ({ initial }) => initial,
  ],
  [
    "apiserver_terminated_watchers_total",
    "Watchers that were cut off, as they did not read.",
    ({ cutWatchers }) => cutWatchers,
  ],
  [
    "apiserver_storage_list_total",
    "Lists that were read from the store: the watch cache's own.",
    ({ loads }) => loads,
  ],
  [
    "apiserver_storage_list_fetched_objects_total",
    "Values that lists read from the store.",
    ({ loaded }) => loaded,
  ],
  [
    "apiserver_storage_list_evaluated_objects_total",
    "Values that lists of the store looked at.",
    ({ loaded }) => loaded,
  ],
  [
    "apiserver_storage_list_returned_objects_total",
    "Values that lists of the store returned.",
    ({ loaded }) => loaded,
  ],
  [
    "apiserver_storage_events_received_total",
    "Events that came from the store.",
    ({ events }) => events,
  ],
  [
    "apiserver_storage_decode_errors_total",
    "Stored values that could not be read.",
    ({ unreadable }) => unreadable,
  ],
];

/** @param revision that of the watch cache */
export function cacheFamilies(
  kinds: Iterable<CountedKind>,
  revision: number,
): Family[] {
  const families = counters.map(
    ([name, help]) => new Family(name, "counter", help),
  );
  const versions = new Family(
    "apiserver_watch_cache_resource_version",
    "gauge",
    "The newest version that the watch cache has seen.",
  );
  const reads = new Family(
    "apiserver_watch_cache_consistent_read_total",
    "counter",
    "Consistent lists that were served from the watch cache.",
  );
  const waits = new Family(
    "apiserver_watch_cache_read_wait_seconds",
    "histogram",
    "How long lists waited for the watch cache to be fresh.",
  );
  const sent = new Family(
    "apiserver_watch_events_total",
    "counter",
    "Events that watchers were sent.",
  );
  for (const { group, resource, cache } of kinds) {
    const { counts, prefix } = cache;
    const values: Readonly<Record<Place, string>> = {
      resource: qualifiedResource({ group, resource }),
      resource_prefix: prefix.slice(prefix.indexOf("/", 1)),
      index: "",
    };
    const byResource: Labels = { resource: values.resource };
    for (const [at, [, , count, labels]] of counters.entries()) {
      const value = count(counts);
      if (value > 0)
        families[at]!.add(
          labels
            ? Object.fromEntries(labels.map((name) => [name, values[name]]))
            : byResource,
          value,
        );
    }
    versions.add(byResource, revision);
    for (const [success, count] of [
      ["true", counts.consistentReads],
      ["false", counts.failedReads],
    ] as const)
      if (count > 0)
        reads.add({ ...byResource, success, fallback: "false" }, count);
    for (const { events, group, version, kind } of counts.watched.values())
      if (events > 0) sent.add({ group, version, kind }, events);
    if (counts.waits.count > 0) waits.addHistogram(byResource, counts.waits);
  }
  return [...families, versions, reads, waits, sent];
}
