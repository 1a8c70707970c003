// Serves the pod resources API on ROOT/pod-resources/kubelet.sock. Get and the claims of containers are there behind their
// gates, as at the reference. As there since 1.32, List leaves out pods that are over, whose resources others have; Get and
// List of v1alpha1 know them as long as a source has them. More than a hundred requests a second are refused: a client that
// may open the socket could otherwise keep the agent busy.
import { join } from "node:path";
import { makeDirectory } from "../../cri/directories.ts";
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { Container, Pod } from "../../api/types/core-v1.ts";
import { loadGrpc } from "../../grpc/channel.ts";
import { GrpcError, GrpcServer } from "../../grpc/server.ts";
import type { PreparedClaim } from "../resources/claims/claim-manager.ts";
import type { DeviceManager } from "../resources/devices/device-manager.ts";
import type {
  MemoryShare,
  ResourceManagers,
} from "../resources/resource-managers.ts";
import type { KnownDevice } from "../resources/devices/device-inventory.ts";
import {
  podResourcesCodec,
  podResourcesMethods,
} from "./pod-resources-protocol.ts";
import { RequestCounts, type CountedMethod } from "./request-counts.ts";

interface PodResourcesOptions {
  /** ROOT/pod-resources */
  readonly directory: string;
  /** Pods that may use something of the node. */
  readonly pods: () => readonly Pod[];
  /** These, and those that are over and still there. */
  readonly allPods: () => readonly Pod[];
  readonly devices: Pick<DeviceManager, "holdings" | "healthyDevices">;
  readonly resources: Pick<ResourceManagers, "sharesOf" | "allocatable">;
  readonly claimsOf: (
    pod: Pod,
    container: Container,
  ) => readonly PreparedClaim[];
  /** Gate KubeletPodResourcesGet. */
  readonly get: boolean;
  /** Gate KubeletPodResourcesDynamicResources. */
  readonly dynamicResources: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The reference's. */
const requestsPerSecond = 100;
const burst = 10;
const resourceExhausted = 8;

export class PodResources {
  readonly #options: PodResourcesOptions;
  #server: GrpcServer | undefined;
  #listening: Promise<void> | undefined;
  #tokens = burst;
  #filledAtMs: number;
  readonly counts = new RequestCounts();

  constructor(options: PodResourcesOptions) {
    this.#options = options;
    this.#filledAtMs = options.clock.monotonic();
  }

  /** Returns at once; the socket is there soon after. */
  start(): void {
    this.#listening = this.#listen().catch((error: unknown) =>
      this.#options.logger.error(
        { err: error },
        "the pod resources API can't be served",
      ),
    );
  }

  async #listen(): Promise<void> {
    const { directory } = this.#options;
    await makeDirectory(directory, 0o750);
    const limited =
      <Q>(method: CountedMethod, answer: (request: Q) => object) =>
      (request: Q): object => {
        this.#takeToken();
        return this.counts.counted(method, () => answer(request));
      };
    this.#server = new GrpcServer(await loadGrpc(), {
      codec: podResourcesCodec,
      handlers: [
        {
          method: podResourcesMethods.list,
          unary: limited("list", () => ({
            pod_resources: this.#options.pods().map((pod) => this.#of(pod)),
          })),
        },
        {
          method: podResourcesMethods.allocatable,
          unary: limited("get_allocatable", () => this.#allocatable()),
        },
        {
          method: podResourcesMethods.get,
          unary: limited("get", (request: PodName) => this.#get(request)),
        },
        {
          method: podResourcesMethods.listAlpha,
          unary: () => {
            this.#takeToken();
            this.counts.alpha();
            return this.#alphaList();
          },
        },
      ],
    });
    await this.#server.listen(join(directory, "kubelet.sock"));
  }

  async stop(): Promise<void> {
    await this.#listening;
    await this.#server?.close();
  }

  #takeToken(): void {
    const nowMs = this.#options.clock.monotonic();
    const filled = ((nowMs - this.#filledAtMs) / 1000) * requestsPerSecond;
    this.#tokens = Math.min(burst, this.#tokens + filled);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1)
      throw new GrpcError(resourceExhausted, "rejected by rate limit");
    this.#tokens--;
  }

  /** Of v1alpha1: devices of the ordinary containers, without their places. */
  #alphaList(): object {
    return {
      pod_resources: this.#options.allPods().map(({ metadata, spec }) => ({
        name: metadata.name,
        namespace: metadata.namespace,
        containers: spec.containers.map(({ name }) => ({
          name,
          devices: this.#options.devices
            .holdings(metadata.uid ?? "", name)
            .flatMap(({ resource, devices }) =>
              devices.map(({ id }) => ({
                resource_name: resource,
                device_ids: [id],
              })),
            ),
        })),
      })),
    };
  }

  #get({ pod_name: name, pod_namespace: namespace }: PodName): object {
    if (!this.#options.get)
      throw new Error("PodResources API Get method disabled");
    const pod = this.#options
      .allPods()
      .find(
        ({ metadata }) =>
          metadata.name === name && metadata.namespace === namespace,
      );
    if (!pod)
      throw new Error(`pod ${name} in namespace ${namespace} not found`);
    return { pod_resources: this.#of(pod) };
  }

  #allocatable(): object {
    const devices = [...this.#options.devices.healthyDevices()].flatMap(
      ([resource, list]) => deviceEntries(resource, list),
    );
    const { cpus, memory } = this.#options.resources.allocatable();
    return { devices, cpu_ids: cpus, memory: memory.map(memoryEntry) };
  }

  #of(pod: Pod): object {
    const { name, namespace } = pod.metadata;
    const containers = [
      ...(pod.spec.initContainers ?? []).filter(
        ({ restartPolicy }) => restartPolicy === "Always",
      ),
      ...pod.spec.containers,
    ];
    return {
      name,
      namespace,
      containers: containers.map((each) => this.#ofContainer(pod, each)),
    };
  }

  #ofContainer(pod: Pod, container: Container): object {
    const { devices, resources, dynamicResources } = this.#options;
    const uid = pod.metadata.uid ?? "";
    const { cpus, memory } = resources.sharesOf(uid, container.name);
    return {
      name: container.name,
      devices: devices
        .holdings(uid, container.name)
        .flatMap((held) => deviceEntries(held.resource, held.devices)),
      cpu_ids: cpus,
      memory: memory.map(memoryEntry),
      ...(dynamicResources
        ? { dynamic_resources: this.#claimsOf(pod, container) }
        : {}),
    };
  }

  /** A claim that is not prepared yet is left out. */
  #claimsOf(pod: Pod, container: Container): object[] {
    let claims: readonly PreparedClaim[];
    try {
      claims = this.#options.claimsOf(pod, container);
    } catch {
      return [];
    }
    return claims.map(({ name, namespace, drivers }) => ({
      claim_name: name,
      claim_namespace: namespace,
      claim_resources: Object.entries(drivers).flatMap(([driver, devices]) =>
        devices.map((device) => ({
          driver_name: driver,
          pool_name: device.pool_name,
          device_name: device.device_name,
          cdi_devices: device.cdi_device_ids.map((id) => ({ name: id })),
        })),
      ),
    }));
  }
}

interface PodName {
  pod_name: string;
  pod_namespace: string;
}

const memoryEntry = ({ type, size, numaAffinity }: MemoryShare): object => ({
  memory_type: type,
  size,
  topology: { nodes: numaAffinity.map((ID) => ({ ID })) },
});

/** One entry for a device, and one for each of its NUMA nodes where it has some. */
function deviceEntries(
  resource_name: string,
  devices: readonly Pick<KnownDevice, "id" | "numaNodes">[],
): object[] {
  return devices.flatMap(({ id, numaNodes }): object[] => {
    const entry = { resource_name, device_ids: [id] };
    return numaNodes.length === 0
      ? [entry]
      : numaNodes.map((ID) => ({ ...entry, topology: { nodes: [{ ID }] } }));
  });
}
