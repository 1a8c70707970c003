// The files below /sys of machines of any shape, for what reads CPUs and NUMA nodes: sockets, nodes, cores and threads
// in the numbering of common machines (first thread of every core, then the second threads) or of virtual ones.
import * as fs from "node:fs";
import * as path from "node:path";

export interface MachineShape {
  sockets: number;
  nodesPerSocket: number;
  coresPerNode: number;
  threads: number;
  /** The threads of a core have numbers one after the other, as in qemu. */
  adjacent?: boolean;
  /** That share a cache of level 3; default: those of a node. */
  coresPerCache?: number;
  /** Of each node. */
  memoryBytes?: number;
  /** Pages of 2 MiB of each node. */
  hugepages?: number;
}

/** Writes the tree below `root`. */
export function writeMachine(root: string, shape: MachineShape): string {
  const { sockets, nodesPerSocket, coresPerNode, threads } = shape;
  const nodes = sockets * nodesPerSocket;
  const cores = nodes * coresPerNode;
  const system = path.join(root, "sys/devices/system");
  const write = (file: string, text: string | number): void => {
    fs.mkdirSync(path.dirname(path.join(system, file)), { recursive: true });
    fs.writeFileSync(path.join(system, file), `${text}\n`);
  };
  write("cpu/online", `0-${cores * threads - 1}`);
  const cpusOf = (core: number): number[] =>
    Array.from({ length: threads }, (_, thread) =>
      shape.adjacent ? core * threads + thread : core + thread * cores,
    );
  for (let core = 0; core < cores; core++)
    for (const cpu of cpusOf(core)) {
      const node = Math.floor(core / coresPerNode);
      const topology = `cpu/cpu${cpu}/topology`;
      write(`${topology}/thread_siblings_list`, cpusOf(core).join(","));
      // The kernel's numbers of cores are unique in a socket only.
      write(`${topology}/core_id`, core % (coresPerNode * nodesPerSocket));
      write(
        `${topology}/physical_package_id`,
        Math.floor(node / nodesPerSocket),
      );
      const cache = `cpu/cpu${cpu}/cache`;
      write(`${cache}/index0/level`, 1);
      write(`${cache}/index0/shared_cpu_list`, cpusOf(core).join(","));
      write(`${cache}/index3/level`, 3);
      const shared = shape.coresPerCache ?? coresPerNode;
      const first = core - (core % shared);
      write(
        `${cache}/index3/shared_cpu_list`,
        Array.from({ length: shared }, (_, n) => cpusOf(first + n)).join(","),
      );
    }
  for (let node = 0; node < nodes; node++) {
    const own = Array.from(
      { length: coresPerNode },
      (_, index) => node * coresPerNode + index,
    ).flatMap(cpusOf);
    write(`node/node${node}/cpulist`, own.join(","));
    const kilobytes = (shape.memoryBytes ?? 2 ** 34) / 1024;
    write(
      `node/node${node}/meminfo`,
      `Node ${node} MemTotal:       ${kilobytes} kB\nNode ${node} MemFree:  1 kB`,
    );
    write(
      `node/node${node}/distance`,
      Array.from({ length: nodes }, (_, other) =>
        distance(node, other, nodesPerSocket),
      ).join(" "),
    );
    write(
      `node/node${node}/hugepages/hugepages-2048kB/nr_hugepages`,
      shape.hugepages ?? 0,
    );
  }
  return root;
}

function distance(a: number, b: number, nodesPerSocket: number): number {
  if (a === b) return 10;
  return Math.floor(a / nodesPerSocket) === Math.floor(b / nodesPerSocket)
    ? 12
    : 32;
}
