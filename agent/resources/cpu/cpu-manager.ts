// The CPU manager: the static policy with its state file and the moving of running containers; with the policy none only
// the file, which keeps a later change of the policy from going unnoticed.
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import type { Family } from "../../../api/metrics/family.ts";
import type { Alignment } from "../alignment.ts";
import { formatCpuList } from "../machine/cpu-list.ts";
import type { Ids } from "../machine/id-set.ts";
import type {
  Pinning,
  ResourceManager,
  ResourceShares,
} from "../resource-managers.ts";
import type { TopologyHint, TopologyHints } from "../topology/hint-provider.ts";
import { CpuCheckpoint } from "./cpu-checkpoint.ts";
import type { CpuPlaces } from "./cpu-places.ts";
import type { CpuPolicyOptions } from "./cpu-policy.ts";
import {
  CpusetReconciler,
  type RunningContainer,
} from "./cpuset-reconciler.ts";
import { StaticCpus } from "./static-cpus.ts";

interface CpuManagerOptions {
  readonly directory: string;
  readonly places: CpuPlaces;
  readonly policy: CpuPolicyOptions;
  readonly reservedCount: number;
  readonly reservedCpus: Ids;
  readonly reconcilePeriodMs: number;
  readonly running: () => readonly RunningContainer[];
  readonly update: (id: string, pinning: Pinning) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class CpuManager implements ResourceManager {
  readonly #static: StaticCpus;
  readonly #reconciler: CpusetReconciler;

  constructor(options: CpuManagerOptions) {
    const { update, logger } = options;
    this.#static = new StaticCpus({
      ...options,
      checkpoint: new CpuCheckpoint(options.directory, "static"),
      onChange: () => void this.#reconciler.reconcile(),
      onSaveFailure: (error) =>
        logger.error({ err: error }, "can't write the state of the CPUs"),
    });
    this.#reconciler = new CpusetReconciler({
      ...options,
      periodMs: options.reconcilePeriodMs,
      cpusOf: (uid, name) => formatCpuList(this.#static.cpusOf(uid, name)),
      update: (id, cpusetCpus) => update(id, { cpusetCpus }),
    });
  }

  async start(): Promise<void> {
    await this.#static.start();
    this.#reconciler.start();
  }

  stop(): void {
    this.#reconciler.stop();
  }

  pinning({ metadata }: Pod, { name }: Container): Pinning {
    const cpus = this.#static.cpusOf(metadata.uid ?? "", name);
    return cpus.length > 0 ? { cpusetCpus: formatCpuList(cpus) } : {};
  }

  sharesOf(uid: string, container: string): Partial<ResourceShares> {
    return { cpus: this.#static.exclusiveOf(uid, container) ?? [] };
  }

  allocatable(): Partial<ResourceShares> {
    return { cpus: this.#static.allocatable() };
  }

  containerHints(pod: Pod, container: Container): TopologyHints {
    return this.#static.containerHints(pod, container);
  }

  podHints(pod: Pod): TopologyHints {
    return this.#static.podHints(pod);
  }

  allocate(
    pod: Pod,
    container: Container,
    affinity: TopologyHint,
  ): Promise<void> {
    return this.#static.allocate(pod, container, affinity);
  }

  release(uid: string): void {
    this.#static.release(uid);
  }

  holders(): Iterable<string> {
    return this.#static.holders();
  }

  metrics(): Family[] {
    return this.#static.metrics();
  }

  alignment(): Alignment {
    return this.#static.alignment();
  }
}
