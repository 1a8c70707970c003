// What may make a pod fit that no node took: the events that the filters which rejected it care about.
import { extenderPlugin } from "./extenders/extenders.ts";
import { allEvents, type ClusterEvent, type FilterPlugin } from "./plugin.ts";

export function hintsOf(
  { filters }: { readonly filters: readonly FilterPlugin[] },
  rejections: ReadonlyMap<unknown, { plugin: string }>,
): ReadonlySet<ClusterEvent> {
  const plugins = new Set([...rejections.values()].map(({ plugin }) => plugin));
  // Who knows what an extender looks at.
  if (plugins.has(extenderPlugin)) return allEvents;
  const hints = filters
    .filter(({ name }) => plugins.has(name))
    .flatMap((filter) => filter.hints);
  return new Set<ClusterEvent>(["node-added", ...hints]);
}
