// What the agent counts of device plug-ins, with the reference's names and buckets.
import {
  Counters,
  Histograms,
  usualSeconds,
} from "../../../api/metrics/counted.ts";
import type { Family } from "../../../api/metrics/family.ts";

export class DeviceMetrics {
  readonly #registrations = new Counters({
    name: "kubelet_device_plugin_registration_total",
    help: "[ALPHA] Cumulative number of device plugin registrations. Broken down by resource name.",
    labels: ["resource_name"],
  });
  readonly #allocations = new Histograms(
    {
      name: "kubelet_device_plugin_alloc_duration_seconds",
      help: "[ALPHA] Duration in seconds to serve a device plugin Allocation request. Broken down by resource name.",
      labels: ["resource_name"],
    },
    usualSeconds,
  );

  registered(resource: string): void {
    this.#registrations.count(resource);
  }

  /** Of a call that the plug-in answered. */
  async timedAllocation<T>(resource: string, call: Promise<T>): Promise<T> {
    const startMs = performance.now();
    const answer = await call;
    this.#allocations.observe((performance.now() - startMs) / 1000, resource);
    return answer;
  }

  families(): Family[] {
    return [this.#registrations.family(), this.#allocations.family()];
  }
}
