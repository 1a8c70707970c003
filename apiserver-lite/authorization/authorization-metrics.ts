// The metrics of configured authorizers with the reference's names: what each decided, the match conditions and calls of
// webhooks, and the reloads of their configuration. Names come from configurations that change, so rows are bounded:
// later ones are not counted.
import { createHash } from "node:crypto";
import type {
  AccessAttributes,
  AccessDecision,
  Authorizer,
} from "../../api/contracts.ts";
import {
  Counters,
  Histograms,
  usualSeconds,
} from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";

/** How a call of a webhook ended. */
export type CallResult = "success" | "error" | "timeout";

const prefix = "apiserver_authorization";

export class AuthorizationMetrics {
  readonly #decisions = new Counters({
    name: `${prefix}_decisions_total`,
    help: "Total number of terminal decisions made by an authorizer split by authorizer type, name, and decision.",
    labels: ["type", "name", "decision"],
  });
  readonly #conditionErrors = new Counters({
    name: `${prefix}_match_condition_evaluation_errors_total`,
    help: "Total number of errors when an authorization webhook encounters a match condition error split by authorizer type and name.",
    labels: ["type", "name"],
  });
  readonly #conditionSeconds = new Histograms(
    {
      name: `${prefix}_match_condition_evaluation_seconds`,
      help: "Authorization match condition evaluation time in seconds, split by authorizer type and name.",
      labels: ["type", "name"],
    },
    [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
  );
  readonly #exclusions = new Counters({
    name: `${prefix}_match_condition_exclusions_total`,
    help: "Total number of exclusions when an authorization webhook is skipped because match conditions exclude it.",
    labels: ["type", "name"],
  });
  readonly #callSeconds = new Histograms(
    {
      name: `${prefix}_webhook_duration_seconds`,
      help: "Request latency in seconds.",
      labels: ["name", "result"],
    },
    usualSeconds,
  );
  readonly #failOpens = new Counters({
    name: `${prefix}_webhook_evaluations_fail_open_total`,
    help: "NoOpinion results due to webhook timeout or error.",
    labels: ["name", "result"],
  });
  readonly #calls = new Counters({
    name: `${prefix}_webhook_evaluations_total`,
    help: "Round-trips to authorization webhooks.",
    labels: ["name", "result"],
  });
  readonly #reloads = new Counters({
    name: `${prefix}_config_controller_automatic_reloads_total`,
    help: "Total number of automatic reloads of authorization configuration split by status and apiserver identity.",
    labels: ["status", "apiserver_id_hash"],
  });
  readonly #reloadTimes = new Counters(
    {
      name: `${prefix}_config_controller_automatic_reload_last_timestamp_seconds`,
      help: "Timestamp of the last automatic reload of authorization configuration split by status and apiserver identity.",
      labels: ["status", "apiserver_id_hash"],
    },
    "gauge",
  );
  readonly #serverHash: string;

  /** @param serverId of the API server */
  constructor(serverId: string) {
    const hash = createHash("sha256").update(serverId);
    this.#serverHash = `sha256:${hash.digest("hex")}`;
  }

  /** The same authorizer; what it allows and denies is counted. */
  counting(type: string, name: string, authorizer: Authorizer): Authorizer {
    // Looked up once: every request is counted.
    const rows: Partial<Record<"allow" | "deny", { count: number }>> = {};
    const row = (
      decision: "allow" | "deny",
      shown: string,
    ): { count: number } | undefined => {
      const known = rows[decision] ?? this.#decisions.at(type, name, shown);
      if (known) rows[decision] = known;
      return known;
    };
    const count = (answer: AccessDecision): AccessDecision => {
      const { decision } = answer;
      if (decision !== "no-opinion") {
        const counted = row(
          decision,
          decision === "allow" ? "allowed" : "denied",
        );
        if (counted) counted.count++;
      }
      return answer;
    };
    return {
      authorize(attributes: AccessAttributes) {
        const answer = authorizer.authorize(attributes);
        return answer instanceof Promise ? answer.then(count) : count(answer);
      },
    };
  }

  /** One evaluation of a webhook's match conditions. */
  evaluated(
    name: string,
    seconds: number,
    result: { readonly failed: boolean; readonly excluded: boolean },
  ): void {
    const labels = ["Webhook", name] as const;
    this.#conditionSeconds.observe(seconds, ...labels);
    if (result.failed) this.#conditionErrors.count(...labels);
    if (result.excluded) this.#exclusions.count(...labels);
  }

  called(name: string, result: CallResult, seconds: number): void {
    this.#calls.count(name, result);
    this.#callSeconds.observe(seconds, name, result);
  }

  /** A webhook that gave no answer counts as one without an opinion. */
  failedOpen(name: string, result: CallResult): void {
    this.#failOpens.count(name, result);
  }

  reloaded(status: "success" | "failure", nowMs: number): void {
    this.#reloads.count(status, this.#serverHash);
    this.#reloadTimes.set(nowMs / 1000, status, this.#serverHash);
  }

  families(): Family[] {
    return [
      this.#decisions,
      this.#conditionErrors,
      this.#conditionSeconds,
      this.#exclusions,
      this.#callSeconds,
      this.#failOpens,
      this.#calls,
      this.#reloads,
      this.#reloadTimes,
    ].map((each) => each.family());
  }
}
