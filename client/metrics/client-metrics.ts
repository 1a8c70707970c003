// What a part's client asked of the API server, with the reference's names (rest_client_*): over HTTP each try, within the
// process each call. Waiting for a turn of a rate limit is no part of a request's time.
import { Counters, Histograms } from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";

const sizeBounds = [
  64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304,
  16_777_216,
];
const secondsBounds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const ofRequest = ["verb", "host"];

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
      labels: ofRequest,
    },
    secondsBounds,
  );
  readonly #waits = new Histograms(
    {
      name: "rest_client_rate_limiter_duration_seconds",
      help: "How long requests waited for their turn, by method and host.",
      labels: ofRequest,
    },
    secondsBounds,
  );
  readonly #sent = new Histograms(
    {
      name: "rest_client_request_size_bytes",
      help: "Bytes of the bodies of requests, by method and host.",
      labels: ofRequest,
    },
    sizeBounds,
  );
  readonly #received = new Histograms(
    {
      name: "rest_client_response_size_bytes",
      help: "Bytes of the bodies of answers, by method and host.",
      labels: ofRequest,
    },
    sizeBounds,
  );
  readonly #retries = new Counters({
    name: "rest_client_request_retries_total",
    help: "Requests that were made again, by the code of the answer before.",
    labels: ["code", ...ofRequest],
  });

  /**
   * A request begins; the returned function ends it. @param code undefined: there was no answer @param sentBytes of the
   * bodies, where there are any
   */
  began(
    method: string,
    host: string,
  ): (
    code: number | undefined,
    sentBytes?: number,
    receivedBytes?: number,
  ) => void {
    const startMs = performance.now();
    return (code, sentBytes, receivedBytes) => {
      const seconds = (performance.now() - startMs) / 1000;
      const shown = code === undefined ? noAnswer : String(code);
      this.#requests.count(shown, method, host);
      this.#durations.observe(seconds, method, host);
      if (sentBytes !== undefined) this.#sent.observe(sentBytes, method, host);
      if (receivedBytes !== undefined)
        this.#received.observe(receivedBytes, method, host);
    };
  }

  /** A request had to wait, or not, for its turn under a limit. */
  waited(method: string, host: string, ms: number): void {
    this.#waits.observe(ms / 1000, method, host);
  }

  retried(code: number, method: string, host: string): void {
    this.#retries.count(String(code), method, host);
  }

  families(): Family[] {
    return [
      this.#requests.family(),
      this.#durations.family(),
      this.#waits.family(),
      this.#sent.family(),
      this.#received.family(),
      this.#retries.family(),
    ];
  }
}
