// Where the CPUs of the machine lie: by core, cache, socket and NUMA node.
import type { Cpu } from "../machine/machine-topology.ts";
import type { Ids } from "../machine/id-set.ts";

/** A cache is one of level 3 that less than a whole node shares, else the socket. */
export type Level = "node" | "socket" | "cache" | "core";

export class CpuPlaces {
  /** Every CPU that is online. */
  readonly all: Ids;
  readonly nodeIds: Ids;
  readonly sockets: number;
  /** Threads of a core, by the machine's average: cores of one machine have the same number of them. */
  readonly cpusPerCore: number;
  /** By the machine's average. */
  readonly cpusPerCache: number;
  /** The two upper levels, the larger one first: a socket of several nodes, or a node of one or more sockets. */
  readonly upper: readonly [Level, Level];
  readonly #byId: ReadonlyMap<number, Cpu>;
  readonly #sizes: Readonly<Record<Level, ReadonlyMap<number, number>>>;

  constructor(cpus: readonly Cpu[]) {
    this.#byId = new Map(cpus.map((cpu) => [cpu.id, cpu]));
    this.all = cpus.map(({ id }) => id).sort((a, b) => a - b);
    const sizes = (level: Level): Map<number, number> =>
      new Map(
        [...this.group(this.all, level)].map(([id, ids]) => [id, ids.length]),
      );
    this.#sizes = {
      node: sizes("node"),
      socket: sizes("socket"),
      cache: sizes("cache"),
      core: sizes("core"),
    };
    this.nodeIds = [...this.#sizes.node.keys()].sort((a, b) => a - b);
    this.sockets = this.#sizes.socket.size;
    this.cpusPerCore = Math.max(
      1,
      Math.floor(this.all.length / this.#sizes.core.size),
    );
    this.cpusPerCache = Math.floor(this.all.length / this.#sizes.cache.size);
    this.upper =
      this.sockets < this.nodeIds.length
        ? ["socket", "node"]
        : ["node", "socket"];
  }

  has(cpu: number): boolean {
    return this.#byId.has(cpu);
  }

  /** The core, cache, socket or node in which the CPU is. */
  idOf(cpu: number, level: Level): number {
    return this.#byId.get(cpu)![level];
  }

  /** The given CPUs by the core, cache, socket or node in which they are. */
  group(cpus: Ids, level: Level): Map<number, number[]> {
    const groups = new Map<number, number[]>();
    for (const cpu of cpus) {
      const id = this.idOf(cpu, level);
      const group = groups.get(id);
      if (group) group.push(cpu);
      else groups.set(id, [cpu]);
    }
    return groups;
  }

  /** Of the given CPUs those in one of the cores, caches, sockets or nodes. */
  within(cpus: Ids, level: Level, ids: Iterable<number>): number[] {
    const wanted = new Set(ids);
    return cpus.filter((cpu) => wanted.has(this.idOf(cpu, level)));
  }

  /** How many CPUs there are in it. */
  size(level: Level, id: number): number {
    return this.#sizes[level].get(id) ?? 0;
  }
}
