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
const sizeBounds = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

interface Series {
  readonly labels: Labels;
  /** Seconds. */
  readonly took: Histogram;
  readonly byCode: Map<number, number>;
  open: number;
  /** Those of the server itself. */
  own: number;
  /** Bytes of answers; only of reads. */
  readonly sizes: Histogram | undefined;
  readonly deprecated: boolean;
  /** By the status with which the server gave requests up; made with the first. */
  terminations: Map<number, number> | undefined;
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

  /** @param isServed are there such requests? Others leave no series, which clients could make as many of as they like */
  constructor(
    private readonly isServed: (info: RequestInfo) => boolean = () => true,
    private readonly isDeprecated: (info: RequestInfo) => boolean = () => false,
  ) {}

  finished(
    info: RequestInfo,
    status: number,
    startedMs: number,
    sentBytes?: number,
  ): void {
    const series = this.#of(info, status);
    if (!series) return;
    series.byCode.set(status, (series.byCode.get(status) ?? 0) + 1);
    if (sentBytes === undefined) series.own++;
    if (info.verb === "watch") return;
    series.took.observe((performance.now() - startedMs) / 1000);
    if (sentBytes !== undefined) series.sizes?.observe(sentBytes);
  }

  /** The server gave the request up for its own sake. */
  terminated(info: RequestInfo, status: number): void {
    const series = this.#of(info, status);
    if (!series) return;
    const counts = (series.terminations ??= new Map<number, number>());
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }

  /** A long-running request begins; to be called back when it is over. */
  began(info: RequestInfo): (() => void) | undefined {
    const series = this.#of(info, 0);
    if (!series) return undefined;
    series.open++;
    return () => void series.open--;
  }

  /** The resource is no longer served: its series end. */
  forget(group: string, version: string, resource: string): void {
    const known = this.#byResource.get(resource);
    if (!known) return;
    const rest = known.filter(
      (one) => one.group !== group || one.version !== version,
    );
    const isIts = ({ labels }: Series): boolean =>
      labels["resource"] === resource &&
      labels["group"] === group &&
      labels["version"] === version;
    for (const { series, verb, subresource, scope } of known)
      if (isIts(series))
        this.#series.delete(
          keyOf({ group, version, resource, verb, subresource, scope }),
        );
    if (known.length === maxKnown)
      for (const [key, series] of this.#series)
        if (isIts(series)) this.#series.delete(key);
    if (rest.length > 0) this.#byResource.set(resource, rest);
    else this.#byResource.delete(resource);
  }

  #of(info: RequestInfo, status: number): Series | undefined {
    if (!info.resourceRequest) return this.#ofKey(info, "", status);
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
    const series = this.#ofKey(info, scope, status);
    if (!series) return undefined;
    if (!known) this.#byResource.set(resource, (known = []));
    if (known.length < maxKnown)
      known.push({ verb, group, version, subresource, scope, series });
    return series;
  }

  /** Undefined: there are too many, or there are no such requests. */
  #ofKey(info: RequestInfo, scope: string, status: number): Series | undefined {
    const { group, version, resource } = info;
    // A request for no resource is recorded under its path's first segment.
    const subresource = info.resourceRequest
      ? info.subresource
      : (/^\/[^/]*/.exec(info.path)?.[0] ?? "");
    const key = keyOf({ ...info, subresource, scope });
    let series = this.#series.get(key);
    if (!series) {
      if (this.#series.size >= maxSeries) return undefined;
      if (info.resourceRequest ? !this.isServed(info) : status >= 400)
        return undefined;
      const verb = verbOf(info);
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
        own: 0,
        sizes:
          verb === "GET" || verb === "LIST"
            ? new Histogram(sizeBounds)
            : undefined,
        terminations: undefined,
        deprecated: info.resourceRequest && this.isDeprecated(info),
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
    const sizes = new Family(
      "apiserver_response_sizes",
      "histogram",
      "Bytes of the answers to reads.",
    );
    const series = this.#series.values();
    for (const { labels, byCode, took, open, sizes: bytes } of series) {
      const dryRun = { ...labels, dry_run: "" };
      for (const [code, count] of byCode)
        requests.add({ code: String(code), ...dryRun }, count);
      if (took.count > 0) {
        durations.addHistogram(dryRun, took);
        objectives.addHistogram(labels, took, minObjectiveSeconds);
      }
      if (open > 0) longRunning.add(labels, open);
      if (bytes && bytes.count > 0) sizes.addHistogram(labels, bytes);
    }
    return [
      ...[requests, durations, objectives, longRunning, sizes],
      this.#deprecatedFamily(),
      this.#ownFamily(),
      this.#terminationFamily(),
    ];
  }

  #terminationFamily(): Family {
    const family = new Family(
      "apiserver_request_terminations_total",
      "counter",
      "Requests that the server gave up for its own sake: it had too many, or their time was over.",
    );
    for (const { labels, terminations } of this.#series.values())
      for (const [status, count] of terminations ?? [])
        family.add({ ...labels, code: String(status) }, count);
    return family;
  }

  /** In-process requests; several series of a resource are one here. */
  #ownFamily(): Family {
    const family = new Family(
      "apiserver_selfrequest_total",
      "counter",
      "Requests that the server's own parts made.",
    );
    const sums = new Map<string, { labels: Labels; count: number }>();
    for (const { labels, own } of this.#series.values()) {
      const { verb = "", resource = "", subresource = "" } = labels;
      if (own === 0 || resource === "") continue;
      const key = `${verb}|${resource}|${subresource}`;
      const known = sums.get(key);
      if (known) known.count += own;
      else
        sums.set(key, { labels: { verb, resource, subresource }, count: own });
    }
    for (const { labels, count } of sums.values()) family.add(labels, count);
    return family;
  }

  /** Which deprecated versions were asked for; those of custom resources do not say when they will go. */
  #deprecatedFamily(): Family {
    const family = new Family(
      "apiserver_requested_deprecated_apis",
      "gauge",
      "Deprecated versions of resources that were asked for.",
    );
    const seen = new Set<string>();
    for (const { labels, deprecated, byCode } of this.#series.values()) {
      if (!deprecated || byCode.size === 0) continue;
      const { group = "", version = "", resource = "" } = labels;
      const subresource = labels["subresource"] ?? "";
      const key = `${group}/${version}/${resource}/${subresource}`;
      if (seen.has(key)) continue;
      seen.add(key);
      family.add(
        { group, version, resource, subresource, removed_release: "" },
        1,
      );
    }
    return family;
  }
}

const verbOf = ({ verb }: Pick<Known, "verb">): string =>
  verbs[verb] ?? verb.toUpperCase();

const keyOf = (
  of: Omit<Known, "series"> & { readonly resource: string },
): string =>
  `${verbOf(of)}|${of.group}|${of.version}|${of.resource}|${of.subresource}|${of.scope}`;

function scopeOf({ name, namespace }: RequestInfo): string {
  if (name !== "") return "resource";
  return namespace !== "" ? "namespace" : "cluster";
}
