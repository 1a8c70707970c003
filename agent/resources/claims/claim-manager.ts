// ResourceClaims of the pods on this node: prepared by their drivers before a pod's sandbox is made, handed to containers
// as CDI devices, and unprepared when the last pod that used them ended. Invariants: that a pod uses a claim is on the
// disk before a driver is called for it; one claim is worked on by one pod at a time; a claim is forgotten only after
// each of its drivers has unprepared it.
import { join } from "node:path";
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import {
  claimNameOf,
  foreignClaim,
  isReservedFor,
} from "../../../api/objects/resource-claims.ts";
import type {
  Container,
  Pod,
  PodResourceClaim,
} from "../../../api/types/core-v1.ts";
import type { ResourceClaim } from "../../../api/types/resource-v1beta1.ts";
import type { Client } from "../../../client/client.ts";
import { resourceClaims } from "../../../client/resources.ts";
import { CheckedState } from "../checked-state.ts";
import { ClaimMetrics } from "./claim-metrics.ts";
import { DraDrivers } from "./dra-drivers.ts";
import type { DraDevice } from "./dra-protocol.ts";
import { NodeSlices } from "./node-slices.ts";

interface ClaimManagerOptions {
  /** ROOT */
  readonly rootDirectory: string;
  readonly nodeName: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A claim that pods of this node use. */
export interface PreparedClaim {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Uids. */
  readonly pods: readonly string[];
  /** Driver → what it prepared; empty lists until it did. */
  readonly drivers: Readonly<Record<string, readonly DraDevice[]>>;
}

export class ClaimManager {
  readonly #options: ClaimManagerOptions;
  readonly #claims = new Map<string, PreparedClaim>();
  /** Keys of those that all drivers prepared in this life of the agent. */
  readonly #prepared = new Set<string>();
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #checkpoint: CheckedState<readonly PreparedClaim[]>;
  readonly #slices: NodeSlices;
  /** The handler of drivers that register. */
  readonly drivers: DraDrivers;
  readonly metrics = new ClaimMetrics();

  constructor(options: ClaimManagerOptions) {
    this.#options = options;
    this.#checkpoint = new CheckedState(
      join(options.rootDirectory, "dra_manager_state"),
      options.logger,
    );
    this.#slices = new NodeSlices(options);
    this.drivers = new DraDrivers(
      (driver) => this.#slices.remove(driver),
      this.metrics,
    );
  }

  /** Before any pod starts. Slices of before are removed: no driver has registered yet. */
  async start(): Promise<void> {
    for (const claim of (await this.#checkpoint.read()) ?? [])
      this.#claims.set(`${claim.namespace}/${claim.name}`, claim);
    this.#slices.remove(undefined);
  }

  /** Calls of drivers that are under way fail, and are repeated after the next start. */
  stop(): void {
    this.#slices.stop();
    this.drivers.close();
  }

  /** Idempotent; rejects with why the pod can't start yet. */
  async prepare(pod: Pod): Promise<void> {
    if ((pod.spec.resourceClaims ?? []).length === 0) return;
    await this.metrics.timed("PrepareResources", this.#prepareAll(pod));
  }

  async #prepareAll(pod: Pod): Promise<void> {
    for (const podClaim of pod.spec.resourceClaims ?? []) {
      const claim = await this.#allowedClaim(pod, podClaim);
      if (!claim) continue;
      const key = `${claim.metadata.namespace}/${claim.metadata.name}`;
      await this.#inTurn(key, () => this.#prepare(key, pod, claim));
    }
  }

  /** CDI names of the container's claims. */
  cdiDevices(pod: Pod, container: Container): string[] {
    const names = this.#used(pod, container).flatMap(({ claim, request }) =>
      Object.values(claim.drivers)
        .flat()
        .filter(
          ({ request_names: requests }) =>
            request === undefined ||
            // One without requests belongs to all of them.
            requests.length === 0 ||
            requests.includes(request),
        )
        .flatMap((device) => device.cdi_device_ids),
    );
    return [...new Set(names)];
  }

  /** What the container uses, for those who ask what runs on which device. */
  claimsOf(pod: Pod, container: Container): PreparedClaim[] {
    return this.#used(pod, container).map(({ claim }) => claim);
  }

  /** Some claim may be prepared for the pod. */
  areUsedBy(uid: string): boolean {
    for (const { pods } of this.#claims.values())
      if (pods.includes(uid)) return true;
    return false;
  }

  /** Nothing of the pod runs any more. Idempotent; rejects when a driver could not: to be tried again. */
  async unprepare(uid: string): Promise<void> {
    if (!this.areUsedBy(uid)) return;
    await this.metrics.timed("UnprepareResources", this.#unprepareAll(uid));
  }

  async #unprepareAll(uid: string): Promise<void> {
    for (const [key, { pods }] of [...this.#claims])
      if (pods.includes(uid))
        await this.#inTurn(key, () => this.#unprepare(key, uid));
  }

  /** As unprepare, for pods that ended while no agent ran. Only called when all sources of pods are complete. */
  unprepareOthers(isKnown: (uid: string) => boolean): void {
    const uids = new Set(
      [...this.#claims.values()].flatMap(({ pods }) => pods),
    );
    for (const uid of uids)
      if (!isKnown(uid))
        this.unprepare(uid).catch((error: unknown) =>
          this.#options.logger.warn(
            { err: error, uid },
            "can't unprepare the claims of a pod that is gone",
          ),
        );
  }

  async #allowedClaim(
    pod: Pod,
    podClaim: PodResourceClaim,
  ): Promise<ResourceClaim | undefined> {
    const { name: podName, namespace, uid } = pod.metadata;
    const { name, generated } = claimNameOf(pod, podClaim);
    if (name === undefined) return undefined;
    let claim: ResourceClaim;
    try {
      claim = await this.#options.client
        .resource(resourceClaims)
        .get(name, namespace);
    } catch (error) {
      throw new Error(
        `failed to fetch ResourceClaim ${name} referenced by pod ${podName}: ${(error as Error).message}`,
        { cause: error },
      );
    }
    const foreign = generated ? foreignClaim(pod, claim) : undefined;
    if (foreign) throw new Error(foreign);
    if (!isReservedFor(pod, claim))
      throw new Error(
        `pod ${podName}(${uid}) is not allowed to use resource claim ${name}(${claim.metadata.uid})`,
      );
    return claim;
  }

  async #prepare(key: string, pod: Pod, claim: ResourceClaim): Promise<void> {
    const { name, namespace = "", uid = "" } = claim.metadata;
    const known = this.#claims.get(key);
    if (known && known.uid !== uid)
      throw new Error(
        `claim ${key} was made again: the one of before (${known.uid}) is still prepared`,
      );
    const { allocation } = claim.status ?? {};
    if (!known && !allocation) throw new Error(`claim ${key}: not allocated`);
    const drivers = (allocation?.devices?.results ?? []).map(
      ({ driver }) => [driver, []] as const,
    );
    let current: PreparedClaim = known ?? {
      ...{ namespace, name, uid, pods: [] },
      drivers: Object.fromEntries(drivers),
    };
    const podUid = pod.metadata.uid ?? "";
    if (!current.pods.includes(podUid)) {
      current = { ...current, pods: [...current.pods, podUid] };
      await this.#set(key, current);
    }
    if (this.#prepared.has(key)) return;
    for (const driver of Object.keys(current.drivers)) {
      const devices = await this.drivers.prepare(driver, {
        namespace,
        uid,
        name,
      });
      current = {
        ...current,
        drivers: { ...current.drivers, [driver]: devices },
      };
    }
    await this.#set(key, current);
    this.#prepared.add(key);
  }

  async #unprepare(key: string, podUid: string): Promise<void> {
    const claim = this.#claims.get(key);
    if (!claim?.pods.includes(podUid)) return;
    const pods = claim.pods.filter((uid) => uid !== podUid);
    if (pods.length > 0) return await this.#set(key, { ...claim, pods });
    this.#prepared.delete(key);
    const { namespace, name, uid } = claim;
    for (const driver of Object.keys(claim.drivers))
      await this.drivers.unprepare(driver, { namespace, uid, name });
    this.#claims.delete(key);
    await this.#save();
  }

  #used(
    pod: Pod,
    { resources }: Container,
  ): { claim: PreparedClaim; request: string | undefined }[] {
    return (resources?.claims ?? []).flatMap((wanted) => {
      const podClaim = pod.spec.resourceClaims?.find(
        ({ name }) => name === wanted.name,
      );
      const name = podClaim && claimNameOf(pod, podClaim).name;
      if (name === undefined) return [];
      const { namespace } = pod.metadata;
      const claim = this.#claims.get(`${namespace}/${name}`);
      if (!claim)
        throw new Error(
          `unable to get claim info for claim ${name} in namespace ${namespace}`,
        );
      return [{ claim, request: wanted.request || undefined }];
    });
  }

  /** What is not on the disk does not count: it is tried again. */
  async #set(key: string, claim: PreparedClaim): Promise<void> {
    const before = this.#claims.get(key);
    this.#claims.set(key, claim);
    try {
      await this.#save();
    } catch (error) {
      if (before) this.#claims.set(key, before);
      else this.#claims.delete(key);
      throw error;
    }
  }

  async #save(): Promise<void> {
    try {
      await this.#checkpoint.save(() => [...this.#claims.values()]);
    } catch (error) {
      throw new Error(
        `failed to checkpoint claimInfo state: ${(error as Error).message}`,
        { cause: error },
      );
    }
  }

  /** One after another for a claim. */
  async #inTurn(key: string, work: () => Promise<void>): Promise<void> {
    const before = this.#turns.get(key) ?? Promise.resolve();
    const turn = before.catch(() => undefined).then(work);
    this.#turns.set(key, turn);
    try {
      await turn;
    } finally {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
    }
  }
}
