// What the cgroups of a quality of service are held to: the sums over their pods. Burstable pods together weigh what they
// requested. `--qos-reserved` (gate QOSReserved) keeps lower classes off a share of the memory that higher ones
// requested; the gate MemoryQoS keeps requested memory from reclaim. Rules are the reference's.
import { qosClass, type QosClass } from "../../api/objects/pod-qos.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { cpuShares, podResources } from "../resources/linux-resources.ts";
import type { CgroupLimits } from "./cgroup-driver.ts";

interface QosLimitsOptions {
  /** Percent of the requested memory; undefined: nothing is reserved. */
  readonly reservedMemoryPercent: number | undefined;
  readonly memoryMin: boolean;
  /** undefined: not known yet. */
  readonly allocatableMemoryBytes: () => number | undefined;
}

interface Requests {
  qos: QosClass;
  cpuMillis: number;
  memoryBytes: number;
}

export class QosLimits {
  readonly #options: QosLimitsOptions;
  readonly #pods = new Map<string, Requests>();

  constructor(options: QosLimitsOptions) {
    this.#options = options;
  }

  add(pod: Pod): void {
    const { cpuRequestMillis, memoryRequestBytes } = podResources(pod);
    this.#pods.set(pod.metadata.uid ?? "", {
      qos: qosClass(pod),
      cpuMillis: cpuRequestMillis,
      memoryBytes: memoryRequestBytes,
    });
  }

  remove(uid: string): void {
    this.#pods.delete(uid);
  }

  /** Of each class's own cgroup; Guaranteed pods lie in that of all pods. */
  limits(): ReadonlyMap<QosClass, CgroupLimits> {
    const sum = (qos: QosClass, of: "cpuMillis" | "memoryBytes"): number =>
      [...this.#pods.values()]
        .filter((each) => each.qos === qos)
        .reduce((total, each) => total + each[of], 0);
    const guaranteed: CgroupLimits = {};
    const burstable: CgroupLimits = {
      cpuShares: cpuShares(sum("Burstable", "cpuMillis")),
    };
    const bestEffort: CgroupLimits = { cpuShares: 2 };
    const memory = {
      guaranteed: sum("Guaranteed", "memoryBytes"),
      burstable: sum("Burstable", "memoryBytes"),
    };
    const { memoryMin, reservedMemoryPercent } = this.#options;
    if (memoryMin) {
      burstable.memoryMinBytes = memory.burstable;
      guaranteed.memoryMinBytes = memory.guaranteed + memory.burstable;
    }
    const allocatable = this.#options.allocatableMemoryBytes();
    if (reservedMemoryPercent !== undefined && allocatable) {
      const share = (bytes: number): number =>
        Math.floor((bytes * reservedMemoryPercent) / 100);
      burstable.memoryLimitBytes = allocatable - share(memory.guaranteed);
      bestEffort.memoryLimitBytes =
        burstable.memoryLimitBytes - share(memory.burstable);
    }
    return new Map([
      ["Guaranteed", guaranteed],
      ["Burstable", burstable],
      ["BestEffort", bestEffort],
    ]);
  }
}
