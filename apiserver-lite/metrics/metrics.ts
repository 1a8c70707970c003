// /metrics with the reference's names. Requests are only counted in plain maps, so that a server without scrapes pays
// next to nothing; a scrape makes the text, in slices of time, and scrapes that come meanwhile share the next one.
import { Family, metricsParts } from "../../api/metrics/family.ts";
import { qualifiedResource } from "../../api/object.ts";
import type { MetricsFilter } from "../../api/metrics/filter.ts";
import { processFamilies } from "../../http-kit/process-metrics.ts";
import type { AuditCounts } from "../audit/auditor.ts";
import { metricsType } from "../health/health.ts";
import type { Observer } from "../request/observer.ts";
import type { PathHandler } from "../serving/path-handler.ts";
import type { RequestInfo } from "../request/request-info.ts";
import type { LoopWatch, LoopWork } from "../loop/loop-watch.ts";
import type { Registry } from "../registry/registry.ts";
import { AccessMetrics } from "./access-metrics.ts";
import { cacheFamilies } from "./cache-families.ts";
import { RequestMetrics } from "./request-metrics.ts";
import { SharedRuns } from "./shared-runs.ts";

interface MetricsSources {
  readonly registry: Registry;
  /** Does another server answer it? */
  readonly isElsewhere: (info: RequestInfo) => boolean;
  readonly inFlight: () => { readOnly: number; mutating: number };
  readonly inQueue: () => { readOnly: number; mutating: number };
  /** Of the store; undefined when it is not known. */
  readonly databaseBytes: () => number | undefined;
  readonly countObjects: boolean;
  /** Of the store and the watch cache: how often one threw. */
  readonly listenerFailures: () => number;
  /** TLS handshakes that failed. */
  readonly handshakeErrors: () => number;
  readonly audit: AuditCounts | undefined;
  readonly loopWatch: LoopWatch;
  /** What else belongs to the process. */
  readonly more: () => readonly Family[];
  /** What of it is shown. */
  readonly filter?: MetricsFilter | undefined;
}

export class Metrics implements Observer {
  readonly access = new AccessMetrics();
  readonly #requests: RequestMetrics;
  readonly #scrapes = new SharedRuns<Buffer>();

  constructor(private readonly sources: MetricsSources) {
    const { registry, isElsewhere } = sources;
    this.#requests = new RequestMetrics(
      (info) => {
        const { group, version, resource, subresource } = info;
        const endpoint = registry.endpoint(group, version, resource);
        if (!endpoint) return isElsewhere(info);
        return subresource === "" || endpoint.has(subresource);
      },
      ({ group, version, resource }) =>
        (group === "" && resource === "componentstatuses") ||
        (registry.endpoint(group, version, resource)?.warnings.length ?? 0) > 0,
    );
    registry.kinds.onChange((changed) => {
      for (const { group, version, resource } of changed)
        if (!registry.endpoint(group, version, resource)) {
          this.#requests.forget(group, version, resource);
          if (!registry.kinds.kind(group, resource))
            for (const each of [
              registry.storeTimes,
              registry.listStreams,
              registry.bodySizes,
            ])
              each.forget({ group, resource });
        }
    });
  }

  finished(
    info: RequestInfo,
    _method: string,
    status: number,
    startedMs: number,
    sentBytes?: number,
  ): void {
    this.#requests.finished(info, status, startedMs, sentBytes);
  }

  terminated(info: RequestInfo, status: number): void {
    this.#requests.terminated(info, status);
  }

  began(info: RequestInfo): (() => void) | undefined {
    return this.#requests.began(info);
  }

  paths(): PathHandler[] {
    return [
      {
        path: "/metrics",
        handle: async (request) => {
          const text = await this.#scrapes.ask(() =>
            this.#text(request.exchange),
          );
          // Encrypting it takes its time as well.
          await this.sources.registry.slices.next(request.exchange);
          request.respond(200, { "content-type": metricsType }, text);
        },
      },
    ];
  }

  async #text(who: LoopWork): Promise<Buffer> {
    const { filter, registry } = this.sources;
    const { slices } = registry;
    const ofProcess = await processFamilies();
    await slices.next(who);
    const families = [
      ...this.#families(),
      ...this.sources.more(),
      ...ofProcess,
    ];
    const parts: Buffer[] = [];
    for (const part of metricsParts(filter?.(families) ?? families)) {
      parts.push(Buffer.from(part));
      if (slices.over) await slices.next(who);
    }
    return Buffer.concat(parts);
  }

  #families(): Family[] {
    const { registry } = this.sources;
    const inFlight = this.sources.inFlight();
    const inQueue = this.sources.inQueue();
    return [
      ...this.#requests.families(),
      new Family(
        "apiserver_current_inflight_requests",
        "gauge",
        "Requests being answered.",
      )
        .add({ request_kind: "mutating" }, inFlight.mutating)
        .add({ request_kind: "readOnly" }, inFlight.readOnly),
      new Family(
        "apiserver_current_inqueue_requests",
        "gauge",
        "Requests waiting for their turn.",
      )
        .add({ request_kind: "mutating" }, inQueue.mutating)
        .add({ request_kind: "readOnly" }, inQueue.readOnly),
      new Family(
        "apiserver_tls_handshake_errors_total",
        "counter",
        "TLS handshakes that failed.",
      ).add({}, this.sources.handshakeErrors()),
      ...this.#loopFamilies(),
      ...this.#storageFamilies(),
      ...cacheFamilies(registry.storedKinds(), registry.cache.revision),
      ...this.#auditFamilies(),
      ...this.access.families(),
      registry.bodySizes.family(),
      ...registry.admissionMetrics.families(),
      ...registry.ruleTimes.families(),
      ...registry.storeTimes.families(),
      registry.listStreams.family(),
    ];
  }

  #loopFamilies(): Family[] {
    const { loopWatch } = this.sources;
    const { quantiles, maxSeconds, sumSeconds, count } = loopWatch.takeDelay();
    const delay = new Family(
      "orbit_event_loop_delay_seconds",
      "summary",
      "How late the event loop ran its timer; quantiles since the last scrape.",
    );
    for (const [quantile, seconds] of quantiles)
      delay.add({ quantile: String(quantile) }, seconds);
    return [
      delay.addTotals({}, sumSeconds, count),
      new Family(
        "orbit_event_loop_delay_max_seconds",
        "gauge",
        "The longest delay of the event loop since the last scrape.",
      ).add({}, maxSeconds),
      new Family(
        "orbit_event_loop_held_total",
        "counter",
        "Requests that held the event loop longer than 50 ms at a time; they are logged with their paths, ten at once and one each ten seconds.",
      ).add({}, loopWatch.held),
    ];
  }

  #storageFamilies(): Family[] {
    const { registry, databaseBytes, countObjects, listenerFailures } =
      this.sources;
    const objects = new Family(
      "apiserver_storage_objects",
      "gauge",
      "Stored objects.",
    );
    if (countObjects)
      for (const { group, resource, cache } of registry.storedKinds())
        objects.add(
          { resource: qualifiedResource({ group, resource }) },
          cache.size,
        );
    return [
      new Family(
        "apiserver_storage_size_bytes",
        "gauge",
        "Bytes the storage's database takes on the disk.",
      ).add({ storage_cluster_id: "etcd-0" }, databaseBytes()),
      new Family(
        "orbit_listener_failures_total",
        "counter",
        "Listeners of the store and the watch cache that failed on an event.",
      ).add({}, listenerFailures()),
      objects,
    ];
  }

  #auditFamilies(): Family[] {
    const { audit } = this.sources;
    const levels = new Family(
      "apiserver_audit_level_total",
      "counter",
      "Audited requests by policy level.",
    );
    for (const [level, count] of audit?.levels ?? [])
      levels.add({ level }, count);
    return [
      new Family("apiserver_audit_event_total", "counter", "Audit events.").add(
        {},
        audit?.events ?? 0,
      ),
      new Family(
        "apiserver_audit_requests_rejected_total",
        "counter",
        "Requests rejected because their audit event could not be recorded.",
      ).add({}, audit?.rejected ?? 0),
      levels,
    ];
  }
}
