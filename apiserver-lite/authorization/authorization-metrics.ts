// The metrics of configured authorizers with the reference's names: what each decided, the match conditions and calls of
// webhooks, and the reloads of their configuration. Names come from configurations that change, so rows are bounded:
// later ones are not counted.
import { createHash } from "node:crypto";
import type {
  AccessAttributes,
  AccessDecision,
  Authorizer,
} from "../../api/contracts.ts";
import { Family, type Labels } from "../../api/metrics/family.ts";
import { Histogram } from "../../api/metrics/histogram.ts";

/** How a call of a webhook ended. */
export type CallResult = "success" | "error" | "timeout";

const maxRows = 1000;
const conditionBounds = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
const callBounds = [
  ...[0.005, 0.01, 0.025, 0.05, 0.1, 0.25],
  ...[0.5, 1, 2.5, 5, 10],
];
const prefix = "apiserver_authorization";

/** Rows by their labels; undefined: there are as many as there may be. */
class Rows<Row> {
  readonly #rows = new Map<string, { labels: Labels; row: Row }>();

  constructor(private readonly create: () => Row) {}

  of(labels: Labels): Row | undefined {
    const key = JSON.stringify(labels);
    const known = this.#rows.get(key);
    if (known) return known.row;
    if (this.#rows.size >= maxRows) return undefined;
    const row = this.create();
    this.#rows.set(key, { labels, row });
    return row;
  }

  each(visit: (labels: Labels, row: Row) => void): void {
    for (const { labels, row } of this.#rows.values()) visit(labels, row);
  }
}

interface Count {
  value: number;
}

const counts = (): Rows<Count> => new Rows<Count>(() => ({ value: 0 }));

function counted(rows: Rows<Count>, name: string, help: string): Family {
  const family = new Family(`${prefix}_${name}`, "counter", help);
  rows.each((labels, { value }) => family.add(labels, value));
  return family;
}

function timed(rows: Rows<Histogram>, name: string, help: string): Family {
  const family = new Family(`${prefix}_${name}`, "histogram", help);
  rows.each((labels, seconds) => family.addHistogram(labels, seconds));
  return family;
}

export class AuthorizationMetrics {
  readonly #decisions = counts();
  readonly #conditionErrors = counts();
  readonly #exclusions = counts();
  readonly #conditionSeconds = new Rows(() => new Histogram(conditionBounds));
  readonly #calls = counts();
  readonly #failOpens = counts();
  readonly #callSeconds = new Rows(() => new Histogram(callBounds));
  readonly #reloads = counts();
  readonly #reloadTimes = counts();
  readonly #serverHash: string;

  /** @param serverId of the API server */
  constructor(serverId: string) {
    const hash = createHash("sha256").update(serverId);
    this.#serverHash = `sha256:${hash.digest("hex")}`;
  }

  /** The same authorizer; what it allows and denies is counted. */
  counting(type: string, name: string, authorizer: Authorizer): Authorizer {
    // Looked up once: every request is counted.
    const rows: { allow?: Count | undefined; deny?: Count | undefined } = {};
    const count = (answer: AccessDecision): AccessDecision => {
      if (answer.decision === "allow")
        rows.allow ??= this.#decisions.of({ type, name, decision: "allowed" });
      if (answer.decision === "deny")
        rows.deny ??= this.#decisions.of({ type, name, decision: "denied" });
      const row =
        answer.decision === "no-opinion" ? undefined : rows[answer.decision];
      if (row) row.value++;
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
    const labels = { type: "Webhook", name };
    this.#conditionSeconds.of(labels)?.observe(seconds);
    const errors = result.failed && this.#conditionErrors.of(labels);
    if (errors) errors.value++;
    const exclusions = result.excluded && this.#exclusions.of(labels);
    if (exclusions) exclusions.value++;
  }

  called(name: string, result: CallResult, seconds: number): void {
    const row = this.#calls.of({ name, result });
    if (row) row.value++;
    this.#callSeconds.of({ name, result })?.observe(seconds);
  }

  /** A webhook that gave no answer counts as one without an opinion. */
  failedOpen(name: string, result: CallResult): void {
    const row = this.#failOpens.of({ name, result });
    if (row) row.value++;
  }

  reloaded(status: "success" | "failure", nowMs: number): void {
    const labels = { status, apiserver_id_hash: this.#serverHash };
    const row = this.#reloads.of(labels);
    if (row) row.value++;
    const time = this.#reloadTimes.of(labels);
    if (time) time.value = nowMs / 1000;
  }

  families(): Family[] {
    const times = new Family(
      `${prefix}_config_controller_automatic_reload_last_timestamp_seconds`,
      "gauge",
      "Timestamp of the last automatic reload of authorization configuration split by status and apiserver identity.",
    );
    this.#reloadTimes.each((labels, { value }) => times.add(labels, value));
    return [
      counted(
        this.#decisions,
        "decisions_total",
        "Total number of terminal decisions made by an authorizer split by authorizer type, name, and decision.",
      ),
      counted(
        this.#conditionErrors,
        "match_condition_evaluation_errors_total",
        "Total number of errors when an authorization webhook encounters a match condition error split by authorizer type and name.",
      ),
      timed(
        this.#conditionSeconds,
        "match_condition_evaluation_seconds",
        "Authorization match condition evaluation time in seconds, split by authorizer type and name.",
      ),
      counted(
        this.#exclusions,
        "match_condition_exclusions_total",
        "Total number of exclusions when an authorization webhook is skipped because match conditions exclude it.",
      ),
      timed(
        this.#callSeconds,
        "webhook_duration_seconds",
        "Request latency in seconds.",
      ),
      counted(
        this.#failOpens,
        "webhook_evaluations_fail_open_total",
        "NoOpinion results due to webhook timeout or error.",
      ),
      counted(
        this.#calls,
        "webhook_evaluations_total",
        "Round-trips to authorization webhooks.",
      ),
      counted(
        this.#reloads,
        "config_controller_automatic_reloads_total",
        "Total number of automatic reloads of authorization configuration split by status and apiserver identity.",
      ),
      times,
    ];
  }
}
