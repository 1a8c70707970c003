// What making, changing and removing cgroups takes, and which version the machine has, with the reference's names.
import { gauge, Histograms, usualSeconds } from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";
import type { CgroupDriver } from "./cgroup-driver.ts";

export class CgroupMetrics {
  readonly #durations = new Histograms(
    {
      name: "kubelet_cgroup_manager_duration_seconds",
      help: "How long making, changing or removing a cgroup took.",
      labels: ["operation_type"],
    },
    usualSeconds,
  );
  #version: number | undefined;

  /** The same driver; its calls are measured. */
  measure(driver: CgroupDriver): CgroupDriver {
    this.#version = driver.version;
    return {
      version: driver.version,
      create: (path, limits) =>
        this.#timed("create", driver.create(path, limits)),
      update: (path, limits) =>
        this.#timed("update", driver.update(path, limits)),
      remove: (path) => this.#timed("destroy", driver.remove(path)),
      usage: (path) => driver.usage(path),
      exists: (path) => driver.exists(path),
    };
  }

  async #timed(operation: string, call: Promise<void>): Promise<void> {
    const startMs = performance.now();
    try {
      await call;
    } finally {
      const seconds = (performance.now() - startMs) / 1000;
      this.#durations.observe(seconds, operation);
    }
  }

  families(): Family[] {
    return [
      this.#durations.family(),
      gauge(
        "kubelet_cgroup_version",
        "The version of cgroups that the machine has: 1 or 2.",
        this.#version,
      ),
    ];
  }
}
