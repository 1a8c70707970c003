// The state of the CPU manager as a file, `cpu_manager_state`: the policy, the CPUs of the shared pool and the CPUs of
// each container that has its own. A file of another policy, or one that is damaged, refuses the start: containers may
// run on CPUs that it names.
import { join } from "node:path";
import type { CpuPolicy } from "../../config/resource-policies.ts";
import {
  CheckpointFile,
  fnv1a32,
  sortedEntries,
  StateFileError,
} from "../checkpoint-file.ts";
import { formatCpuList, parseCpuList } from "../machine/cpu-list.ts";
import type { Ids } from "../machine/id-set.ts";

export interface CpuAssignments {
  /** The shared pool, reserved CPUs among them. Empty: nothing was recorded yet. */
  shared: Ids;
  /** By the pod's uid and the container's name. */
  readonly exclusive: Map<string, Map<string, Ids>>;
}

type Entries = Record<string, Record<string, string>>;

const fileName = "cpu_manager_state";

export class CpuCheckpoint {
  readonly #file: CheckpointFile;
  readonly #policy: CpuPolicy;

  constructor(directory: string, policy: CpuPolicy) {
    this.#file = new CheckpointFile(join(directory, fileName));
    this.#policy = policy;
  }

  get path(): string {
    return this.#file.path;
  }

  /** Without a file: nothing is assigned, and the file is written. @throws Error with the reference's advice */
  async load(): Promise<CpuAssignments> {
    try {
      const found = await this.#file.read();
      if (found) return this.#assignments(found);
    } catch (error) {
      throw new StateFileError(
        `could not restore state from checkpoint: ${(error as Error).message}`,
        "CPU",
        this.path,
        error,
      );
    }
    const empty = { shared: [], exclusive: new Map() };
    await this.save(empty);
    return empty;
  }

  async save(assignments: CpuAssignments): Promise<void> {
    await this.#file.save(() => {
      const defaultCpuSet = formatCpuList(assignments.shared);
      const entries: Entries = {};
      for (const [uid, containers] of assignments.exclusive)
        entries[uid] = Object.fromEntries(
          [...containers].map(([name, cpus]) => [name, formatCpuList(cpus)]),
        );
      return {
        policyName: this.#policy,
        defaultCpuSet,
        ...(assignments.exclusive.size > 0 ? { entries } : {}),
        checksum: checksum(this.#policy, defaultCpuSet, entries),
      };
    });
  }

  #assignments(found: Record<string, unknown>): CpuAssignments {
    const { policyName = "", defaultCpuSet = "" } = found;
    const entries = found["entries"] ?? {};
    if (
      typeof policyName !== "string" ||
      typeof defaultCpuSet !== "string" ||
      !isEntries(entries)
    )
      throw new Error("its fields have other types than expected");
    const sum = found["checksum"] ?? 0;
    // Files of older releases have none.
    if (sum !== 0 && sum !== checksum(policyName, defaultCpuSet, entries))
      throw new Error("checkpoint is corrupted");
    if (policyName !== this.#policy)
      throw new Error(
        `configured policy ${JSON.stringify(this.#policy)} differs from state checkpoint policy ${JSON.stringify(policyName)}`,
      );
    return {
      shared: parseCpuList(defaultCpuSet),
      exclusive: new Map(
        Object.entries(entries).map(([uid, containers]) => [
          uid,
          new Map(
            Object.entries(containers).map(([name, cpus]) => [
              name,
              parseCpuList(cpus),
            ]),
          ),
        ]),
      ),
    };
  }
}

function isEntries(value: unknown): value is Entries {
  const isObject = (each: unknown): each is object =>
    typeof each === "object" && each !== null && !Array.isArray(each);
  return (
    isObject(value) &&
    Object.values(value).every(
      (containers) =>
        isObject(containers) &&
        Object.values(containers).every((cpus) => typeof cpus === "string"),
    )
  );
}

function checksum(policy: string, shared: string, entries: Entries): number {
  const written = sortedEntries(entries).map(([uid, containers]) => {
    const inner = sortedEntries(containers).map(
      ([name, cpus]) => `${name}:${cpus}`,
    );
    return `${uid}:map[${inner.join(" ")}]`;
  });
  return fnv1a32(
    `(*state.CPUManagerCheckpoint){PolicyName:(string)${policy} DefaultCPUSet:(string)${shared} Entries:(map[string]map[string]string)map[${written.join(" ")}] Checksum:(checksum.Checksum)0}`,
  );
}
