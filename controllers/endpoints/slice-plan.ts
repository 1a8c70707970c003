// Packs endpoints into EndpointSlices with as few writes as possible: an endpoint stays in the slice it is in, changed
// slices take up new ones first, then those with room, then a new slice is made. Slices are kept apart by address type
// and ports.
import { sameJson } from "../../api/objects/json-equality.ts";
import type {
  Endpoint,
  EndpointPort,
  EndpointSlice,
} from "../../api/types/discovery-v1.ts";

export interface WantedGroup {
  addressType: string;
  ports: EndpointPort[];
  endpoints: Endpoint[];
}

export interface SlicePlan {
  /** Without names: to be created. */
  create: Pick<EndpointSlice, "addressType" | "ports" | "endpoints">[];
  update: EndpointSlice[];
  delete: EndpointSlice[];
  /** Endpoints that are in no slice yet, and those of slices that are wanted no more. */
  added: number;
  removed: number;
  /** Those that stay and changed. */
  updated: number;
}

/** The same endpoint in different slices, and before and after a change. */
export const endpointIdentity = (endpoint: Endpoint): string =>
  `${endpoint.targetRef?.uid ?? ""}/${endpoint.addresses.join(",")}`;

/**
 * @param meta gives the slice its metadata; the slice itself when that is right already
 * @param mayReuse whether a slice that is wanted no more may take what a new one would
 */
export function planSlices(
  wanted: readonly WantedGroup[],
  existing: readonly EndpointSlice[],
  maxPerSlice: number,
  meta: (slice: EndpointSlice) => EndpointSlice,
  mayReuse: (slice: EndpointSlice) => boolean = () => true,
): SlicePlan {
  const plan: SlicePlan = {
    ...{ create: [], update: [], delete: [] },
    ...{ added: 0, removed: 0, updated: 0 },
  };
  const left = new Set(existing);
  for (const group of wanted) {
    const slices = existing.filter(
      (slice) =>
        left.has(slice) &&
        slice.addressType === group.addressType &&
        sameJson(slice.ports ?? [], group.ports),
    );
    for (const slice of slices) left.delete(slice);
    planGroup(group, slices, maxPerSlice, meta, plan);
  }
  for (const { endpoints } of left) plan.removed += endpoints?.length ?? 0;
  plan.delete.push(...left);
  return reusing(plan, meta, mayReuse);
}

/** One write in place of two, and no moment without the endpoints: a slice's address type is all that can't change. */
function reusing(
  plan: SlicePlan,
  meta: (slice: EndpointSlice) => EndpointSlice,
  mayReuse: (slice: EndpointSlice) => boolean,
): SlicePlan {
  const create = [...plan.create];
  const update = [...plan.update];
  const remove = plan.delete.filter((slice) => {
    const part = create.at(-1);
    if (part?.addressType !== slice.addressType || !mayReuse(slice))
      return true;
    create.pop();
    update.push({ ...meta(slice), ...part });
    return false;
  });
  return { ...plan, create, update, delete: remove };
}

function planGroup(
  group: WantedGroup,
  slices: readonly EndpointSlice[],
  maxPerSlice: number,
  meta: (slice: EndpointSlice) => EndpointSlice,
  plan: SlicePlan,
): void {
  const missing = new Map(
    group.endpoints.map((one) => [endpointIdentity(one), one]),
  );
  const contents = slices.map((slice) => {
    const kept: Endpoint[] = [];
    let changed = false;
    for (const old of slice.endpoints ?? []) {
      const now = missing.get(endpointIdentity(old));
      if (!now) {
        changed = true;
        plan.removed++;
        continue;
      }
      missing.delete(endpointIdentity(old));
      const same = sameJson(old, now);
      if (!same) {
        changed = true;
        plan.updated++;
      }
      kept.push(same ? old : now);
    }
    return { slice, kept, changed };
  });
  const rest = [...missing.values()];
  plan.added += rest.length;
  // Slices that are written anyway first, then the fullest that has room.
  const order = [...contents].sort(
    (a, b) =>
      Number(b.changed) - Number(a.changed) || b.kept.length - a.kept.length,
  );
  for (const content of order) {
    if (rest.length === 0) break;
    const taken = rest.splice(
      0,
      Math.max(0, maxPerSlice - content.kept.length),
    );
    if (taken.length === 0) continue;
    content.kept.push(...taken);
    content.changed = true;
  }
  let kept = 0;
  for (const { slice, kept: endpoints, changed } of contents) {
    // One slice stays for a group of its own even when it is empty.
    const only =
      kept === 0 && slice === contents.at(-1)?.slice && rest.length === 0;
    if (endpoints.length === 0 && !only) {
      plan.delete.push(slice);
      continue;
    }
    kept++;
    const next = meta(slice);
    if (changed) plan.update.push({ ...next, endpoints });
    else if (next !== slice) plan.update.push(next);
  }
  while (rest.length > 0 || kept === 0) {
    kept++;
    plan.create.push({
      addressType: group.addressType,
      ports: group.ports,
      endpoints: rest.splice(0, maxPerSlice),
    });
  }
}
