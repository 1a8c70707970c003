// /metrics with the reference's names. prom-client loads with the first scrape; until then requests are only counted in
// plain maps, so that a server nobody scrapes pays next to nothing.
import type { Registry as MetricsRegistry } from "prom-client";
import type { AuditCounts } from "./audit/auditor.ts";
import { metricsType } from "./health/health.ts";
import type { Observer, PathHandler } from "./http/front.ts";
import type { RequestInfo } from "./http/request-info.ts";
import type { Registry } from "./registry/registry.ts";

const bounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8,
  10, 15, 20, 30, 45, 60,
];

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  count: number;
  sum: number;
  readonly buckets: number[];
}

export interface MetricsSources {
  readonly registry: Registry;
  readonly inFlight: () => { readOnly: number; mutating: number };
  readonly watches: () => number;
  /** Of the store; undefined when it is not known. */
  readonly databaseBytes: () => number | undefined;
  readonly countObjects: boolean;
  readonly audit: AuditCounts | undefined;
}

/** Bound of distinct label sets; what comes after is counted under none. */
const maxSeries = 5000;

export class Metrics implements Observer {
  readonly #requests = new Map<string, Series>();
  #prom: Promise<{ process: MetricsRegistry }> | undefined;

  constructor(private readonly sources: MetricsSources) {}

  finished(
    info: RequestInfo,
    _method: string,
    status: number,
    startedMs: number,
  ): void {
    const scope =
      info.name !== ""
        ? "resource"
        : info.namespace !== ""
          ? "namespace"
          : "cluster";
    const verb = info.verb.toUpperCase();
    const key = `${verb}|${info.group}|${info.version}|${info.resource}|${info.subresource}|${scope}|${status}`;
    let series = this.#requests.get(key);
    if (!series) {
      if (this.#requests.size >= maxSeries) return;
      series = {
        labels: {
          verb,
          group: info.group,
          version: info.version,
          resource: info.resource,
          subresource: info.subresource,
          scope: info.resourceRequest ? scope : "",
          code: String(status),
        },
        count: 0,
        sum: 0,
        buckets: bounds.map(() => 0),
      };
      this.#requests.set(key, series);
    }
    const seconds = (performance.now() - startedMs) / 1000;
    series.count++;
    if (info.verb === "watch") return;
    series.sum += seconds;
    const bucket = bounds.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) series.buckets[bucket]!++;
  }

  paths(): PathHandler[] {
    return [
      {
        path: "/metrics",
        handle: async (exchange, asked) => {
          const { process } = await (this.#prom ??= load());
          const body = this.#own() + (await process.metrics());
          exchange.respond(
            200,
            {
              ...asked.headers,
              "content-type": metricsType,
            },
            body,
          );
        },
      },
    ];
  }

  #own(): string {
    const lines: string[] = [];
    const head: Head = (name, type, help) =>
      void lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    head(
      "apiserver_request_total",
      "counter",
      "Counter of apiserver requests broken out for each verb, group, version, resource, scope, component, and HTTP response code.",
    );
    for (const { labels, count } of this.#requests.values())
      lines.push(
        `apiserver_request_total${text({ ...labels, component: "apiserver", dry_run: "" })} ${count}`,
      );
    head(
      "apiserver_request_duration_seconds",
      "histogram",
      "Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.",
    );
    for (const { labels, count, sum, buckets } of this.#requests.values()) {
      if (labels["verb"] === "WATCH") continue;
      const { code: _, ...rest } = labels;
      const shown = {
        ...rest,
        component: "apiserver",
        dry_run: "",
        code: labels["code"]!,
      };
      let total = 0;
      bounds.forEach((bound, index) => {
        total += buckets[index]!;
        lines.push(
          `apiserver_request_duration_seconds_bucket${text({ ...shown, le: String(bound) })} ${total}`,
        );
      });
      lines.push(
        `apiserver_request_duration_seconds_bucket${text({ ...shown, le: "+Inf" })} ${count}`,
        `apiserver_request_duration_seconds_sum${text(shown)} ${sum}`,
        `apiserver_request_duration_seconds_count${text(shown)} ${count}`,
      );
    }
    const { inFlight, watches } = this.sources;
    const { readOnly, mutating } = inFlight();
    head(
      "apiserver_current_inflight_requests",
      "gauge",
      "Maximal number of currently used inflight request limit of this apiserver per request kind in last second.",
    );
    lines.push(
      `apiserver_current_inflight_requests{request_kind="mutating"} ${mutating}`,
      `apiserver_current_inflight_requests{request_kind="readOnly"} ${readOnly}`,
    );
    head(
      "apiserver_longrunning_requests",
      "gauge",
      "Gauge of all active long-running apiserver requests.",
    );
    lines.push(
      `apiserver_longrunning_requests{verb="WATCH",component="apiserver"} ${watches()}`,
    );
    this.#storage(lines, head);
    this.#audit(lines, head);
    return `${lines.join("\n")}\n`;
  }

  #storage(lines: string[], head: Head): void {
    const { registry, databaseBytes, countObjects } = this.sources;
    const bytes = databaseBytes();
    if (bytes !== undefined) {
      head(
        "apiserver_storage_size_bytes",
        "gauge",
        "Bytes the storage's database takes on the disk.",
      );
      lines.push(
        `apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} ${bytes}`,
      );
    }
    if (!countObjects) return;
    head(
      "apiserver_storage_objects",
      "gauge",
      "Number of stored objects at the time of last check split by kind.",
    );
    for (const kind of registry.storedKinds())
      lines.push(
        `apiserver_storage_objects${text({ resource: kind.group === "" ? kind.resource : `${kind.resource}.${kind.group}` })} ${kind.cache.size}`,
      );
  }

  #audit(lines: string[], head: Head): void {
    const { audit } = this.sources;
    head(
      "apiserver_audit_event_total",
      "counter",
      "Audit events generated and sent to the audit backend.",
    );
    lines.push(`apiserver_audit_event_total ${audit?.events ?? 0}`);
    head(
      "apiserver_audit_requests_rejected_total",
      "counter",
      "Requests rejected because their audit event could not be recorded.",
    );
    lines.push(
      `apiserver_audit_requests_rejected_total ${audit?.rejected ?? 0}`,
    );
    if (!audit) return;
    head(
      "apiserver_audit_level_total",
      "counter",
      "Audited requests by policy level.",
    );
    for (const [level, count] of audit.levels)
      lines.push(`apiserver_audit_level_total${text({ level })} ${count}`);
  }
}

type Head = (name: string, type: string, help: string) => void;

function text(labels: Readonly<Record<string, string>>): string {
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(",")}}`;
}

async function load(): Promise<{ process: MetricsRegistry }> {
  const { Registry: PromRegistry, collectDefaultMetrics } =
    await import("prom-client");
  const process = new PromRegistry();
  collectDefaultMetrics({ register: process });
  return { process };
}
