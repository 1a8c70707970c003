// Which container holds which devices, and what its plug-in answered for them. Kept by pod uid, container and resource;
// written to the checkpoint, so that what runs keeps its devices when the agent restarts.
import type { Pod } from "../../../api/types/core-v1.ts";
import type { KnownDevice } from "./device-inventory.ts";
import type { ContainerAllocation } from "./device-plugin-protocol.ts";

export interface Holding {
  readonly podUid: string;
  readonly container: string;
  readonly resource: string;
  readonly devices: readonly Pick<KnownDevice, "id" | "numaNodes">[];
  readonly allocation: ContainerAllocation;
}

type ByResource = Map<string, Holding>;

export class DeviceHoldings {
  readonly #pods = new Map<string, Map<string, ByResource>>();

  add(holding: Holding): void {
    const { podUid, container, resource } = holding;
    const containers = this.#pods.get(podUid) ?? new Map<string, ByResource>();
    const resources = containers.get(container) ?? new Map<string, Holding>();
    resources.set(resource, holding);
    containers.set(container, resources);
    this.#pods.set(podUid, containers);
  }

  /** False: the pod held nothing. */
  release(podUid: string): boolean {
    return this.#pods.delete(podUid);
  }

  pods(): readonly string[] {
    return [...this.#pods.keys()];
  }

  get(
    podUid: string,
    container: string,
    resource: string,
  ): Holding | undefined {
    return this.#pods.get(podUid)?.get(container)?.get(resource);
  }

  ofContainer(podUid: string, container: string): readonly Holding[] {
    return [...(this.#pods.get(podUid)?.get(container)?.values() ?? [])];
  }

  /** Each device once: an init container's may have passed to another container. */
  ofPod(podUid: string, resource: string): Holding["devices"] {
    const devices = [...(this.#pods.get(podUid)?.values() ?? [])].flatMap(
      (resources) => resources.get(resource)?.devices ?? [],
    );
    return [...new Map(devices.map((each) => [each.id, each])).values()];
  }

  all(): readonly Holding[] {
    return [...this.#pods.values()].flatMap((containers) =>
      [...containers.values()].flatMap((resources) => [...resources.values()]),
    );
  }

  /** Ids of a resource that some container holds. */
  held(resource: string): Set<string> {
    const ids = new Set<string>();
    for (const holding of this.all())
      if (holding.resource === resource)
        for (const { id } of holding.devices) ids.add(id);
    return ids;
  }

  /** Devices of the pod's init containers that will have ended when this container starts. */
  reusable(
    { metadata, spec }: Pod,
    container: string,
    resource: string,
  ): Set<string> {
    const uid = metadata.uid ?? "";
    const ended = new Set(
      (spec.initContainers ?? [])
        .filter(
          ({ name, restartPolicy }) =>
            restartPolicy !== "Always" && name !== container,
        )
        .map(({ name }) => name),
    );
    const reusable = new Set<string>();
    const own = this.all().filter(
      (each) => each.podUid === uid && each.resource === resource,
    );
    for (const { container: holder, devices } of own)
      if (ended.has(holder)) for (const { id } of devices) reusable.add(id);
    for (const { container: holder, devices } of own)
      if (!ended.has(holder)) for (const { id } of devices) reusable.delete(id);
    return reusable;
  }

  /** Resource → number of its devices that containers hold. */
  counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { resource } of this.all())
      if (!counts.has(resource)) counts.set(resource, this.held(resource).size);
    return counts;
  }
}
