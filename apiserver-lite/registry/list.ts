// list: every cell of the resourceVersion × resourceVersionMatch × limit/continue table, paging with a constant
// collection version, and past versions from the undo log.
import { ApiError, errors, type FieldError } from "../../api/errors.ts";
import { fieldErrors } from "../../api/field-errors.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import type { Call } from "./call.ts";
import { listComputed } from "./computed.ts";
import { decodeContinue, encodeContinue } from "./continue-token.ts";
import { selectionOf, type Selection } from "./selection.ts";
import { refuseUnreadable } from "./unreadable.ts";
import {
  mostRecent,
  notOlderThan,
  parseVersion,
  tooLarge,
} from "./versions.ts";

export interface Listed {
  readonly entries: readonly CacheEntry[];
  /** 0: computed, there is none. */
  readonly revision: number;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface ListQuery {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly limit: number;
  readonly continue: string;
}

export function listQueryOf(query: URLSearchParams): ListQuery {
  return {
    labelSelector: query.get("labelSelector") ?? "",
    fieldSelector: query.get("fieldSelector") ?? "",
    resourceVersion: query.get("resourceVersion") ?? "",
    resourceVersionMatch: query.get("resourceVersionMatch") ?? "",
    limit: integer(query.get("limit"), "limit"),
    continue: query.get("continue") ?? "",
  };
}

export function integer(text: string | null, name: string): number {
  if (!text) return 0;
  if (!/^-?[0-9]{1,19}$/.test(text))
    throw errors.badRequest(
      `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  void name;
  return Number(text);
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
  const selection = selectionOf(
    endpoint,
    call.namespace,
    query.labelSelector,
    query.fieldSelector,
  );
  const version = parseVersion(query.resourceVersion);
  refuseUnreadable(call, kind, selection);
  const { limit } = query;
  if (query.continue !== "") {
    if (version !== undefined && version !== 0)
      throw errors.badRequest(
        "specifying resource version is not allowed when using continue",
      );
    const token = decodeContinue(query.continue, selection.from, selection.to);
    await mostRecent(registry);
    const revision =
      token.revision < 0 ? registry.cache.revision : token.revision;
    if (revision > registry.cache.revision)
      throw tooLarge(revision, registry.cache.revision);
    if (revision < kind.cache.history.floor) throw expiredContinue(token.start);
    return page(
      kind.cache.rangeAt(revision, token.start, selection.to),
      selection,
      limit,
      revision,
    );
  }
  const exact =
    query.resourceVersionMatch === "Exact" ||
    (query.resourceVersionMatch === "" && limit > 0 && (version ?? 0) > 0);
  if (exact) {
    const revision = version!;
    if (revision > registry.cache.revision)
      await notOlderThan(registry, revision);
    if (revision < kind.cache.history.floor)
      throw errors.expired(
        "The resourceVersion for the provided list is too old.",
      );
    return page(
      kind.cache.rangeAt(revision, selection.from, selection.to),
      selection,
      limit,
      revision,
    );
  }
  if (version === undefined) await mostRecent(registry);
  else await notOlderThan(registry, version);
  const { revision } = registry.cache;
  if (selection.all && limit <= 0)
    return { entries: kind.cache.entries(selection.namespace), revision };
  return page(
    kind.cache.range(selection.from, selection.to),
    selection,
    limit,
    revision,
    () => kind.cache.entries(selection.namespace).length,
  );
}

function page(
  range: Iterable<CacheEntry>,
  selection: Selection,
  limit: number,
  revision: number,
  countAll?: () => number,
): Listed {
  const entries: CacheEntry[] = [];
  if (limit <= 0) {
    for (const entry of range)
      if (selection.matches(entry)) entries.push(entry);
    return { entries, revision };
  }
  let next: string | undefined;
  let seen = 0;
  for (const entry of range) {
    if (!selection.matches(entry)) continue;
    if (entries.length === limit) {
      next = entry.key;
      break;
    }
    entries.push(entry);
    seen++;
  }
  if (next === undefined) return { entries, revision };
  const token = encodeContinue({ revision, start: next });
  if (!selection.all) return { entries, revision, continue: token };
  const total = countAll
    ? countAll()
    : Array.isArray(range)
      ? range.length
      : seen;
  return {
    entries,
    revision,
    continue: token,
    remainingItemCount: total - entries.length,
  };
}

function expiredContinue(start: string): ApiError {
  return new ApiError({
    code: 410,
    reason: "Expired",
    message:
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    metadata: { continue: encodeContinue({ revision: -1, start }) },
  });
}

function validateListQuery(query: ListQuery): void {
  const { resourceVersion, resourceVersionMatch: match } = query;
  const problems: FieldError[] = [];
  const forbid = (detail: string) =>
    problems.push(fieldErrors.forbidden("resourceVersionMatch", detail));
  if (match !== "") {
    if (query.continue !== "")
      forbid("resourceVersionMatch is forbidden when continue is provided");
    if (resourceVersion === "")
      forbid(
        "resourceVersionMatch is forbidden unless resourceVersion is provided",
      );
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
  if (problems.length > 0)
    throw errors.invalid(
      { group: "meta.k8s.io", kind: "ListOptions" },
      "",
      problems,
    );
}
