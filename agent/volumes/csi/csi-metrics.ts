// How long calls of CSI drivers took, by driver, method and status, with the reference's name and buckets.
import { Histograms } from "../../../api/metrics/counted.ts";
import type { Family } from "../../../api/metrics/family.ts";
import { grpcCodeName } from "../../../grpc/channel.ts";

export class CsiMetrics {
  readonly #calls = new Histograms(
    {
      name: "csi_operations_seconds",
      help: "How long calls of CSI drivers took, by method and gRPC status.",
      labels: ["driver_name", "method_name", "grpc_status_code", "migrated"],
    },
    [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600],
  );

  /** @param error undefined: it succeeded */
  observe(
    driver: string,
    method: string,
    seconds: number,
    error?: unknown,
  ): void {
    const status = error === undefined ? "OK" : grpcCodeName(error);
    this.#calls.observe(seconds, driver, method, status, "false");
  }

  families(): Family[] {
    return [this.#calls.family()];
  }
}
