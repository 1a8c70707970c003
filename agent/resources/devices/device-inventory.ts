// Which devices each plug-in has, and what the node reports of them. Invariants: only the newest plug-in of a resource
// counts; one that ended keeps its devices in the capacity, all unhealthy, for five minutes, then the resource is
// reported as 0 for as long as the agent runs. A resource known from the checkpoint counts as one whose plug-in ended
// when the agent started.
import type { Clock } from "../../../api/clock.ts";
import type { DevicePluginClient } from "./device-plugin-client.ts";
import type { PluginDevice } from "./device-plugin-protocol.ts";

/** As at the reference. */
const endpointStopGraceMs = 300_000;
/** Further resources are refused: names come from plug-ins. */
const maxResources = 256;

export interface KnownDevice {
  readonly id: string;
  readonly healthy: boolean;
  /** Ids of the NUMA nodes it is attached to; empty: it does not say. */
  readonly numaNodes: readonly number[];
}

interface DeviceResource {
  client: DevicePluginClient | undefined;
  /** Of the newest plug-in, also when it ended. */
  preStartRequired: boolean;
  /** Monotonic; undefined: its plug-in runs. */
  stoppedAtMs: number | undefined;
  devices: ReadonlyMap<string, KnownDevice>;
  reported: boolean;
}

export interface DeviceCapacity {
  /** Resource → number of devices. */
  readonly capacity: Readonly<Record<string, number>>;
  readonly allocatable: Readonly<Record<string, number>>;
}

export class DeviceInventory {
  readonly #clock: Clock;
  readonly #resources = new Map<string, DeviceResource>();
  readonly #removed = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** It was known before the agent restarted. */
  restore(resource: string): void {
    this.#resources.set(resource, {
      client: undefined,
      preStartRequired: false,
      stoppedAtMs: this.#clock.monotonic(),
      devices: new Map(),
      reported: false,
    });
  }

  /** @throws Error when too many resources are known. Its predecessor, if there is one, is closed. */
  connected(client: DevicePluginClient): void {
    const { resource } = client;
    const before = this.#resources.get(resource);
    if (!before && this.#resources.size >= maxResources)
      throw new Error(
        `more than ${maxResources} resources of device plugins: ${resource} is refused`,
      );
    before?.client?.close();
    this.#removed.delete(resource);
    this.#resources.set(resource, {
      client,
      preStartRequired: client.options.pre_start_required,
      stoppedAtMs: undefined,
      devices: before?.devices ?? new Map(),
      reported: before?.reported ?? false,
    });
  }

  /** False: it is not the resource's plug-in any more. */
  listed(
    client: DevicePluginClient,
    devices: readonly PluginDevice[],
  ): boolean {
    const known = this.#resources.get(client.resource);
    if (known?.client !== client) return false;
    known.reported = true;
    known.devices = new Map(
      devices.map(({ ID, health, topology }) => [
        ID,
        {
          id: ID,
          healthy: health === "Healthy",
          numaNodes: (topology?.nodes ?? []).map((node) => node.ID),
        },
      ]),
    );
    return true;
  }

  /** False: another plug-in took its place already. */
  disconnected(client: DevicePluginClient): boolean {
    const known = this.#resources.get(client.resource);
    client.close();
    if (known?.client !== client) return false;
    known.client = undefined;
    known.stoppedAtMs = this.#clock.monotonic();
    known.devices = new Map(
      [...known.devices].map(([id, device]) => [
        id,
        { ...device, healthy: false },
      ]),
    );
    return true;
  }

  closeAll(): void {
    for (const { client } of this.#resources.values()) client?.close();
  }

  has(resource: string): boolean {
    return this.#resources.has(resource);
  }

  resources(): readonly string[] {
    return [...this.#resources.keys()];
  }

  devices(resource: string): ReadonlyMap<string, KnownDevice> {
    return this.#resources.get(resource)?.devices ?? new Map();
  }

  /** Undefined: no plug-in of the resource runs. */
  client(resource: string): DevicePluginClient | undefined {
    return this.#resources.get(resource)?.client;
  }

  preStartRequired(resource: string): boolean {
    return this.#resources.get(resource)?.preStartRequired ?? false;
  }

  /** A plug-in listed the resource's devices in this life of the agent. */
  reported(resource: string): boolean {
    return this.#resources.get(resource)?.reported ?? false;
  }

  /** What the node reports now. Resources whose plug-in ended long ago are forgotten and reported as 0. */
  capacity(): DeviceCapacity {
    const capacity: Record<string, number> = {};
    const allocatable: Record<string, number> = {};
    const now = this.#clock.monotonic();
    for (const [name, { stoppedAtMs, devices }] of this.#resources) {
      if (
        stoppedAtMs !== undefined &&
        now - stoppedAtMs > endpointStopGraceMs
      ) {
        this.#resources.delete(name);
        this.#removed.add(name);
        continue;
      }
      capacity[name] = devices.size;
      allocatable[name] = [...devices.values()].filter(
        ({ healthy }) => healthy,
      ).length;
    }
    for (const name of this.#removed) capacity[name] = allocatable[name] = 0;
    return { capacity, allocatable };
  }
}

export function noHealthyDevices(resource: string): Error {
  return new Error(
    `no healthy devices present; cannot allocate unhealthy devices ${resource}`,
  );
}
