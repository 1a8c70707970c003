// Which of a resource's devices a container gets: first those of the pod's init containers, then those near the NUMA
// nodes that were chosen, and the plug-in's preference among equals. Errors have the reference's texts.
import { nodeIds, type NodeMask } from "../topology/numa-nodes.ts";
import type { KnownDevice } from "./device-inventory.ts";
import type { DevicePluginClient } from "./device-plugin-client.ts";

interface DeviceChoice {
  readonly resource: string;
  readonly needed: number;
  readonly devices: ReadonlyMap<string, KnownDevice>;
  /** Held by any container. */
  readonly held: ReadonlySet<string>;
  /** Held by init containers of this pod that end before this container starts. */
  readonly reusable: ReadonlySet<string>;
  /** Where the topology manager wants them; undefined: anywhere. */
  readonly nodes: NodeMask | undefined;
  readonly client: Pick<DevicePluginClient, "options" | "preferred">;
}

/** Resolves to as many ids as needed; rejects when there are too few. */
export async function chooseDevices(choice: DeviceChoice): Promise<string[]> {
  const { resource, needed, devices, held, reusable } = choice;
  const chosen = new Set<string>();
  const full = (): boolean => chosen.size >= needed;
  const takeFrom = (ids: Iterable<string>): void => {
    for (const id of ids) {
      if (full()) return;
      chosen.add(id);
    }
  };
  takeFrom([...reusable].filter((id) => devices.get(id)?.healthy));
  if (full()) return [...chosen];
  const available = [...devices.values()].filter(
    ({ id, healthy }) => healthy && !held.has(id),
  );
  const missing = needed - chosen.size;
  if (available.length < missing)
    throw new Error(
      `requested number of devices unavailable for ${resource}. Requested: ${missing}, Available: ${available.length}`,
    );
  const { aligned, unaligned, elsewhere } = byAffinity(choice, available);
  const rest = new Set(
    missing < aligned.length ? aligned : available.map(({ id }) => id),
  );
  if (missing >= aligned.length) takeFrom(aligned);
  if (full()) return [...chosen];
  const preferred = await preferredOf(choice, rest, chosen);
  takeFrom(preferred.filter((id) => rest.has(id)));
  takeFrom(missing < aligned.length ? aligned : [...unaligned, ...elsewhere]);
  return [...chosen];
}

async function preferredOf(
  { needed, client }: DeviceChoice,
  available: ReadonlySet<string>,
  chosen: ReadonlySet<string>,
): Promise<readonly string[]> {
  if (!client.options.get_preferred_allocation_available) return [];
  return await client.preferred(
    [...new Set([...available, ...chosen])],
    [...chosen],
    needed,
  );
}

/** Near the wanted nodes, on others, and without a place; within each those on the least occupied nodes first. */
function byAffinity(
  { nodes, devices }: DeviceChoice,
  available: readonly KnownDevice[],
): { aligned: string[]; unaligned: string[]; elsewhere: string[] } {
  const knowsPlaces = [...devices.values()].some(
    ({ numaNodes }) => numaNodes.length > 0,
  );
  if (nodes === undefined || !knowsPlaces)
    return {
      aligned: [],
      unaligned: [],
      elsewhere: available.map(({ id }) => id),
    };
  const wanted = new Set(nodeIds(nodes));
  const onNode = new Map<number, number>();
  for (const { numaNodes } of available)
    for (const node of numaNodes) onNode.set(node, (onNode.get(node) ?? 0) + 1);
  const fewest = ({ numaNodes }: KnownDevice): number =>
    Math.min(
      ...numaNodes
        .filter(
          (node) =>
            wanted.has(node) || !numaNodes.some((other) => wanted.has(other)),
        )
        .map((node) => onNode.get(node) ?? 0),
    );
  const group = (matches: (device: KnownDevice) => boolean): string[] =>
    available
      .filter(matches)
      .sort((a, b) => fewest(a) - fewest(b))
      .map(({ id }) => id);
  const isNear = ({ numaNodes }: KnownDevice): boolean =>
    numaNodes.some((node) => wanted.has(node));
  return {
    aligned: group(isNear),
    unaligned: group(
      (device) => device.numaNodes.length > 0 && !isNear(device),
    ),
    elsewhere: group(({ numaNodes }) => numaNodes.length === 0),
  };
}
