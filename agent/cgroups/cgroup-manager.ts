// The cgroups the agent itself makes: one for all pods, one a quality of service, one a pod; containers' own are made by
// the runtime below them. cgroup v1 and v2 are two drivers of one interface. Paths are relative to the mounted root.
import type { Pod } from "../../api/types/core-v1.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import {
  cpuQuota,
  cpuShares,
  podResources,
} from "../resources/linux-resources.ts";
import { qosClass, type QosClass } from "../../api/objects/pod-qos.ts";

export interface CgroupLimits {
  cpuShares?: number;
  /** Microseconds a period; undefined: none. */
  cpuQuota?: number;
  cpuPeriod?: number;
  memoryLimitBytes?: number;
  /** undefined or -1: no limit. */
  maxPids?: number;
}

/** What the processes in a cgroup and below it use. What can't be read is left out. */
export interface CgroupUsage {
  /** Memory without what the kernel can drop at once. */
  workingSetBytes?: number;
  /** undefined: none. */
  memoryLimitBytes?: number;
  processes?: number;
}

export interface CgroupDriver {
  readonly version: 1 | 2;
  /** Makes the cgroup in every hierarchy, its parents too; idempotent. */
  create(path: string, limits: CgroupLimits): Promise<void>;
  update(path: string, limits: CgroupLimits): Promise<void>;
  usage(path: string): Promise<CgroupUsage>;
  exists(path: string): Promise<boolean>;
  /** Kills what is left in it and removes it with all below; idempotent. */
  remove(path: string): Promise<void>;
}

export class CgroupManager {
  readonly #chooseDriver: () => Promise<CgroupDriver>;
  #chosen: CgroupDriver | undefined;
  readonly #config: Pick<
    AgentConfig,
    | "cgroupRoot"
    | "cgroupsPerQos"
    | "cpuCfsQuota"
    | "cpuCfsQuotaPeriodMs"
    | "podMaxPids"
  >;
  readonly #burstable = new Map<string, number>();
  #burstableShares = 0;

  constructor(chooseDriver: () => Promise<CgroupDriver>, config: AgentConfig) {
    this.#chooseDriver = chooseDriver;
    this.#config = config;
  }

  get #driver(): CgroupDriver {
    if (!this.#chosen) throw new Error("cgroups are used before start()");
    return this.#chosen;
  }

  async start(): Promise<void> {
    this.#chosen = await this.#chooseDriver();
    if (!this.#config.cgroupsPerQos) return;
    await this.#driver.create(this.#config.cgroupRoot, {});
    await this.#driver.create(this.#qosPath("BestEffort"), { cpuShares: 2 });
    await this.#driver.create(this.#qosPath("Burstable"), { cpuShares: 2 });
  }

  /**
   * Sets limits of a cgroup that is there.
   * @throws Error when it is not
   */
  async limit(path: string, limits: CgroupLimits): Promise<void> {
    if (!(await this.#driver.exists(path)))
      throw new Error(`cgroup ${path} does not exist`);
    await this.#driver.update(path, limits);
  }

  /** Of all pods together. */
  async usage(): Promise<CgroupUsage> {
    return this.#config.cgroupsPerQos
      ? await this.#driver.usage(this.#config.cgroupRoot)
      : {};
  }

  async podUsage(pod: Pod): Promise<CgroupUsage> {
    return this.#config.cgroupsPerQos
      ? await this.#driver.usage(this.podPath(pod))
      : {};
  }

  podPath(pod: Pod): string {
    return this.podPathOf(pod.metadata.uid ?? "", qosClass(pod));
  }

  podPathOf(uid: string, qos: QosClass): string {
    return `${this.#qosPath(qos)}/pod${uid}`;
  }

  async createPod(pod: Pod): Promise<string> {
    const path = this.podPath(pod);
    if (!this.#config.cgroupsPerQos) return path;
    const resources = podResources(pod);
    const qos = qosClass(pod);
    const cpuPeriod = this.#config.cpuCfsQuotaPeriodMs * 1000;
    const limits: CgroupLimits = {
      cpuShares:
        qos === "BestEffort" ? 2 : cpuShares(resources.cpuRequestMillis),
    };
    if (this.#config.cpuCfsQuota && resources.cpuLimited) {
      const quota = cpuQuota(resources.cpuLimitMillis, cpuPeriod);
      if (quota !== undefined)
        Object.assign(limits, { cpuQuota: quota, cpuPeriod });
    }
    if (resources.memoryLimited && resources.memoryLimitBytes > 0)
      limits.memoryLimitBytes = resources.memoryLimitBytes;
    if (this.#config.podMaxPids > 0) limits.maxPids = this.#config.podMaxPids;
    await this.#driver.create(path, limits);
    if (qos === "Burstable") {
      this.#burstable.set(pod.metadata.uid ?? "", resources.cpuRequestMillis);
      await this.#shareBurstable();
    }
    return path;
  }

  /** Without the class every place where it may be is looked at. */
  async removePod(uid: string, qos?: QosClass): Promise<void> {
    if (!this.#config.cgroupsPerQos) return;
    const classes = qos
      ? [qos]
      : (["Guaranteed", "Burstable", "BestEffort"] as const);
    for (const each of classes)
      await this.#driver.remove(this.podPathOf(uid, each));
    if (this.#burstable.delete(uid)) await this.#shareBurstable();
  }

  /** All burstable pods together weigh what they requested. */
  async #shareBurstable(): Promise<void> {
    const millis = [...this.#burstable.values()].reduce(
      (sum, value) => sum + value,
      0,
    );
    const shares = cpuShares(millis);
    if (shares === this.#burstableShares) return;
    this.#burstableShares = shares;
    await this.#driver.update(this.#qosPath("Burstable"), {
      cpuShares: shares,
    });
  }

  #qosPath(qos: QosClass): string {
    const root = this.#config.cgroupRoot === "/" ? "" : this.#config.cgroupRoot;
    return qos === "Guaranteed" ? root : `${root}/${qos.toLowerCase()}`;
  }
}
