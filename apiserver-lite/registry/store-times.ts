// How long writes into the store take, by operation and resource, with the reference's names, which call every store etcd:
// dashboards of API servers show them. Reads are answered from memory and not counted.
import { Counters, Histograms } from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";
import {
  qualifiedResource,
  type GroupVersionResource,
} from "../../api/object.ts";

type Operation = "create" | "update" | "delete";

type Resource = Pick<GroupVersionResource, "group" | "resource">;

const labels = ["operation", "type"];

export class StoreTimes {
  readonly #took = new Histograms(
    {
      name: "etcd_request_duration_seconds",
      help: "How long writes into the store took.",
      labels,
    },
    [
      0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6,
      8, 10, 15, 20, 30, 45, 60,
    ],
  );
  readonly #requests = new Counters({
    name: "etcd_requests_total",
    help: "Writes into the store.",
    labels,
  });
  readonly #errors = new Counters({
    name: "etcd_request_errors_total",
    help: "Writes that the store could not make.",
    labels,
  });

  /** @param began of performance.now() @param failed a write that finds another revision has not failed */
  wrote(
    operation: Operation,
    of: Resource,
    began: number,
    failed = false,
  ): void {
    const type = qualifiedResource(of);
    this.#took.observe((performance.now() - began) / 1000, operation, type);
    this.#requests.count(operation, type);
    if (failed) this.#errors.count(operation, type);
  }

  /** The resource is gone: those who make definitions and delete them leave nothing. */
  forget(of: Resource): void {
    const gone = qualifiedResource(of);
    for (const each of [this.#took, this.#requests, this.#errors])
      each.forget(({ type }) => type === gone);
  }

  families(): Family[] {
    return [
      this.#took.family(),
      this.#requests.family(),
      this.#errors.family(),
    ];
  }
}
