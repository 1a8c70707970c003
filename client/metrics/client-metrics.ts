// What a part's client asked of the API server, with the reference's names (rest_client_*): over HTTP each try, within the
// process each call. Waiting for a turn of a rate limit is no part of a request's time.
import { Counters, Histograms } from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";

/** No answer came. */
const noAnswer = "<error>";

export class ClientMetrics {
  readonly #requests = new Counters({
    name: "rest_client_requests_total",
    help: "Requests to the API server, by code, method and host.",
    labels: ["code", "method", "host"],
  });
  readonly #durations = new Histograms(
    {
      name: "rest_client_request_duration_seconds",
      help: "How long requests to the API server took, by method and host; watches until they began.",
      labels: ["verb", "host"],
    },
    [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
  );

  /** A request begins; the returned function ends it. @param code undefined: there was no answer */
  began(method: string, host: string): (code: number | undefined) => void {
    const startMs = performance.now();
    return (code) => {
      const seconds = (performance.now() - startMs) / 1000;
      const shown = code === undefined ? noAnswer : String(code);
      this.#requests.count(shown, method, host);
      this.#durations.observe(seconds, method, host);
    };
  }

  families(): Family[] {
    return [this.#requests.family(), this.#durations.family()];
  }
}
