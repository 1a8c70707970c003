// Devices of plug-ins, from their registration to the containers that use them. Invariants: a device is held by one
// container at a time (but one of an init container goes over to the next); containers are given devices one after
// another, so that a plug-in that is slow makes no two of them choose the same; what a container holds is in the
// checkpoint before it starts.
import { join } from "node:path";
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import type { Family } from "../../../api/metrics/family.ts";
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import {
  noAffinity,
  type HintProvider,
  type TopologyHint,
  type TopologyHints,
} from "../topology/hint-provider.ts";
import { CheckedState } from "../checked-state.ts";
import { chooseDevices } from "./device-choice.ts";
import { deviceHints } from "./device-hints.ts";
import { DeviceHoldings, type Holding } from "./device-holdings.ts";
import { DeviceMetrics } from "./device-metrics.ts";
import {
  DeviceInventory,
  noHealthyDevices,
  type DeviceCapacity,
  type KnownDevice,
} from "./device-inventory.ts";
import { DevicePluginClient } from "./device-plugin-client.ts";
import { AtMostEvery } from "../../pacing/at-most-every.ts";
import { containerRequests, podRequests } from "./device-requests.ts";
import { checkpointName, DeviceRegistration } from "./device-registration.ts";
import {
  containerDevices,
  noDevices,
  type ContainerDevices,
} from "./container-devices.ts";

/** A node is not written as often as a plug-in likes. */
const reportEveryMs = 1000;

interface DeviceManagerOptions {
  /** ROOT */
  readonly rootDirectory: string;
  /** Ids of the machine's NUMA nodes; asked for once, when a pod is to be aligned. */
  readonly numaNodes: () => readonly number[];
  /** The runtime has a sandbox of the pod. */
  readonly isInRuntime: (uid: string) => boolean;
  /** Numbers of devices changed: the node is to be reported. */
  readonly onChange: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface DeviceState {
  readonly holdings: readonly Holding[];
  readonly resources: readonly string[];
}

export class DeviceManager implements HintProvider {
  readonly #options: DeviceManagerOptions;
  readonly #inventory: DeviceInventory;
  readonly #holdings = new DeviceHoldings();
  readonly #checkpoint: CheckedState<DeviceState>;
  readonly #sockets = new Map<string, DevicePluginClient>();
  readonly #metrics = new DeviceMetrics();
  readonly #changes: AtMostEvery;
  #turn: Promise<unknown> = Promise.resolve();
  #numaNodes: readonly number[] | undefined;
  #listening: Promise<void> | undefined;
  #stopped = false;
  #isGone: (uid: string) => boolean = () => false;
  /** What plug-ins register at; also the handler of those that register by a socket in the registry. */
  readonly registration: DeviceRegistration;

  constructor(options: DeviceManagerOptions) {
    this.#options = options;
    this.#changes = new AtMostEvery(options.clock, reportEveryMs, () => {
      this.#saveLater();
      options.onChange();
    });
    const directory = join(options.rootDirectory, "device-plugins");
    this.#inventory = new DeviceInventory(options.clock);
    this.#checkpoint = new CheckedState(
      join(directory, checkpointName),
      options.logger,
    );
    this.registration = new DeviceRegistration({
      directory,
      connect: (resource, socketPath) => this.#connect(resource, socketPath),
      disconnect: (resource, socketPath) => {
        const client = this.#sockets.get(`${resource}\n${socketPath}`);
        if (client) this.#ended(client, "its socket is gone");
      },
    });
  }

  /** Before any pod is admitted. Resolves when it is known who holds what; plug-ins can register soon after. */
  async start(): Promise<void> {
    const known = await this.#checkpoint.read();
    for (const holding of known?.holdings ?? []) this.#holdings.add(holding);
    for (const resource of known?.resources ?? [])
      this.#inventory.restore(resource);
    const { logger } = this.#options;
    this.#listening = this.registration
      .start()
      .catch((err: unknown) =>
        logger.error({ err }, "device plug-ins can't register"),
      );
  }

  /** Which pods' devices may be given to others although nothing released them: no source has them any more. */
  collect(isGone: (uid: string) => boolean): void {
    this.#isGone = isGone;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#changes.stop();
    await this.#listening;
    await this.registration.stop();
    this.#inventory.closeAll();
  }

  capacity(): DeviceCapacity {
    return this.#inventory.capacity();
  }

  /** Resource → how many of its devices containers hold: allocatable is at least that for the pods that run. */
  heldCounts(): ReadonlyMap<string, number> {
    return this.#holdings.counts();
  }

  /** What the container holds, for those who ask what runs on which device. */
  holdings(uid: string, container: string): readonly Holding[] {
    return this.#holdings.ofContainer(uid, container);
  }

  /** All healthy devices by resource. */
  healthyDevices(): ReadonlyMap<string, readonly KnownDevice[]> {
    return new Map(
      this.#inventory
        .resources()
        .map((name) => [
          name,
          [...this.#inventory.devices(name).values()].filter(
            ({ healthy }) => healthy,
          ),
        ]),
    );
  }

  containerHints(pod: Pod, container: Container): TopologyHints {
    const uid = pod.metadata.uid ?? "";
    const { name } = container;
    return this.#hints(this.#wanted(container), (resource) => ({
      held: this.#holdings.get(uid, name, resource)?.devices ?? [],
      reusable: this.#holdings.reusable(pod, name, resource),
    }));
  }

  podHints(pod: Pod): TopologyHints {
    const uid = pod.metadata.uid ?? "";
    const wanted = podRequests(pod.spec, (name) =>
      this.#isDeviceResource(name),
    );
    return this.#hints(wanted, (resource) => ({
      held: this.#holdings.ofPod(uid, resource),
      reusable: new Set(),
    }));
  }

  /** Rejects with the reference's text when the container can't have its devices. */
  async allocate(
    pod: Pod,
    container: Container,
    affinity: TopologyHint,
  ): Promise<void> {
    const wanted = this.#wanted(container);
    if (wanted.size === 0) return;
    const turn = this.#turn
      .catch(() => undefined)
      .then(async () => {
        let changed = this.#collectGone();
        for (const [resource, count] of wanted)
          if (
            await this.#allocateOne(pod, container, resource, count, affinity)
          )
            changed = true;
        if (changed) await this.#save();
      });
    this.#turn = turn;
    await turn;
  }

  release(uid: string): void {
    if (this.#holdings.release(uid)) this.#saveLater();
  }

  holders(): readonly string[] {
    return this.#holdings.pods();
  }

  /** What the container gets from its plug-ins, who are asked to prepare the devices if they want to. */
  async devicesOf(pod: Pod, container: Container): Promise<ContainerDevices> {
    const wanted = this.#wanted(container);
    if (wanted.size === 0) return noDevices;
    const uid = pod.metadata.uid ?? "";
    const { name } = container;
    if ([...wanted.keys()].some((each) => !this.#holdings.get(uid, name, each)))
      await this.allocate(pod, container, noAffinity);
    for (const resource of wanted.keys()) {
      const holding = this.#holdings.get(uid, name, resource);
      if (!holding) continue;
      // Whether devices from before the agent's restart still work only their plug-in knows.
      if (!this.#inventory.reported(resource)) throw noHealthyDevices(resource);
      if (!this.#inventory.preStartRequired(resource)) continue;
      const client = this.#inventory.client(resource);
      if (!client) throw new Error(`endpoint ${resource} has been stopped`);
      await client.preStartContainer(holding.devices.map(({ id }) => id));
    }
    return containerDevices(this.#holdings.ofContainer(uid, name));
  }

  metrics(): Family[] {
    return this.#metrics.families();
  }

  async #connect(resource: string, socketPath: string): Promise<void> {
    const { logger } = this.#options;
    const client = await DevicePluginClient.open(resource, socketPath);
    if (this.#stopped) {
      client.close();
      throw new Error("the agent is stopped");
    }
    try {
      this.#inventory.connected(client);
    } catch (error) {
      client.close();
      throw error;
    }
    this.#metrics.registered(resource);
    const key = `${resource}\n${socketPath}`;
    this.#sockets.set(key, client);
    logger.info({ resource, socketPath }, "device plug-in registered");
    client.listAndWatch(
      (devices) => {
        if (!this.#inventory.listed(client, devices)) return;
        this.#changes.ask();
      },
      (reason) => {
        if (this.#sockets.get(key) === client) this.#sockets.delete(key);
        this.#ended(client, reason);
      },
    );
  }

  #ended(client: DevicePluginClient, reason: string): void {
    if (!this.#inventory.disconnected(client) || this.#stopped) return;
    const { resource } = client;
    this.#options.logger.warn(
      { resource, reason },
      "device plug-in ended: its devices count as unhealthy",
    );
    this.#changes.ask();
  }

  #wanted({ resources }: Container): Map<string, number> {
    return containerRequests(resources, (name) => this.#isDeviceResource(name));
  }

  #isDeviceResource(name: string): boolean {
    return this.#inventory.has(name) || this.#holdings.counts().has(name);
  }

  #hints(
    wanted: ReadonlyMap<string, number>,
    state: (resource: string) => {
      held: readonly Pick<KnownDevice, "id" | "numaNodes">[];
      reusable: ReadonlySet<string>;
    },
  ): TopologyHints {
    const numaNodes = (this.#numaNodes ??= this.#options.numaNodes());
    const hints = new Map<string, readonly TopologyHint[] | undefined>();
    for (const [resource, count] of wanted) {
      const all = [...this.#inventory.devices(resource).values()];
      if (all.every((device) => device.numaNodes.length === 0)) {
        hints.set(resource, undefined);
        continue;
      }
      const { held, reusable } = state(resource);
      const taken = this.#holdings.held(resource);
      const reused = all.filter(({ id }) => reusable.has(id));
      const available =
        held.length > 0
          ? held
          : all.filter(({ id, healthy }) => healthy && !taken.has(id));
      const enough =
        held.length > 0
          ? held.length === count
          : available.length + reused.length >= count;
      hints.set(
        resource,
        enough
          ? deviceHints({
              numaNodes,
              wanted: count,
              all,
              available,
              reusable: held.length > 0 ? [] : reused,
            })
          : [],
      );
    }
    return hints;
  }

  /** False: it had them already. */
  async #allocateOne(
    pod: Pod,
    container: Container,
    resource: string,
    count: number,
    affinity: TopologyHint,
  ): Promise<boolean> {
    const podUid = pod.metadata.uid ?? "";
    const { name } = container;
    const devices = this.#inventory.devices(resource);
    const before = this.#holdings.get(podUid, name, resource)?.devices;
    if (before && before.length !== count)
      throw new Error(
        `pod ${JSON.stringify(podUid)} container ${JSON.stringify(name)} changed request for resource ${JSON.stringify(resource)} from ${before.length} to ${count}`,
      );
    if (before && this.#options.isInRuntime(podUid)) return false;
    if (!this.#inventory.has(resource))
      throw new Error(`cannot allocate unregistered device ${resource}`);
    if (![...devices.values()].some(({ healthy }) => healthy))
      throw noHealthyDevices(resource);
    if (before && !before.every(({ id }) => devices.get(id)?.healthy))
      throw new Error(
        `previously allocated devices are no longer healthy; cannot allocate unhealthy devices ${resource}`,
      );
    if (before) return false;
    const client = this.#inventory.client(resource);
    if (!client) throw new Error(`unknown Device Plugin ${resource}`);
    const ids = await chooseDevices({
      resource,
      needed: count,
      devices,
      held: this.#holdings.held(resource),
      reusable: this.#holdings.reusable(pod, name, resource),
      nodes: affinity.nodes,
      client,
    });
    const allocation = await this.#metrics.timedAllocation(
      resource,
      client.allocate(ids),
    );
    this.#holdings.add({
      podUid,
      container: name,
      resource,
      devices: ids.map((id) => ({
        id,
        numaNodes: devices.get(id)?.numaNodes ?? [],
      })),
      allocation,
    });
    return true;
  }

  #collectGone(): boolean {
    let released = false;
    for (const uid of this.#holdings.pods())
      if (this.#isGone(uid)) released = this.#holdings.release(uid) || released;
    return released;
  }

  #save(): Promise<void> {
    return this.#checkpoint.save(() => ({
      holdings: this.#holdings.all(),
      resources: this.#inventory.resources(),
    }));
  }

  #saveLater(): void {
    const { logger } = this.#options;
    this.#save().catch((err: unknown) =>
      logger.error({ err }, "can't write the checkpoint of devices"),
    );
  }
}
