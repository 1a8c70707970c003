// How long the work on claims took, with the reference's names: of a pod's claims as a whole, and of each call of a driver.
import { exponentialBounds, Histograms } from "../../../api/metrics/counted.ts";
import type { Family } from "../../../api/metrics/family.ts";

/** From 0.1 to 40 seconds in fifteen steps, as at the reference. */
const bounds = exponentialBounds(0.1, 400 ** (1 / 14), 15);

export class ClaimMetrics {
  readonly #operations = new Histograms(
    {
      name: "dra_operations_duration_seconds",
      help: "[ALPHA] Latency histogram in seconds for the duration of handling all ResourceClaims referenced by a pod when the pod starts or stops. Identified by the name of the operation (PrepareResources or UnprepareResources) and separated by the success of the operation. The number of failed operations is provided through the histogram's overall count.",
      labels: ["operation_name", "is_error"],
    },
    bounds,
  );
  readonly #calls = new Histograms(
    {
      name: "dra_grpc_operations_duration_seconds",
      help: "[ALPHA] Duration in seconds of the DRA gRPC operations",
      labels: ["driver_name", "method_name", "grpc_status_code"],
    },
    bounds,
  );

  async timed<T>(
    operation: "PrepareResources" | "UnprepareResources",
    work: Promise<T>,
  ): Promise<T> {
    const startMs = performance.now();
    const ended = (isError: boolean): void =>
      this.#operations.observe(
        (performance.now() - startMs) / 1000,
        ...[operation, String(isError)],
      );
    try {
      const result = await work;
      ended(false);
      return result;
    } catch (error) {
      ended(true);
      throw error;
    }
  }

  /** @returns to be called at the end, with the name of gRPC's code */
  called(driver: string, method: string): (code: string) => void {
    const startMs = performance.now();
    return (code) =>
      this.#calls.observe(
        (performance.now() - startMs) / 1000,
        ...[driver, method, code],
      );
  }

  families(): Family[] {
    return [this.#operations.family(), this.#calls.family()];
  }
}
