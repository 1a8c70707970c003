// What requests leave in /metrics, under the reference's names and labels: how many with which status, how long they
// took, how long of that counts for the service's objectives, and which long-running ones are open.
// The counts are in plain maps, bounded; each scrape makes the families.
import { Family, type Labels } from "../../api/metrics/family.ts";
import { Histogram } from "../../api/metrics/histogram.ts";
import type { RequestInfo } from "../request/request-info.ts";

const bounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8,
  10, 15, 20, 30, 45, 60,
];
/** The objectives' histogram has no shorter ones. */
const minObjectiveSeconds = 0.05;

interface Series {
  readonly labels: Labels;
  /** Seconds. */
  readonly took: Histogram;
  readonly byCode: Map<number, number>;
  open: number;
}

/** What a resource's requests are recorded under, found without making a key. */
interface Known {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly subresource: string;
  readonly scope: string;
  readonly series: Series;
}

/** Of one resource; further ones are found by their keys. */
const maxKnown = 32;

/** Bound of distinct label sets; later sets are not counted. */
const maxSeries = 5000;

const verbs: Readonly<Record<string, string>> = {
  create: "POST",
  update: "PUT",
};

export class RequestMetrics {
  readonly #series = new Map<string, Series>();
  readonly #byResource = new Map<string, Known[]>();

  finished(info: RequestInfo, status: number, startedMs: number): void {
    const series = this.#of(info);
    if (!series) return;
    series.byCode.set(status, (series.byCode.get(status) ?? 0) + 1);
    if (info.verb === "watch") return;
    series.took.observe((performance.now() - startedMs) / 1000);
  }

  /** A long-running request begins; to be called back when it is over. */
  began(info: RequestInfo): (() => void) | undefined {
    const series = this.#of(info);
    if (!series) return undefined;
    series.open++;
    return () => void series.open--;
  }

  #of(info: RequestInfo): Series | undefined {
    if (!info.resourceRequest) return this.#ofKey(info, "");
    const { group, version, resource, subresource, verb } = info;
    const scope = scopeOf(info);
    let known = this.#byResource.get(resource);
    if (known)
      for (const one of known)
        if (
          one.verb === verb &&
          one.scope === scope &&
          one.group === group &&
          one.version === version &&
          one.subresource === subresource
        )
          return one.series;
    const series = this.#ofKey(info, scope);
    if (!series) return undefined;
    if (!known) this.#byResource.set(resource, (known = []));
    if (known.length < maxKnown)
      known.push({ verb, group, version, subresource, scope, series });
    return series;
  }

  /** Undefined: there are too many. */
  #ofKey(info: RequestInfo, scope: string): Series | undefined {
    const { group, version, resource } = info;
    const verb = verbs[info.verb] ?? info.verb.toUpperCase();
    // A request for no resource is recorded under its path's first segment.
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
        took: new Histogram(bounds),
        byCode: new Map(),
        open: 0,
      };
      this.#series.set(key, series);
    }
    return series;
  }

  families(): Family[] {
    const requests = new Family(
      "apiserver_request_total",
      "counter",
      "Requests, by what they asked for and their status.",
    );
    const durations = new Family(
      "apiserver_request_duration_seconds",
      "histogram",
      "How long requests took.",
    );
    const objectives = new Family(
      "apiserver_request_sli_duration_seconds",
      "histogram",
      "How long requests took, for the service's objectives.",
    );
    const longRunning = new Family(
      "apiserver_longrunning_requests",
      "gauge",
      "Long-running requests that are open.",
    );
    for (const { labels, byCode, took, open } of this.#series.values()) {
      const dryRun = { ...labels, dry_run: "" };
      for (const [code, count] of byCode)
        requests.add({ code: String(code), ...dryRun }, count);
      if (took.count > 0) {
        durations.addHistogram(dryRun, took);
        objectives.addHistogram(labels, took, minObjectiveSeconds);
      }
      if (open > 0) longRunning.add(labels, open);
    }
    return [requests, durations, objectives, longRunning];
  }
}

function scopeOf({ name, namespace }: RequestInfo): string {
  if (name !== "") return "resource";
  return namespace !== "" ? "namespace" : "cluster";
}
