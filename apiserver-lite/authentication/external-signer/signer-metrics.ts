// The metrics of the external signer with the reference's names: its calls, and how old its keys are.
import { Family } from "../../../api/metrics/family.ts";
import { Histogram } from "../../../api/metrics/histogram.ts";

const prefix = "apiserver_externaljwt";
const secondsBounds = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];
/** The code of what failed before or after the call itself. */
const outsideOfCall = "unknown-non-grpc";

/** "OK", the name of gRPC's code, or that the failure was none of a call. */
function attemptCode(error: unknown): string {
  if (error === undefined) return "OK";
  let cause: unknown = error;
  while (cause instanceof Error) {
    const { code } = cause as { code?: unknown };
    if (cause.name === "SignerCallError" && typeof code === "string")
      return code;
    cause = cause.cause;
  }
  return outsideOfCall;
}

type Counts = Map<string, number>;

const counted = (counts: Counts, code: string): void => {
  counts.set(code, (counts.get(code) ?? 0) + 1);
};

export class SignerMetrics {
  readonly #calls = new Map<
    string,
    { method: string; code: string; row: Histogram }
  >();
  readonly #signs: Counts = new Map();
  readonly #fetches: Counts = new Map();
  #fetchedSeconds: number | undefined;
  #dataSeconds: number | undefined;

  /** @param code "OK" or the code's name */
  called(method: string, code: string, ms: number): void {
    const key = `${method} ${code}`;
    let call = this.#calls.get(key);
    if (!call)
      this.#calls.set(
        key,
        (call = { method, code, row: new Histogram(secondsBounds) }),
      );
    call.row.observe(ms / 1000);
  }

  signed(error?: unknown): void {
    counted(this.#signs, attemptCode(error));
  }

  fetchFailed(error: unknown): void {
    counted(this.#fetches, attemptCode(error));
  }

  /** @param dataSeconds since 1970, when the signer's own source was read */
  fetched(nowMs: number, dataSeconds: number): void {
    counted(this.#fetches, "OK");
    this.#fetchedSeconds = nowMs / 1000;
    this.#dataSeconds = dataSeconds;
  }

  families(): Family[] {
    const counter = (name: string, help: string, counts: Counts): Family => {
      const family = new Family(`${prefix}_${name}`, "counter", help);
      for (const [code, count] of counts) family.add({ code }, count);
      return family;
    };
    const gauge = (
      name: string,
      help: string,
      value: number | undefined,
    ): Family => new Family(`${prefix}_${name}`, "gauge", help).add({}, value);
    const calls = new Family(
      `${prefix}_request_duration_seconds`,
      "histogram",
      "How long calls of the external signer take.",
    );
    for (const { method, code, row } of this.#calls.values())
      calls.addHistogram({ code, method }, row);
    return [
      gauge(
        "fetch_keys_success_timestamp",
        "When the keys were last fetched.",
        this.#fetchedSeconds,
      ),
      gauge(
        "fetch_keys_data_timestamp",
        "How old the keys were by the external signer's own account.",
        this.#dataSeconds,
      ),
      counter(
        "fetch_keys_request_total",
        "How often the keys were asked for.",
        this.#fetches,
      ),
      counter(
        "sign_request_total",
        "How often a token was to be signed.",
        this.#signs,
      ),
      calls,
    ];
  }
}
