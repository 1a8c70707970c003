// The static CPU policy: containers of Guaranteed pods with whole CPUs get CPUs of their own, all others share the rest.
//
// Worked example: 4 CPUs, 1 reserved (0). A container asks for 2: it has 1-2, the shared pool is 0,3. When it ends, the
// pool is 0-3 again. Reserved CPUs are in the pool (unless strict) but are never given away.
// Invariants: no CPU belongs to two containers, but for an init container's, which later containers of the pod take
// over; what was assigned is on disk before its container starts, so that a restarted agent knows it.
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import type { Family } from "../../../api/metrics/family.ts";
import { isSidecar } from "../../pods/shape/pod-shape.ts";
import { AdmissionError } from "../admission-error.ts";
import type { Alignment } from "../alignment.ts";
import { StateFileError } from "../checkpoint-file.ts";
import { cpuPinningFamilies } from "../pinning-metrics.ts";
import { formatCpuList } from "../machine/cpu-list.ts";
import {
  common,
  sameIds,
  union,
  without,
  type Ids,
} from "../machine/id-set.ts";
import type {
  HintProvider,
  TopologyHint,
  TopologyHints,
} from "../topology/hint-provider.ts";
import { nodeIds } from "../topology/numa-nodes.ts";
import type { CpuAssignments, CpuCheckpoint } from "./cpu-checkpoint.ts";
import { cpuHints } from "./cpu-hints.ts";
import type { CpuPlaces } from "./cpu-places.ts";
import type { CpuPolicyOptions } from "./cpu-policy.ts";
import { exclusiveCpus, podExclusiveCpus } from "./exclusive-cpus.ts";
import { takeDistributed, takePacked } from "./take-cpus.ts";

interface StaticCpusOptions {
  readonly places: CpuPlaces;
  readonly policy: CpuPolicyOptions;
  /** How many CPUs the node's daemons need, above 0; `reservedCpus` names them, or is empty. */
  readonly reservedCount: number;
  readonly reservedCpus: Ids;
  readonly checkpoint: CpuCheckpoint;
  /** The shared pool changed: the containers in it have to move. */
  readonly onChange: () => void;
  readonly onSaveFailure: (error: unknown) => void;
}

export class StaticCpus implements HintProvider {
  readonly #options: StaticCpusOptions;
  readonly #reserved: Ids;
  /** With the other threads of their cores. */
  readonly #reservedCores: Ids;
  #assigned: CpuAssignments = { shared: [], exclusive: new Map() };
  /** CPUs of init containers of the pod that was looked at last: its further containers take them over. */
  #reusable: { uid: string; cpus: Ids } = { uid: "", cpus: [] };
  #requests = 0;
  #failures = 0;
  /** Containers that got their CPUs. */
  #aligned = 0;

  /** @throws Error when the reservation does not fit the machine */
  constructor(options: StaticCpusOptions) {
    this.#options = options;
    const { places, reservedCpus, reservedCount } = options;
    if (reservedCount <= 0)
      throw new Error(
        "the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero",
      );
    this.#reserved =
      reservedCpus.length > 0
        ? reservedCpus
        : this.#take(places.all, Math.min(reservedCount, places.all.length));
    if (this.#reserved.length !== reservedCount)
      throw new Error(
        `unable to reserve the required amount of CPUs (size of ${formatCpuList(this.#reserved)} did not equal ${reservedCount})`,
      );
    this.#reservedCores = places.within(
      places.all,
      "core",
      this.#reserved.map((cpu) => places.idOf(cpu, "core")),
    );
  }

  /** Takes up what was assigned before. @throws Error when that does not fit the machine or the settings */
  async start(): Promise<void> {
    const { checkpoint, places } = this.#options;
    const found = await checkpoint.load();
    if (found.shared.length === 0 && found.exclusive.size === 0) {
      const { strictReservation } = this.#options.policy;
      found.shared = strictReservation
        ? without(places.all, this.#reserved)
        : places.all;
      await checkpoint.save(found);
    } else {
      const problem = this.#problemOf(found);
      if (problem)
        throw new StateFileError(
          `start cpu manager error: ${problem}`,
          "CPU",
          checkpoint.path,
        );
    }
    this.#assigned = found;
  }

  #problemOf({ shared, exclusive }: CpuAssignments): string | undefined {
    const { places, policy } = this.#options;
    const list = formatCpuList;
    // Without reserved CPUs in it all of a strict pool may be given away. The reference refuses to start then.
    if (shared.length === 0 && !policy.strictReservation)
      return "default cpuset cannot be empty";
    const reserved = common(shared, this.#reserved);
    if (policy.strictReservation && reserved.length > 0)
      return `some of strictly reserved cpus: "${list(reserved)}" are present in defaultCpuSet: "${list(shared)}"`;
    if (!policy.strictReservation && !sameIds(reserved, this.#reserved))
      return `not all reserved cpus: "${list(this.#reserved)}" are present in defaultCpuSet: "${list(shared)}"`;
    const sets: Ids[] = [shared];
    for (const [uid, containers] of exclusive)
      for (const [name, cpus] of containers) {
        if (common(cpus, shared).length > 0)
          return `pod: ${uid}, container: ${name} cpuset: "${list(cpus)}" overlaps with default cpuset "${list(shared)}"`;
        sets.push(cpus);
      }
    const known = union(...sets);
    // Strictly reserved CPUs are in no pool.
    const available = policy.strictReservation
      ? without(places.all, this.#reserved)
      : places.all;
    return sameIds(known, available)
      ? undefined
      : `current set of available CPUs "${list(available)}" doesn't match with CPUs in state "${list(known)}"`;
  }

  /**
   * CPUs on which the container may run. Where a strict pool is given away as a whole these are the reserved ones: with
   * none named it would run on all of them, those of others too (at the reference it does).
   */
  cpusOf(uid: string, container: string): Ids {
    const own = this.exclusiveOf(uid, container);
    if (own) return own;
    const { shared } = this.#assigned;
    return shared.length > 0 ? shared : this.#reserved;
  }

  /** undefined: it has none of its own. */
  exclusiveOf(uid: string, container: string): Ids | undefined {
    return this.#assigned.exclusive.get(uid)?.get(container);
  }

  /** All that can ever be given to containers. */
  allocatable(): Ids {
    return without(this.#options.places.all, this.#reserved);
  }

  holders(): Iterable<string> {
    return this.#assigned.exclusive.keys();
  }

  containerHints(pod: Pod, container: Container): TopologyHints {
    const count = exclusiveCpus(pod, container);
    if (count === 0) return new Map();
    const has = this.exclusiveOf(pod.metadata.uid ?? "", container.name);
    if (!has) return this.#hints(count, this.#free(), this.#reusableOf(pod));
    // CPUs of a running container do not move.
    return has.length === count
      ? this.#hints(count, has, [])
      : new Map([["cpu", []]]);
  }

  podHints(pod: Pod): TopologyHints {
    const count = podExclusiveCpus(pod);
    if (count === 0) return new Map();
    let assigned: Ids = [];
    for (const container of allContainers(pod)) {
      const has = this.exclusiveOf(pod.metadata.uid ?? "", container.name);
      if (!has) continue;
      if (has.length !== exclusiveCpus(pod, container))
        return new Map([["cpu", []]]);
      assigned = union(assigned, has);
    }
    return assigned.length === count
      ? this.#hints(count, assigned, [])
      : this.#hints(
          count,
          this.#free(),
          union(this.#reusableOf(pod), assigned),
        );
  }

  #hints(count: number, free: Ids, reusable: Ids): TopologyHints {
    const { places, policy } = this.#options;
    const { alignBySocket } = policy;
    return new Map([
      ["cpu", cpuHints(places, { count, free, reusable, alignBySocket })],
    ]);
  }

  async allocate(
    pod: Pod,
    container: Container,
    affinity: TopologyHint,
  ): Promise<void> {
    const count = exclusiveCpus(pod, container);
    if (count === 0) return;
    const uid = pod.metadata.uid ?? "";
    const has = this.exclusiveOf(uid, container.name);
    if (has) {
      this.#aligned++;
      return this.#passOn(pod, container, has);
    }
    this.#requests++;
    let cpus: Ids;
    try {
      this.#checkCores(count);
      cpus = this.#choose(count, affinity, this.#reusableOf(pod));
    } catch (error) {
      this.#failures++;
      throw error;
    }
    const containers = this.#assigned.exclusive.get(uid) ?? new Map();
    this.#assigned.exclusive.set(uid, containers.set(container.name, cpus));
    this.#assigned.shared = without(this.#assigned.shared, cpus);
    this.#aligned++;
    this.#passOn(pod, container, cpus);
    await this.#options.checkpoint.save(this.#assigned);
    this.#options.onChange();
  }

  #choose(count: number, { nodes }: TopologyHint, reusable: Ids): Ids {
    const { places, policy } = this.#options;
    const free = union(this.#free(), reusable);
    if (nodes === undefined) return this.#take(free, count);
    const inNodes = places.within(places.all, "node", nodeIds(nodes));
    const near = policy.alignBySocket
      ? places.within(
          free,
          "socket",
          inNodes.map((cpu) => places.idOf(cpu, "socket")),
        )
      : common(free, inNodes);
    const aligned = this.#take(near, Math.min(count, near.length));
    return union(
      aligned,
      this.#take(without(free, aligned), count - aligned.length),
    );
  }

  #take(free: Ids, count: number): number[] {
    const { places, policy } = this.#options;
    const { distributeAcrossCores, alignByCache } = policy;
    const preference = distributeAcrossCores
      ? "spread"
      : alignByCache
        ? "caches"
        : "cores";
    if (!policy.distributeAcrossNodes)
      return takePacked(places, free, count, preference);
    const group = policy.fullCores ? places.cpusPerCore : 1;
    return takeDistributed(places, free, count, group, preference);
  }

  /** @throws AdmissionError when whole cores are asked for and can't be had */
  #checkCores(count: number): void {
    const { places, policy } = this.#options;
    if (!policy.fullCores) return;
    const refuse = (why: string): never => {
      throw new AdmissionError(
        "SMTAlignmentError",
        `SMT Alignment Error: ${why}`,
      );
    };
    if (count % places.cpusPerCore !== 0)
      refuse(
        `requested ${count} cpus not multiple cpus per core = ${places.cpusPerCore}`,
      );
    const free = without(this.#assigned.shared, this.#reservedCores).length;
    if (count > free)
      refuse(
        `not enough free physical CPUs: available physical CPUs = ${free}, requested CPUs = ${count}, CPUs per core = ${places.cpusPerCore}`,
      );
  }

  #free(): Ids {
    return without(this.#assigned.shared, this.#reserved);
  }

  #reusableOf(pod: Pod): Ids {
    return this.#reusable.uid === pod.metadata.uid ? this.#reusable.cpus : [];
  }

  /** An init container's CPUs are free for the pod's next ones when it has ended; a sidecar's are not. */
  #passOn(pod: Pod, container: Container, cpus: Ids): void {
    const before = this.#reusableOf(pod);
    const ends =
      !isSidecar(container) &&
      (pod.spec.initContainers ?? []).some(
        ({ name }) => name === container.name,
      );
    this.#reusable = {
      uid: pod.metadata.uid ?? "",
      cpus: ends ? union(before, cpus) : without(before, cpus),
    };
  }

  release(uid: string): void {
    const containers = this.#assigned.exclusive.get(uid);
    if (!containers) return;
    this.#assigned.exclusive.delete(uid);
    this.#assigned.shared = union(
      this.#assigned.shared,
      ...containers.values(),
    );
    this.#options.checkpoint
      .save(this.#assigned)
      .catch(this.#options.onSaveFailure);
    this.#options.onChange();
  }

  /** Where only whole cores are given. */
  alignment(): Alignment {
    const count = this.#options.policy.fullCores ? this.#aligned : 0;
    return { scope: "container", boundary: "physical_cpu", count };
  }

  metrics(): Family[] {
    const owned = union(
      ...[...this.#assigned.exclusive.values()].flatMap((containers) => [
        ...containers.values(),
      ]),
    );
    return cpuPinningFamilies({
      requests: this.#requests,
      errors: this.#failures,
      sharedMillicores: this.#free().length * 1000,
      exclusive: owned.length,
    });
  }
}

function allContainers({ spec }: Pod): Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers];
}
