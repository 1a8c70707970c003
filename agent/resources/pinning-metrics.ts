// What the CPU and the memory manager count: families that are there with the policy None, too, as at the reference.
import { Family } from "../../api/metrics/family.ts";

/** Of the CPU manager. `sharedMillicores` and `exclusive` are sizes of now, the others are counts since the start. */
interface CpuPinning {
  readonly requests: number;
  readonly errors: number;
  readonly sharedMillicores: number;
  readonly exclusive: number;
}

const noCpus: CpuPinning = {
  requests: 0,
  errors: 0,
  sharedMillicores: 0,
  exclusive: 0,
};

export function cpuPinningFamilies(counted: CpuPinning = noCpus): Family[] {
  return [
    new Family(
      "kubelet_cpu_manager_pinning_requests_total",
      "counter",
      "[ALPHA] The number of cpu core allocations which required pinning.",
    ).add({}, counted.requests),
    new Family(
      "kubelet_cpu_manager_pinning_errors_total",
      "counter",
      "[ALPHA] The number of cpu core allocations which required pinning failed.",
    ).add({}, counted.errors),
    new Family(
      "kubelet_cpu_manager_shared_pool_size_millicores",
      "gauge",
      "[ALPHA] The size of the shared CPU pool for non-guaranteed QoS pods, in millicores.",
    ).add({}, counted.sharedMillicores),
    new Family(
      "kubelet_cpu_manager_exclusive_cpu_allocation_count",
      "gauge",
      "[ALPHA] The total number of CPUs exclusively allocated to containers running on this node",
    ).add({}, counted.exclusive),
  ];
}

/** Of the memory manager, since the start. */
export function memoryPinningFamilies({
  requests = 0,
  errors = 0,
} = {}): Family[] {
  return [
    new Family(
      "kubelet_memory_manager_pinning_requests_total",
      "counter",
      "[ALPHA] The number of memory pages allocations which required pinning.",
    ).add({}, requests),
    new Family(
      "kubelet_memory_manager_pinning_errors_total",
      "counter",
      "[ALPHA] The number of memory pages allocations which required pinning that failed.",
    ).add({}, errors),
  ];
}
