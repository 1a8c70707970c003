// The container runtime with its calls counted and timed, under the reference's names of operations.
import {
  Counters,
  Histograms,
  usualSeconds,
} from "../../api/metrics/counted.ts";
import { Family } from "../../api/metrics/family.ts";
import { Histogram } from "../../api/metrics/histogram.ts";
import type { Runtime } from "../../cri/runtime.ts";

/** The methods that call the runtime, by the operation that they are counted as. */
const operations: Partial<Record<keyof Runtime, string>> = {
  version: "version",
  status: "status",
  updatePodCidrs: "update_runtime_config",
  runPodSandbox: "run_podsandbox",
  stopPodSandbox: "stop_podsandbox",
  removePodSandbox: "remove_podsandbox",
  podSandboxStatus: "podsandbox_status",
  listPodSandboxes: "list_podsandbox",
  createContainer: "create_container",
  startContainer: "start_container",
  stopContainer: "stop_container",
  removeContainer: "remove_container",
  containerStatus: "container_status",
  listContainers: "list_containers",
  updateContainerResources: "update_container",
  checkpointContainer: "checkpoint_container",
  execSync: "exec_sync",
  exec: "exec",
  attach: "attach",
  portForward: "port_forward",
  listImages: "list_images",
  imageStatus: "image_status",
  pullImage: "pull_image",
  removeImage: "remove_image",
  imageFsInfo: "image_fs_info",
  containerStats: "list_container_stats",
};

/** 5 ms, each 2.5 times the one before. */
const bounds = Array.from({ length: 14 }, (_, step) => 0.005 * 2.5 ** step);

interface Counted {
  errors: number;
  readonly durations: Histogram;
}

const sandboxOperation = "run_podsandbox";
const handlerOf = ([, handler]: readonly unknown[]): string =>
  typeof handler === "string" ? handler : "";
const handlerLabels = ["runtime_handler"];

export class RuntimeMetrics {
  readonly #sandboxes = new Histograms(
    {
      name: "kubelet_run_podsandbox_duration_seconds",
      help: "[ALPHA] How long making pods' sandboxes took, by the runtime's handler.",
      labels: handlerLabels,
    },
    usualSeconds,
  );
  readonly #sandboxErrors = new Counters({
    name: "kubelet_run_podsandbox_errors_total",
    help: "[ALPHA] Sandboxes of pods that could not be made, by the runtime's handler.",
    labels: handlerLabels,
  });
  readonly #counted = new Map<string, Counted>();

  /** The same runtime; only what `operations` names is looked at. */
  observe(runtime: Runtime): Runtime {
    const wrapped = new Map<PropertyKey, unknown>();
    return new Proxy(runtime, {
      get: (target, name) => {
        const known = wrapped.get(name);
        if (known !== undefined) return known;
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        const call = value.bind(target) as (...args: unknown[]) => unknown;
        const operation = operations[name as keyof Runtime];
        const made = operation ? this.#timed(operation, call) : call;
        wrapped.set(name, made);
        return made;
      },
    });
  }

  #timed(
    operation: string,
    call: (...args: unknown[]) => unknown,
  ): (...args: unknown[]) => Promise<unknown> {
    return async (...args) => {
      let counted = this.#counted.get(operation);
      if (!counted)
        this.#counted.set(
          operation,
          (counted = { errors: 0, durations: new Histogram(bounds) }),
        );
      const startMs = performance.now();
      try {
        return await call(...args);
      } catch (error) {
        counted.errors++;
        if (operation === sandboxOperation)
          this.#sandboxErrors.count(handlerOf(args));
        throw error;
      } finally {
        const seconds = (performance.now() - startMs) / 1000;
        counted.durations.observe(seconds);
        if (operation === sandboxOperation)
          this.#sandboxes.observe(seconds, handlerOf(args));
      }
    };
  }

  families(): Family[] {
    const total = new Family(
      "kubelet_runtime_operations_total",
      "counter",
      "[ALPHA] Cumulative number of runtime operations by operation type.",
    );
    const durations = new Family(
      "kubelet_runtime_operations_duration_seconds",
      "histogram",
      "[ALPHA] Duration in seconds of runtime operations. Broken down by operation type.",
    );
    const errors = new Family(
      "kubelet_runtime_operations_errors_total",
      "counter",
      "[ALPHA] Cumulative number of runtime operation errors by operation type.",
    );
    for (const [operation_type, counted] of this.#counted) {
      total.add({ operation_type }, counted.durations.count);
      durations.addHistogram({ operation_type }, counted.durations);
      if (counted.errors > 0) errors.add({ operation_type }, counted.errors);
    }
    const made = this.#counted.get(sandboxOperation);
    return [
      total,
      durations,
      errors,
      this.#sandboxes.family(),
      this.#sandboxErrors.family(),
      // A pod is started by making its sandbox.
      new Family(
        "kubelet_started_pods_total",
        "counter",
        "[ALPHA] Pods that were started, or tried to be.",
      ).add({}, made?.durations.count ?? 0),
      new Family(
        "kubelet_started_pods_errors_total",
        "counter",
        "[ALPHA] Pods that could not be started.",
      ).add({}, made?.errors ?? 0),
    ];
  }
}
