// watch: where the stream starts (now, history, initial events), which events a selector turns into ADDED and DELETED,
// and bookmarks. A watcher's sink turns events into HTTP frames or into objects of this process.
//
// Invariant: the sink is called synchronously, in revision order, with no gap and nothing twice between the initial
// state and the events after it. The initial state is handed over as it is; the sink selects and sends it in slices of
// time, and later events behind it.
import { errors, type ApiError, type FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { CacheEntry } from "../../cache/cache-entry.ts";
import type { CacheEvent } from "../../cache/history.ts";
import type { Call } from "../call.ts";
import { integer } from "./list.ts";
import { selectionOf, type Selection } from "./selection.ts";
import { refuseUnreadable } from "./unreadable.ts";
import { mostRecent, notOlderThan, parseVersion } from "../versions.ts";

export type WatchType = "ADDED" | "MODIFIED" | "DELETED";

export interface WatchSink {
  /** The state to begin with; called at most once, before everything else. Only what is selected is sent. */
  initial(
    entries: readonly CacheEntry[],
    selected: (entry: CacheEntry) => boolean,
  ): void;
  /** The events to begin with, instead; `typeOf` is undefined for what the watcher does not see. */
  past(
    events: readonly CacheEvent[],
    typeOf: (event: CacheEvent) => WatchType | undefined,
  ): void;
  /** For DELETED the object is event.previous with the event's revision. */
  event(type: WatchType, event: CacheEvent): void;
  /** `initialEnd`: the initial state is complete. */
  bookmark(revision: number, initialEnd: boolean): void;
  /** An event could not be taken: no further one will come. The watcher's stream is to end. */
  lost(error: unknown): void;
  /** The next event can't be shown: an ERROR event reports that, and the stream ends. */
  fail(error: ApiError): void;
  /** The resource is no longer served, or served otherwise: the stream ends after what it has been given. */
  end(): void;
}

export interface WatchQuery {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly continue?: string;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
}

/** The selection's part that is asked of events' objects as they are shown. Throws ApiError 400. */
export function shownSelectionOf(
  { endpoint, namespace }: Call,
  { labelSelector, fieldSelector }: WatchQuery,
): Selection["matchesShown"] {
  return selectionOf(endpoint, namespace, labelSelector, fieldSelector)
    .matchesShown;
}

export interface OpenWatch {
  /** Sends a bookmark of the present revision, when bookmarks were asked for. */
  bookmark(): void;
  close(): void;
}

/** @param streamsLists the gate WatchList. Throws ApiError 400. */
export function watchQueryOf(
  query: URLSearchParams,
  streamsLists: boolean,
): WatchQuery {
  integer(query.get("limit"));
  const initial = query.get("sendInitialEvents");
  const asked = {
    labelSelector: query.get("labelSelector") ?? "",
    fieldSelector: query.get("fieldSelector") ?? "",
    resourceVersion: query.get("resourceVersion") ?? "",
    resourceVersionMatch: query.get("resourceVersionMatch") ?? "",
    continue: query.get("continue") ?? "",
    allowWatchBookmarks: isTrue(query.get("allowWatchBookmarks")),
    sendInitialEvents: initial === null ? undefined : isTrue(initial),
  };
  // Without a version to start at, the state is what it begins with.
  const fromState =
    streamsLists &&
    asked.sendInitialEvents === undefined &&
    asked.resourceVersionMatch === "" &&
    ["", "0"].includes(asked.resourceVersion);
  return fromState
    ? {
        ...asked,
        sendInitialEvents: true,
        resourceVersionMatch: "NotOlderThan",
      }
    : asked;
}

/** A parameter that is there is true (an empty one as well) unless it says "false" or "0". */
export function isTrue(text: string | null): boolean {
  return text !== null && text !== "0" && text.toLowerCase() !== "false";
}

/** Throws ApiError 400, 410, 422, 504 before the first call of the sink. */
export async function watch(
  call: Call,
  query: WatchQuery,
  sink: WatchSink,
): Promise<OpenWatch> {
  const { endpoint, registry } = call;
  const kind = endpoint.stored;
  if (!kind) throw errors.methodNotAllowed(endpoint.info, "watch");
  validateWatchQuery(query, registry.streamsLists);
  const selection = selectionOf(
    endpoint,
    call.namespace,
    query.labelSelector,
    query.fieldSelector,
  );
  const version = parseVersion(query.resourceVersion);
  if (version === undefined || version === 0) await mostRecent(registry);
  else if (query.sendInitialEvents) await notOlderThan(registry, version);

  const { cache } = kind;
  const sent = cache.counts.watchedAs(endpoint.info);
  const fromState =
    query.sendInitialEvents === true ||
    (query.sendInitialEvents === undefined && !version);
  let after = registry.cache.revision;
  if (!fromState && version) {
    after = version;
    if (version < cache.history.floor)
      throw errors.expired(
        `too old resource version: ${version} (${cache.history.floor})`,
      );
  }
  const typeOf = (event: CacheEvent): WatchType | undefined => {
    const is = event.entry !== undefined && selection.matches(event.entry);
    const was =
      event.previous !== undefined && selection.matches(event.previous);
    if (is) return was ? "MODIFIED" : "ADDED";
    return was ? "DELETED" : undefined;
  };
  const deliver = (event: CacheEvent): void => {
    if (event.revision <= after) return;
    const type = typeOf(event);
    if (!type) return;
    sent.events++;
    sink.event(type, event);
  };
  if (fromState) {
    refuseUnreadable(call, kind, selection);
    const entries = cache.slice(selection.from, selection.to);
    cache.counts.initial += entries.length;
    sink.initial(entries, (entry) => {
      const selected = selection.matches(entry);
      if (selected) sent.events++;
      return selected;
    });
    if (query.sendInitialEvents && query.allowWatchBookmarks)
      sink.bookmark(after, true);
  } else if (version) {
    const past = cache.history.after(version);
    if (past.length > 0) {
      cache.counts.initial += past.length;
      sink.past(past, (event) => {
        const type = typeOf(event);
        if (type) sent.events++;
        return type;
      });
      after = Math.max(after, past.at(-1)!.revision);
    }
  }
  const stop = cache.listen(deliver, {
    onLost: (error) => sink.lost(error),
    onClose: () => sink.end(),
  });
  return {
    bookmark: () => {
      if (query.allowWatchBookmarks && registry.cache.revision >= after)
        sink.bookmark(registry.cache.revision, false);
    },
    close: stop,
  };
}

function validateWatchQuery(query: WatchQuery, streamsLists: boolean): void {
  const { resourceVersionMatch: match, sendInitialEvents } = query;
  const problems: FieldError[] = [];
  const forbid = (detail: string) =>
    problems.push(fieldErrors.forbidden("resourceVersionMatch", detail));
  if (sendInitialEvents === undefined && match !== "")
    forbid(
      "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
    );
  if (sendInitialEvents !== undefined && match !== "NotOlderThan")
    forbid(
      "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
    );
  if (sendInitialEvents !== undefined && !streamsLists)
    problems.push(
      fieldErrors.forbidden(
        "sendInitialEvents",
        "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
      ),
    );
  if (match !== "" && query.continue)
    forbid("resourceVersionMatch is forbidden when continue is provided");
  if (match !== "" && match !== "NotOlderThan")
    problems.push(
      fieldErrors.notSupported("resourceVersionMatch", match, ["NotOlderThan"]),
    );
  if (problems.length > 0)
    throw errors.invalid(
      { group: "meta.k8s.io", kind: "ListOptions" },
      "",
      problems,
    );
}
