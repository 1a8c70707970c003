// The cgroups the agent itself makes: one for all pods, one a quality of service, one a pod; containers' own are made by
// the runtime below them. cgroup v1 and v2 are two drivers of one interface. Paths are relative to the mounted root.
import type { Pod } from "../../api/types/core-v1.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { qosClass, type QosClass } from "../../api/objects/pod-qos.ts";
import type {
  CgroupDriver,
  CgroupLimits,
  CgroupUsage,
} from "./cgroup-driver.ts";
import { isGateOn } from "../config/feature-gates.ts";
import { machineHugepageSizes } from "./hugepage-sizes.ts";
import { podCgroupLimits } from "./pod-limits.ts";
import { QosLimits } from "./qos-limits.ts";
import { cgroupNames, type CgroupNames } from "./systemd/slice-names.ts";

type CgroupSettings = Pick<
  AgentConfig,
  | "cgroupDriver"
  | "cgroupRoot"
  | "cgroupsPerQos"
  | "cpuCfsQuota"
  | "cpuCfsQuotaPeriodMs"
  | "podMaxPids"
  | "qosReserved"
  | "featureGates"
>;

interface NodeMemorySource {
  /** undefined: not known yet. */
  readonly allocatableMemoryBytes: number | undefined;
}

/** `memory=50%` → 50 */
function reservedPercent(
  qosReserved: Readonly<Record<string, string>>,
): number | undefined {
  const text = qosReserved["memory"];
  return text === undefined ? undefined : Number(text.replace(/%$/, ""));
}

export class CgroupManager {
  readonly #chooseDriver: () => Promise<CgroupDriver>;
  #chosen: CgroupDriver | undefined;
  readonly #config: CgroupSettings;
  readonly #node: NodeMemorySource;
  readonly #names: CgroupNames;
  #hugepageSizes: readonly string[] = [];
  #qos: QosLimits | undefined;
  /** What each class was last held to. */
  readonly #applied = new Map<QosClass, string>();
  #holding: Promise<void> | undefined;
  #again = false;

  constructor(
    chooseDriver: () => Promise<CgroupDriver>,
    config: CgroupSettings,
    node: NodeMemorySource = { allocatableMemoryBytes: undefined },
  ) {
    this.#chooseDriver = chooseDriver;
    this.#config = config;
    this.#node = node;
    this.#names = cgroupNames(config.cgroupDriver);
  }

  get #driver(): CgroupDriver {
    if (!this.#chosen) throw new Error("cgroups are used before start()");
    return this.#chosen;
  }

  async start(): Promise<void> {
    this.#chosen = await this.#chooseDriver();
    if (!this.#config.cgroupsPerQos) return;
    this.#hugepageSizes = machineHugepageSizes();
    this.#qos = new QosLimits({
      reservedMemoryPercent: isGateOn(this.#config, "QOSReserved")
        ? reservedPercent(this.#config.qosReserved)
        : undefined,
      memoryMin: this.#keepsMemory,
      allocatableMemoryBytes: () => this.#node.allocatableMemoryBytes,
    });
    await this.#driver.create(this.root, {});
    for (const qos of ["BestEffort", "Burstable"] as const)
      await this.#driver.create(this.#qosPath(qos), { cpuShares: 2 });
  }

  get #keepsMemory(): boolean {
    return this.#driver.version === 2 && isGateOn(this.#config, "MemoryQoS");
  }

  /**
   * Sets limits of a cgroup that is there; the controllers for them are handed down to it first, as far as they can be.
   * @throws Error when it is not
   */
  async limit(path: string, limits: CgroupLimits): Promise<void> {
    const place = this.#names.place(path);
    if (!(await this.#driver.exists(place)))
      throw new Error(`cgroup ${path} does not exist`);
    // It may be another's: nothing is made of it where nothing has to be handed down, or systemd does it.
    if (this.#driver.version === 2 && this.#config.cgroupDriver !== "systemd")
      await this.#driver.create(place, limits);
    else await this.#driver.update(place, limits);
  }

  /** The cgroup of all pods, below the mount of the cgroups. */
  get root(): string {
    return this.#names.place(this.#config.cgroupRoot);
  }

  /** Of all pods together. */
  async usage(): Promise<CgroupUsage> {
    return this.#config.cgroupsPerQos
      ? await this.#driver.usage(this.root)
      : {};
  }

  async podUsage(pod: Pod): Promise<CgroupUsage> {
    return this.#config.cgroupsPerQos
      ? await this.#driver.usage(this.podPath(pod))
      : {};
  }

  /** Below the mount of the cgroups. */
  podPath(pod: Pod): string {
    return this.podPathOf(pod.metadata.uid ?? "", qosClass(pod));
  }

  podPathOf(uid: string, qos: QosClass): string {
    return this.#names.place(`${this.#qosName(qos)}/pod${uid}`);
  }

  /** Resolves to what a container runtime is given as the parent of the pod's cgroups. */
  async createPod(pod: Pod): Promise<string> {
    const path = this.podPath(pod);
    const parent = this.#names.parent(path);
    if (!this.#config.cgroupsPerQos) return parent;
    const limits = podCgroupLimits(
      pod,
      this.#config,
      this.#hugepageSizes,
      this.#keepsMemory,
    );
    await this.#driver.create(path, limits);
    await this.adoptPod(pod);
    return parent;
  }

  /** A pod whose cgroup is there counts among those of its class. */
  async adoptPod(pod: Pod): Promise<void> {
    this.#qos?.add(pod);
    await this.#holdClasses();
  }

  /** Without the class every place where it may be is looked at. */
  async removePod(uid: string, qos?: QosClass): Promise<void> {
    if (!this.#config.cgroupsPerQos) return;
    const classes = qos
      ? [qos]
      : (["Guaranteed", "Burstable", "BestEffort"] as const);
    for (const each of classes)
      await this.#driver.remove(this.podPathOf(uid, each));
    this.#qos?.remove(uid);
    await this.#holdClasses();
  }

  /** Many pods that come or go at the same time take two rounds, not one each. */
  async #holdClasses(): Promise<void> {
    if (this.#holding) this.#again = true;
    else
      this.#holding = this.#holdChanged().finally(
        () => (this.#holding = undefined),
      );
    await this.#holding;
  }

  async #holdChanged(): Promise<void> {
    do {
      this.#again = false;
      await this.#holdOnce();
    } while (this.#again);
  }

  async #holdOnce(): Promise<void> {
    for (const [qos, limits] of this.#qos?.limits() ?? []) {
      const text = JSON.stringify(limits);
      if (text === "{}" || this.#applied.get(qos) === text) continue;
      this.#applied.set(qos, text);
      await this.#driver.update(this.#qosPath(qos), limits).catch((error) => {
        this.#applied.delete(qos);
        // The class uses more than its new limit: it is set again when the next pod comes or goes.
        if (limits.memoryLimitBytes === undefined) throw error;
      });
    }
  }

  #qosPath(qos: QosClass): string {
    return this.#names.place(this.#qosName(qos));
  }

  #qosName(qos: QosClass): string {
    const root = this.#config.cgroupRoot === "/" ? "" : this.#config.cgroupRoot;
    return qos === "Guaranteed" ? root : `${root}/${qos.toLowerCase()}`;
  }
}
