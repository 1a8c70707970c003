// The policies of the managers of CPUs, memory and NUMA nodes, by the reference's names.

export type CpuPolicy = "none" | "static";

export type MemoryPolicy = "None" | "Static";

export type TopologyPolicy =
  "none" | "best-effort" | "restricted" | "single-numa-node";

/** What is aligned: each container by itself, or all of a pod together. */
export type TopologyScope = "container" | "pod";
