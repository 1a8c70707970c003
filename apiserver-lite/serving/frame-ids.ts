// What the frames of a watch event are known by while it is given to watchers, for one representation.
import type { WatchType } from "../registry/verbs/watch.ts";

export interface FrameIds {
  readonly event: Readonly<Record<WatchType, string>>;
  readonly chunk: Readonly<Record<WatchType, string>>;
}

export function frameIdsOf(id: string): FrameIds {
  const named = (prefix: string) => ({
    ADDED: `${prefix}ADDED|${id}`,
    MODIFIED: `${prefix}MODIFIED|${id}`,
    DELETED: `${prefix}DELETED|${id}`,
  });
  return { event: named(""), chunk: named("chunk|") };
}
