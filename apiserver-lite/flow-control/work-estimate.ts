// How many seats a request takes, by the reference's figures: a list one for each hundred objects it goes through, a
// watch with initial events as its list, a change one while it is made and then one for each ten watches that see it, for
// 5 ms, everything else one. No request takes more than ten, or than its level can spare for one.
import type { RequestInfo } from "../request/request-info.ts";
import type { WatchCounts } from "./watch-counts.ts";

const maxSeats = 10;
const objectsPerSeat = 100;
const watchesPerSeat = 10;
const lingerMs = 5;

export interface WorkEstimate {
  /** While it is executed. */
  readonly initialSeats: number;
  /** After that, for `lingerMs`: its client does not wait for it. */
  readonly finalSeats: number;
  readonly lingerMs: number;
}

/** What most requests take. */
export const oneSeat: WorkEstimate = {
  initialSeats: 1,
  finalSeats: 0,
  lingerMs: 0,
};

interface WorkSources {
  /** Stored objects; undefined: the resource is not stored here. */
  readonly objects: (info: RequestInfo) => number | undefined;
  readonly watches: WatchCounts;
  /** What a request of the level may take; 0: nothing is said. */
  readonly levelSeats: number;
  /** Notified of how many watches a change concerns. */
  readonly sawWatches: (count: number) => void;
}

export function estimateWork(
  info: RequestInfo,
  query: URLSearchParams,
  sources: WorkSources,
): WorkEstimate {
  if (!info.resourceRequest) return oneSeat;
  switch (info.verb) {
    case "list":
      return ofList(info, query, sources, false);
    case "watch":
      return query.get("sendInitialEvents") === "true"
        ? ofList(info, query, sources, true)
        : oneSeat;
    case "create":
    case "update":
    case "patch":
    case "delete":
      return ofChange(info, sources);
    default:
      return oneSeat;
  }
}

const mostOf = (levelSeats: number): number =>
  levelSeats === 0 ? maxSeats : Math.min(levelSeats, maxSeats);

function ofList(
  info: RequestInfo,
  query: URLSearchParams,
  { objects, levelSeats }: WorkSources,
  watch: boolean,
): WorkEstimate {
  if (info.objectName !== "") return oneSeat;
  const stored = objects(info);
  if (stored === undefined) return oneSeat;
  const asked = Number(query.get("limit") ?? 0);
  const limit = asked > 0 && asked < stored ? asked : stored;
  const selects = query.get("fieldSelector") || query.get("labelSelector");
  const touched =
    watch || !isPastOrPage(query, asked)
      ? stored
      : selects
        ? stored + limit
        : 2 * limit;
  const wanted = Math.ceil(touched / objectsPerSeat);
  const initialSeats = Math.max(1, Math.min(wanted, mostOf(levelSeats)));
  return initialSeats === 1
    ? oneSeat
    : { initialSeats, finalSeats: 0, lingerMs: 0 };
}

/** What the reference does not read from its cache: later pages and exact revisions. */
function isPastOrPage(query: URLSearchParams, limit: number): boolean {
  if (query.get("continue")) return true;
  const match = query.get("resourceVersionMatch") ?? "";
  if (match !== "") return match !== "NotOlderThan";
  const revision = query.get("resourceVersion") ?? "";
  return limit > 0 && revision !== "" && revision !== "0";
}

function ofChange(
  info: RequestInfo,
  { watches, levelSeats, sawWatches }: WorkSources,
): WorkEstimate {
  // A token is not stored.
  if (info.resource === "serviceaccounts" && info.subresource === "token")
    return oneSeat;
  const count = watches.concernedBy(info);
  sawWatches(count);
  if (count < watchesPerSeat) return oneSeat;
  const wanted = Math.ceil(count / watchesPerSeat);
  const finalSeats = Math.min(wanted, mostOf(levelSeats));
  return {
    initialSeats: 1,
    finalSeats,
    lingerMs: (wanted * lingerMs) / finalSeats,
  };
}
