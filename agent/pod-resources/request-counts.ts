// How often the pod resources API was asked, and how often it answered with an error, with the reference's names.
import { Counters } from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";

export type CountedMethod = "list" | "get_allocatable" | "get";

const titles: Readonly<Record<CountedMethod, string>> = {
  list: "List",
  get_allocatable: "GetAllocatableResources",
  get: "Get",
};

const counters = (name: string, help: string): Counters =>
  new Counters({
    name: `kubelet_pod_resources_endpoint_${name}`,
    help: `[ALPHA] ${help} Broken down by server api version.`,
    labels: ["server_api_version"],
  });

const ofMethods = (
  what: "requests" | "errors",
  ending: string,
): Readonly<Record<CountedMethod, Counters>> => {
  const of = (method: CountedMethod): Counters =>
    counters(
      `${what}_${method}`,
      `Number of requests to the PodResource ${titles[method]} endpoint${ending}.`,
    );
  return {
    list: of("list"),
    get_allocatable: of("get_allocatable"),
    get: of("get"),
  };
};

export class RequestCounts {
  readonly #all = counters(
    "requests_total",
    "Cumulative number of requests to the PodResource endpoint.",
  );
  readonly #requests = ofMethods("requests", "");
  readonly #errors = ofMethods("errors", " which returned error");

  /** The same answer. Of v1alpha1 the reference counts all requests in one, and no errors. */
  counted<T>(method: CountedMethod, answer: () => T): T {
    this.#all.count("v1");
    this.#requests[method].count("v1");
    try {
      return answer();
    } catch (error) {
      this.#errors[method].count("v1");
      throw error;
    }
  }

  alpha(): void {
    this.#all.count("v1alpha1");
  }

  families(): Family[] {
    return [
      this.#all,
      ...Object.values(this.#requests),
      ...Object.values(this.#errors),
    ].map((counters) => counters.family());
  }
}
