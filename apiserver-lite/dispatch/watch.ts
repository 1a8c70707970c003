// watch: the query of a request, where a watch of one object is a watch with a field selector, and the registry's stream
// into the transport's sink.
import type { Clock, Timer } from "../../api/clock.ts";
import { errors } from "../../api/errors.ts";
import { ConvertingSink } from "./converting-sink.ts";
import { parseFieldSelector } from "../../api/selectors.ts";
import type { Call } from "../registry/call.ts";
import { integer } from "../registry/verbs/list.ts";
import {
  shownSelectionOf,
  watch,
  watchQueryOf,
  type OpenWatch,
  type WatchQuery,
  type WatchSink,
} from "../registry/verbs/watch.ts";

/** Throws ApiError 400, 410, 422, 504 before the first call of the sink. */
export async function openWatch(
  call: Call,
  sink: WatchSink,
): Promise<OpenWatch> {
  const { endpoint, registry } = call;
  if (!endpoint.converts) return watch(call, queryOf(call), sink);
  const { slices } = registry;
  const query = queryOf(call);
  const converting = new ConvertingSink(
    endpoint,
    sink,
    () => (slices.over ? slices.next(call) : undefined),
    shownSelectionOf(call, query),
  );
  const live = await watch(call, query, converting);
  try {
    await converting.start();
  } catch (error) {
    live.close();
    throw error;
  }
  return live;
}

/** How long before the end a watcher gets a last bookmark. */
const lastBookmarkMs = 2000;
/** What a timer can wait. */
const maxTimeoutMs = 2 ** 31 - 1;

/** What `timeoutSeconds` asks for; undefined when it asks for nothing. Throws ApiError 400. */
export function watchTimeoutMs(query: URLSearchParams): number | undefined {
  const seconds = integer(query.get("timeoutSeconds"));
  return seconds === 0
    ? undefined
    : Math.min(Math.max(seconds * 1000, 0), maxTimeoutMs);
}

interface WatchTimes {
  readonly clock: Clock;
  /** Infinity: it has no end of its own. */
  readonly timeoutMs: number;
  readonly bookmarkIntervalMs: number;
  /** Called at the end of the time; the watch is closed by then. */
  readonly finish: () => void;
}

/** Bookmarks at intervals and shortly before the end, and the end in time. Returns what closes the watch before. */
export function keepWatch(
  live: OpenWatch,
  { clock, timeoutMs, bookmarkIntervalMs, finish }: WatchTimes,
): () => void {
  const timers = new Set<Timer>();
  const after = (ms: number, run: () => void): void => {
    const timer = clock.after(ms, () => {
      timers.delete(timer);
      run();
    });
    timers.add(timer);
  };
  const close = (): void => {
    for (const timer of timers) timer.cancel();
    live.close();
  };
  const tick = (): void => {
    live.bookmark();
    after(bookmarkIntervalMs, tick);
  };
  if (timeoutMs !== Infinity) {
    after(timeoutMs, () => {
      close();
      finish();
    });
    if (timeoutMs > lastBookmarkMs)
      after(timeoutMs - lastBookmarkMs, () => live.bookmark());
  }
  after(bookmarkIntervalMs, tick);
  return close;
}

function queryOf(call: Call): WatchQuery {
  const query = watchQueryOf(call.query, call.registry.streamsLists);
  if (call.name === "") return query;
  const names = parseFieldSelector(query.fieldSelector).requirements.filter(
    ({ field, op }) => field === "metadata.name" && op === "=",
  );
  if (names.some(({ value }) => value !== call.name))
    throw errors.badRequest(
      "fieldSelector metadata.name doesn't match requested name",
    );
  const fieldSelector = [query.fieldSelector, `metadata.name=${call.name}`]
    .filter(Boolean)
    .join(",");
  return { ...query, fieldSelector };
}
