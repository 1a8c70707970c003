// /metrics with the reference's names. prom-client loads with the first scrape; until then requests are only counted in
// plain maps, so that a server nobody scrapes pays next to nothing.
import type { Registry as MetricsRegistry } from "prom-client";
import type { AuditCounts } from "../audit/auditor.ts";
import { versionInfo } from "../discovery/version.ts";
import { metricsType } from "../health/health.ts";
import type { Observer, PathHandler } from "../front/front.ts";
import type { RequestInfo } from "../request/request-info.ts";
import type { LoopWatch } from "../loop/loop-watch.ts";
import type { Registry } from "../registry/registry.ts";
import {
  labelText,
  RequestMetrics,
  type MetricHead,
} from "./request-metrics.ts";
import type { MetricsFilter } from "../../api/metrics-filter.ts";

interface MetricsSources {
  readonly registry: Registry;
  readonly inFlight: () => { readOnly: number; mutating: number };
  /** Of the store; undefined when it is not known. */
  readonly databaseBytes: () => number | undefined;
  readonly countObjects: boolean;
  /** Of the store and the watch cache: how often one threw. */
  readonly listenerFailures: () => number;
  readonly audit: AuditCounts | undefined;
  readonly loopWatch: LoopWatch;
  /** Prometheus text of what else belongs to the process. */
  readonly more: () => string;
  /** What of it is shown. */
  readonly filter?: MetricsFilter | undefined;
}

export class Metrics implements Observer {
  readonly #requests = new RequestMetrics();
  #prom: Promise<{ process: MetricsRegistry }> | undefined;

  constructor(private readonly sources: MetricsSources) {}

  finished(
    info: RequestInfo,
    _method: string,
    status: number,
    startedMs: number,
  ): void {
    this.#requests.finished(info, status, startedMs);
  }

  began(info: RequestInfo): (() => void) | undefined {
    return this.#requests.began(info);
  }

  paths(): PathHandler[] {
    return [
      {
        path: "/metrics",
        handle: async (exchange, asked) => {
          const { process } = await (this.#prom ??= load());
          const body =
            this.#own() + this.sources.more() + (await process.metrics());
          const { filter } = this.sources;
          exchange.respond(
            200,
            {
              ...asked.headers,
              "content-type": metricsType,
            },
            filter ? filter(body) : body,
          );
        },
      },
    ];
  }

  #own(): string {
    const lines: string[] = [];
    const head: MetricHead = (name, type, help) =>
      void lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    this.#requests.write(lines, head);
    const { inFlight } = this.sources;
    const { readOnly, mutating } = inFlight();
    head(
      "apiserver_current_inflight_requests",
      "gauge",
      "Requests being answered.",
    );
    lines.push(
      `apiserver_current_inflight_requests{request_kind="mutating"} ${mutating}`,
      `apiserver_current_inflight_requests{request_kind="readOnly"} ${readOnly}`,
    );
    head(
      "apiserver_current_inqueue_requests",
      "gauge",
      "Requests waiting for their turn: none do.",
    );
    lines.push(
      `apiserver_current_inqueue_requests{request_kind="mutating"} 0`,
      `apiserver_current_inqueue_requests{request_kind="readOnly"} 0`,
    );
    const { gitCommit, gitTreeState, gitVersion, goVersion, ...version } =
      versionInfo;
    head("kubernetes_build_info", "gauge", "What was built, as /version says.");
    lines.push(
      `kubernetes_build_info${labelText({
        build_date: version.buildDate,
        compiler: version.compiler,
        git_commit: gitCommit,
        git_tree_state: gitTreeState,
        git_version: gitVersion,
        go_version: goVersion,
        major: version.major,
        minor: version.minor,
        platform: version.platform,
      })} 1`,
    );
    this.#loop(lines, head);
    this.#storage(lines, head);
    this.#audit(lines, head);
    return `${lines.join("\n")}\n`;
  }

  #loop(lines: string[], head: MetricHead): void {
    const { loopWatch } = this.sources;
    const { quantiles, maxSeconds, sumSeconds, count } = loopWatch.takeDelay();
    const delay = "orbit_event_loop_delay_seconds";
    head(
      delay,
      "summary",
      "How late the event loop ran its timer; quantiles since the last scrape.",
    );
    for (const [quantile, seconds] of quantiles)
      lines.push(
        `${delay}${labelText({ quantile: String(quantile) })} ${seconds}`,
      );
    lines.push(`${delay}_sum ${sumSeconds}`, `${delay}_count ${count}`);
    head(
      "orbit_event_loop_delay_max_seconds",
      "gauge",
      "The longest delay of the event loop since the last scrape.",
    );
    lines.push(`orbit_event_loop_delay_max_seconds ${maxSeconds}`);
    head(
      "orbit_event_loop_held_total",
      "counter",
      "Requests that held the event loop longer than 50 ms at a time; each is logged with its path.",
    );
    lines.push(`orbit_event_loop_held_total ${loopWatch.held}`);
  }

  #storage(lines: string[], head: MetricHead): void {
    const { registry, databaseBytes, countObjects, listenerFailures } =
      this.sources;
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
    head(
      "orbit_listener_failures_total",
      "counter",
      "Listeners of the store and the watch cache that failed on an event.",
    );
    lines.push(`orbit_listener_failures_total ${listenerFailures()}`);
    if (!countObjects) return;
    head("apiserver_storage_objects", "gauge", "Stored objects.");
    for (const kind of registry.storedKinds())
      lines.push(
        `apiserver_storage_objects${labelText({ resource: kind.group === "" ? kind.resource : `${kind.resource}.${kind.group}` })} ${kind.cache.size}`,
      );
  }

  #audit(lines: string[], head: MetricHead): void {
    const { audit } = this.sources;
    head("apiserver_audit_event_total", "counter", "Audit events.");
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
      lines.push(`apiserver_audit_level_total${labelText({ level })} ${count}`);
  }
}

async function load(): Promise<{ process: MetricsRegistry }> {
  const { Registry: PromRegistry, collectDefaultMetrics } =
    await import("prom-client");
  const process = new PromRegistry();
  collectDefaultMetrics({ register: process });
  return { process };
}
