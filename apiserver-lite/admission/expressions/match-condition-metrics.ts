// The metrics of match conditions, of webhooks and policies alike, with the reference's names. Names come from
// configurations, so the rows are bounded: later ones are not counted.
import { Family } from "../../../api/metrics/family.ts";
import { Histogram } from "../../../api/metrics/histogram.ts";

/** Whose conditions they are, and for which request. */
interface ConditionLabels {
  readonly name: string;
  readonly kind: "webhook" | "policy";
  readonly type: "admit" | "validate" | "validating";
  readonly operation: string;
}

interface Row {
  readonly labels: Readonly<Record<string, string>>;
  readonly seconds: Histogram;
  failures: number;
  exclusions: number;
}

const bounds = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
const maxRows = 10_000;
const prefix = "apiserver_admission_match_condition";
const by =
  "identified by name of resource containing the match condition and broken out for each kind containing matchConditions (webhook or policy), operation and admission type (validate or admit).";

export class MatchConditionMetrics {
  readonly #rows = new Map<string, Row>();

  /** One evaluation that ended without a match, with as many conditions that failed. */
  evaluated(labels: ConditionLabels, seconds: number, failures: number): void {
    const row = this.#rowOf(labels);
    row?.seconds.observe(seconds);
    if (row) row.failures += failures;
  }

  /** A webhook is not called, as its conditions do not hold. */
  excluded(labels: ConditionLabels): void {
    const row = this.#rowOf(labels);
    if (row) row.exclusions++;
  }

  families(): Family[] {
    const failures = new Family(
      `${prefix}_evaluation_errors_total`,
      "counter",
      `Admission match condition evaluation errors count, ${by}`,
    );
    const seconds = new Family(
      `${prefix}_evaluation_seconds`,
      "histogram",
      "Admission match condition evaluation time in seconds, identified by name and broken out for each kind containing matchConditions (webhook or policy), operation and type (validate or admit).",
    );
    const exclusions = new Family(
      `${prefix}_exclusions_total`,
      "counter",
      `Admission match condition evaluation exclusions count, ${by}`,
    );
    for (const row of this.#rows.values()) {
      if (row.failures > 0) failures.add(row.labels, row.failures);
      if (row.seconds.count > 0) seconds.addHistogram(row.labels, row.seconds);
      if (row.exclusions > 0) exclusions.add(row.labels, row.exclusions);
    }
    return [failures, seconds, exclusions];
  }

  #rowOf({ name, kind, type, operation }: ConditionLabels): Row | undefined {
    const key = `${kind}/${type}/${operation}/${name}`;
    const known = this.#rows.get(key);
    if (known || this.#rows.size >= maxRows) return known;
    const labels = { name, kind, type, operation };
    const seconds = new Histogram(bounds);
    const row = { labels, seconds, failures: 0, exclusions: 0 };
    this.#rows.set(key, row);
    return row;
  }
}
