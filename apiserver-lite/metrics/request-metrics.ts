// What requests leave in /metrics, under the reference's names and labels: how many with which status, how long they
// took, how long of that counts for the service's objectives, and which long-running ones are open.
// Kept in plain maps, bounded; text is made when somebody asks.
import type { RequestInfo } from "../request/request-info.ts";

const bounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8,
  10, 15, 20, 30, 45, 60,
];
/** The objectives' histogram has no shorter ones. */
const minObjectiveSeconds = 0.05;

type Labels = Readonly<Record<string, string>>;

interface Series {
  readonly labels: Labels;
  count: number;
  sum: number;
  readonly buckets: number[];
  readonly byCode: Map<number, number>;
  open: number;
}

/** Bound of distinct label sets; what comes after is not counted. */
const maxSeries = 5000;

const verbs: Readonly<Record<string, string>> = {
  create: "POST",
  update: "PUT",
};

export type MetricHead = (name: string, type: string, help: string) => void;

export class RequestMetrics {
  readonly #series = new Map<string, Series>();

  finished(info: RequestInfo, status: number, startedMs: number): void {
    const series = this.#of(info);
    if (!series) return;
    series.byCode.set(status, (series.byCode.get(status) ?? 0) + 1);
    if (info.verb === "watch") return;
    const seconds = (performance.now() - startedMs) / 1000;
    series.count++;
    series.sum += seconds;
    const bucket = bounds.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) series.buckets[bucket]!++;
  }

  /** A long-running request begins; to be called back when it is over. */
  began(info: RequestInfo): (() => void) | undefined {
    const series = this.#of(info);
    if (!series) return undefined;
    series.open++;
    return () => void series.open--;
  }

  #of(info: RequestInfo): Series | undefined {
    const { group, version, resource, name, namespace } = info;
    const verb = verbs[info.verb] ?? info.verb.toUpperCase();
    const scope = !info.resourceRequest
      ? ""
      : name !== ""
        ? "resource"
        : namespace !== ""
          ? "namespace"
          : "cluster";
    // What is no resource is told by its path, without what follows it.
    const subresource = info.resourceRequest
      ? info.subresource
      : (/^\/[^/]*/.exec(info.path)?.[0] ?? "");
    const key = `${verb}|${group}|${version}|${resource}|${subresource}|${scope}`;
    let series = this.#series.get(key);
    if (!series) {
      if (this.#series.size >= maxSeries) return undefined;
      const component = info.resourceRequest ? "apiserver" : "";
      series = {
        labels: {
          component,
          group,
          resource,
          scope,
          subresource,
          verb,
          version,
        },
        count: 0,
        sum: 0,
        buckets: bounds.map(() => 0),
        byCode: new Map(),
        open: 0,
      };
      this.#series.set(key, series);
    }
    return series;
  }

  write(lines: string[], head: MetricHead): void {
    const all = [...this.#series.values()];
    head(
      "apiserver_request_total",
      "counter",
      "Requests, by what they asked for and their status.",
    );
    for (const { labels, byCode } of all)
      for (const [code, count] of byCode)
        lines.push(
          `apiserver_request_total${labelText({ code: String(code), ...labels, dry_run: "" })} ${count}`,
        );
    const timed = all.filter(({ count }) => count > 0);
    const durations = "apiserver_request_duration_seconds";
    head(durations, "histogram", "How long requests took.");
    for (const series of timed)
      writeHistogram(
        lines,
        durations,
        { ...series.labels, dry_run: "" },
        series,
      );
    const objectives = "apiserver_request_sli_duration_seconds";
    head(
      objectives,
      "histogram",
      "How long requests took, for the service's objectives.",
    );
    for (const series of timed)
      writeHistogram(
        lines,
        objectives,
        series.labels,
        series,
        minObjectiveSeconds,
      );
    const open = "apiserver_longrunning_requests";
    head(open, "gauge", "Long-running requests that are open.");
    for (const series of all)
      if (series.open > 0)
        lines.push(`${open}${labelText(series.labels)} ${series.open}`);
  }
}

function writeHistogram(
  lines: string[],
  name: string,
  labels: Labels,
  { count, sum, buckets }: Series,
  least = 0,
): void {
  let total = 0;
  for (const [index, bound] of bounds.entries()) {
    total += buckets[index]!;
    if (bound >= least)
      lines.push(
        `${name}_bucket${labelText({ ...labels, le: String(bound) })} ${total}`,
      );
  }
  lines.push(
    `${name}_bucket${labelText({ ...labels, le: "+Inf" })} ${count}`,
    `${name}_sum${labelText(labels)} ${sum}`,
    `${name}_count${labelText(labels)} ${count}`,
  );
}

export function labelText(labels: Labels): string {
  return `{${Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(",")}}`;
}
