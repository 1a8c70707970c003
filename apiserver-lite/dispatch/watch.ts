// watch: the query of a request, where a watch of one object is a watch with a field selector, and the registry's stream
// into the transport's sink.
import { errors } from "../../api/errors.ts";
import { parseFieldSelector } from "../../api/selectors.ts";
import type { Call } from "../registry/call.ts";
import {
  watch,
  watchQueryOf,
  type OpenWatch,
  type WatchQuery,
  type WatchSink,
} from "../registry/watch.ts";

/** Throws ApiError 400, 410, 422, 504 before the first call of the sink. */
export function openWatch(call: Call, sink: WatchSink): Promise<OpenWatch> {
  return watch(call, queryOf(call), sink);
}

function queryOf(call: Call): WatchQuery {
  const query = watchQueryOf(call.query);
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
