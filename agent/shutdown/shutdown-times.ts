// When the machine last began and ended to shut down in order, for metrics: kept in a file, as both are read after the boot.
import { readFileSync, writeFileSync } from "node:fs";
import { Family } from "../../api/metrics/family.ts";

interface Times {
  startTime?: number;
  endTime?: number;
}

export class ShutdownTimes {
  #times: Times = {};

  /** @param file ROOT/graceful_node_shutdown_state */
  constructor(private readonly file: string) {
    try {
      const read = JSON.parse(readFileSync(file, "utf8")) as Times;
      for (const name of ["startTime", "endTime"] as const)
        if (typeof read[name] === "number") this.#times[name] = read[name];
    } catch {
      // The machine never shut down in order.
    }
  }

  began(atMs: number): void {
    this.#keep({ startTime: atMs });
  }

  ended(atMs: number): void {
    this.#keep({ ...this.#times, endTime: atMs });
  }

  families(): Family[] {
    const { startTime = 0, endTime = 0 } = this.#times;
    return [
      new Family(
        "kubelet_graceful_shutdown_start_time_seconds",
        "gauge",
        "[ALPHA] Last graceful shutdown start time since unix epoch in seconds",
      ).add({}, startTime / 1000),
      new Family(
        "kubelet_graceful_shutdown_end_time_seconds",
        "gauge",
        "[ALPHA] Last graceful shutdown start time since unix epoch in seconds",
      ).add({}, endTime / 1000),
    ];
  }

  #keep(times: Times): void {
    this.#times = times;
    try {
      writeFileSync(this.file, JSON.stringify(times), { mode: 0o600 });
    } catch {
      // Only metrics are lost.
    }
  }
}
