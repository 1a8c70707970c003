// What the ingress proxy shows under /metrics. A thread that was started again counts from zero, as a process does.
import { Family } from "../../api/metrics/family.ts";
import { durationBounds, type IngressStatistics } from "./front/statistics.ts";

/** @param statistics undefined: nothing was served yet */
export function ingressFamilies(
  statistics: IngressStatistics | undefined,
  restarts: number,
): Family[] {
  const family = (
    name: string,
    type: "counter" | "gauge",
    help: string,
  ): Family => new Family(`orbit_ingress_${name}`, type, help);
  const restarted = family(
    "restarts_total",
    "counter",
    "How often the proxy's thread ended and was started again.",
  ).add({}, restarts);
  if (!statistics) return [restarted];
  const requests = family(
    "requests_total",
    "counter",
    "Requests, by the object that routed them and the status of their answer; without an object: no route had them.",
  );
  const bytes = family(
    "response_bytes_total",
    "counter",
    "Bytes of answers' bodies, by the object that routed them.",
  );
  for (const owner of Object.values(statistics.owners)) {
    const { kind, namespace, name } = owner;
    for (const [status, count] of Object.entries(owner.responses))
      requests.add({ kind, namespace, name, status }, count);
    bytes.add({ kind, namespace, name }, owner.bytes);
  }
  const failures = family(
    "upstream_failures_total",
    "counter",
    "Attempts that a backend did not answer, by kind.",
  );
  for (const [failure, count] of Object.entries(statistics.upstreamFailures))
    failures.add({ failure }, count);
  const gauge = (name: string, help: string, value: number): Family =>
    family(name, "gauge", help).add({}, value);
  return [
    requests,
    bytes,
    durations(statistics),
    failures,
    family(
      "retries_total",
      "counter",
      "Requests that another endpoint was asked for.",
    ).add({}, statistics.retries),
    family(
      "access_log_dropped_total",
      "counter",
      "Lines that the access log could not take.",
    ).add({}, statistics.accessLogDropped),
    gauge("requests_in_flight", "Requests now.", statistics.requestsUnderWay),
    gauge("connections", "Connections of clients.", statistics.connections),
    gauge("routed_objects", "Objects with routes.", statistics.routes),
    gauge("backends", "Backends of routes.", statistics.backends),
    gauge("certificates", "Certificates in use.", statistics.certificates),
    restarted,
  ];
}

function durations({
  durations: counts,
  durationSum,
}: IngressStatistics): Family {
  const family = new Family(
    "orbit_ingress_request_duration_seconds",
    "histogram",
    "From a request to the end of its answer.",
  );
  let count = 0;
  for (const [at, each] of counts.entries()) {
    count += each;
    family.addSample({
      suffix: "_bucket",
      labels: {
        le: at < durationBounds.length ? String(durationBounds[at]) : "+Inf",
      },
      value: count,
    });
  }
  return family.addTotals({}, durationSum, count);
}
