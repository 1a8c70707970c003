// list: every cell of the resourceVersion × resourceVersionMatch × limit/continue table, paging with a constant
// collection version, and past versions from the undo log.
// Invariant: a list is of one revision. Its entries are noted in one go (references to entries, which never change); the
// selection among them, and the differences of a past version, are computed in slices of time.
import { ApiError, errors, type FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { CacheEntry } from "../../cache/cache-entry.ts";
import { pastEntries } from "../../cache/past-view.ts";
import type { Call } from "../call.ts";
import { listComputed } from "./computed.ts";
import { decodeContinue, encodeContinue } from "./continue-token.ts";
import type { StoredKind } from "../kinds/stored-kind.ts";
import { selectionOf, type Selection } from "./selection.ts";
import { refuseUnreadable } from "./unreadable.ts";
import {
  mostRecent,
  notOlderThan,
  parseVersion,
  tooLarge,
} from "../versions.ts";

export interface Listed {
  readonly entries: readonly CacheEntry[];
  /** 0: computed, there is none. */
  readonly revision: number;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

interface ListQuery {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly limit: number;
  readonly continue: string;
  /** Whether it is there, with whatever value: watches alone have it. */
  readonly sendInitialEvents: boolean;
}

/** Throws ApiError 400. */
export function listQueryOf(query: URLSearchParams): ListQuery {
  integer(query.get("timeoutSeconds"));
  return {
    labelSelector: query.get("labelSelector") ?? "",
    fieldSelector: query.get("fieldSelector") ?? "",
    resourceVersion: query.get("resourceVersion") ?? "",
    resourceVersionMatch: query.get("resourceVersionMatch") ?? "",
    limit: integer(query.get("limit")),
    continue: query.get("continue") ?? "",
    sendInitialEvents: query.has("sendInitialEvents"),
  };
}

/** Entries that are looked at between two looks at the clock. */
const entriesPerLook = 64;
const int64 = 2n ** 63n;

/** A number in a query; 0 when it is not there. Throws ApiError 400. */
export function integer(text: string | null): number {
  if (text === null) return 0;
  const refuse = (why: string) =>
    errors.badRequest(
      `strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`,
    );
  if (!/^[-+]?[0-9]+$/.test(text)) throw refuse("invalid syntax");
  const value = BigInt(text.replace("+", ""));
  if (value >= int64 || value < -int64) throw refuse("value out of range");
  return Number(value);
}

/** Throws ApiError 400, 410, 422, 504. */
export async function list(
  call: Call,
  query: ListQuery = listQueryOf(call.query),
): Promise<Listed> {
  const { endpoint, registry } = call;
  const kind = endpoint.stored;
  if (!kind) {
    if (endpoint.strategy.computed) return listComputed(call, query);
    throw errors.methodNotAllowed(endpoint.info, "list");
  }
  validateListQuery(query);
  // Many that begin at once share a slice of time.
  if (registry.slices.over) await registry.slices.next(call);
  const selection = selectionOf(
    endpoint,
    call.namespace,
    query.labelSelector,
    query.fieldSelector,
  );
  if (query.continue !== "" && !["", "0"].includes(query.resourceVersion))
    throw errors.badRequest(
      "specifying resource version is not allowed when using continue",
    );
  const version = parseVersion(query.resourceVersion);
  refuseUnreadable(call, kind, selection);
  const { limit } = query;
  if (query.continue !== "") {
    const token = decodeContinue(query.continue, selection.directory);
    await mostRecent(registry);
    const revision =
      token.revision < 0 ? registry.cache.revision : token.revision;
    if (revision > registry.cache.revision)
      throw tooLarge(revision, registry.cache.revision);
    if (revision < oldestReadable(registry, kind))
      throw expiredContinue(token.start.slice(selection.directory.length));
    const from = token.start > selection.from ? token.start : selection.from;
    const range = { ...selection, from };
    return pastPage(call, kind, range, limit, revision, () =>
      expiredContinue(token.start.slice(selection.directory.length)),
    );
  }
  const exact =
    version !== 0 &&
    (query.resourceVersionMatch === "Exact" ||
      (query.resourceVersionMatch === "" && limit > 0 && version));
  if (exact) {
    const revision = version!;
    if (revision > registry.cache.revision)
      await notOlderThan(registry, revision);
    if (revision < oldestReadable(registry, kind)) throw tooOld();
    return pastPage(call, kind, selection, limit, revision, tooOld);
  }
  const newest = registry.readsNewest(endpoint.info);
  const { counts } = kind.cache;
  if (version === undefined || newest) {
    const ready = mostRecent(registry);
    if (ready) await counts.consistent(ready);
    else counts.wasConsistent();
  }
  if (version !== undefined) await notOlderThan(registry, version);
  const { revision } = registry.cache;
  // "Any version" is given whole, whatever the limit: as the reference's watch cache does, and its store does not.
  const whole = limit <= 0 || (query.resourceVersion === "0" && !newest);
  const entries = kind.cache.slice(selection.from, selection.to);
  if (selection.all && whole) {
    counts.listed(entries.length, entries.length);
    return { entries, revision };
  }
  return page(call, entries, selection, whole ? 0 : limit, revision, () =>
    Promise.resolve(entries.length),
  );
}

function tooOld(): ApiError {
  return errors.expired(
    "The resourceVersion for the provided list is too old.",
  );
}

/** @param expired what is thrown when history loses the revision meanwhile */
async function pastPage(
  call: Call,
  { cache }: StoredKind,
  selection: Selection,
  limit: number,
  revision: number,
  expired: () => ApiError,
): Promise<Listed> {
  const { from, to } = selection;
  if (to !== "" && from >= to) return { entries: [], revision };
  const { slices } = call.registry;
  const view = await cache
    .pastView(revision, () => (slices.over ? slices.next(call) : undefined))
    .catch((error: unknown) => {
      throw error instanceof RangeError ? expired() : error;
    });
  const present = cache.slice(from, to);
  const before = view?.before(from, to) ?? [];
  if (selection.all && limit <= 0 && !view) {
    cache.counts.listed(present.length, present.length);
    return { entries: present, revision };
  }
  const range = pastEntries(present, before, revision);
  return page(call, range, selection, limit, revision, async () => {
    let total = before.length;
    for (const [index, entry] of present.entries()) {
      if (entry.revision <= revision) total++;
      if (index % entriesPerLook === 0 && slices.over) await slices.next(call);
    }
    return total;
  });
}

/** Exact reads go back to this revision. */
function oldestReadable({ cache }: Call["registry"], kind: StoredKind): number {
  return Math.max(cache.compacted, kind.cache.history.floor);
}

/** @param countAll how many there are in `range` */
async function page(
  call: Call,
  range: Iterable<CacheEntry>,
  selection: Selection,
  limit: number,
  revision: number,
  countAll: () => Promise<number>,
): Promise<Listed> {
  const { slices } = call.registry;
  const entries: CacheEntry[] = [];
  let more = false;
  let looked = 0;
  const candidates = selection.matchesShown
    ? await shownSelection(call, range, selection)
    : range;
  for (const entry of candidates) {
    if (++looked % entriesPerLook === 0 && slices.over) await slices.next(call);
    if (!selection.matches(entry)) continue;
    more = limit > 0 && entries.length === limit;
    if (more) break;
    entries.push(entry);
  }
  call.endpoint.stored?.cache.counts.listed(looked, entries.length);
  if (!more) return { entries, revision };
  const last = entries[entries.length - 1]!.key;
  const token = encodeContinue(
    revision,
    `${last.slice(selection.directory.length)}\0`,
  );
  if (!selection.all) return { entries, revision, continue: token };
  return {
    entries,
    revision,
    continue: token,
    remainingItemCount: (await countAll()) - entries.length,
  };
}

/** What is selected when all are in the served version; as it is stored. Rejects with ApiError 500. */
async function shownSelection(
  { endpoint, registry: { slices } }: Call,
  range: Iterable<CacheEntry>,
  { matches, matchesShown }: Selection,
): Promise<readonly CacheEntry[]> {
  const stored = [...range].filter(matches);
  const shown = await endpoint.allShown(stored, () =>
    slices.over ? slices.next() : undefined,
  );
  return stored.filter((_, index) => matchesShown!(shown[index]!));
}

/** With the same token on the newest state. */
function expiredContinue(start: string): ApiError {
  return new ApiError({
    code: 410,
    reason: "Expired",
    message:
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    metadata: { continue: encodeContinue(-1, start) },
  });
}

function validateListQuery(query: ListQuery): void {
  const { resourceVersion, resourceVersionMatch: match } = query;
  const problems: FieldError[] = [];
  const forbid = (detail: string) =>
    problems.push(fieldErrors.forbidden("resourceVersionMatch", detail));
  if (match !== "") {
    if (resourceVersion === "")
      forbid(
        "resourceVersionMatch is forbidden unless resourceVersion is provided",
      );
    if (query.continue !== "")
      forbid("resourceVersionMatch is forbidden when continue is provided");
    if (match === "Exact" && resourceVersion === "0")
      forbid(
        'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      );
    if (match !== "Exact" && match !== "NotOlderThan")
      problems.push(
        fieldErrors.notSupported("resourceVersionMatch", match, [
          "Exact",
          "NotOlderThan",
          "",
        ]),
      );
  }
  if (query.sendInitialEvents)
    problems.push(
      fieldErrors.forbidden(
        "sendInitialEvents",
        "sendInitialEvents is forbidden for list",
      ),
    );
  if (problems.length > 0)
    throw errors.invalid(
      { group: "meta.k8s.io", kind: "ListOptions" },
      "",
      problems,
    );
}
