// What /metrics of the agent's port says of the requests it served and of the pods it knows, in the reference's names.
import { trimEnd } from "../api/patterns/trim.ts";
import type { NodeAgentView } from "../api/contracts.ts";
import { usualSeconds } from "../api/metrics/counted.ts";
import { Family } from "../api/metrics/family.ts";
import { Histogram } from "../api/metrics/histogram.ts";

interface RequestMetrics {
  /** Call at a request's begin; the returned function at its end. */
  begin(method: string, pattern: string, server: string): () => void;
  /** Those of the requests and of the node's pods. */
  families(): Family[];
}

interface Series {
  labels: Record<string, string>;
  count: number;
  inFlight: number;
  readonly took: Histogram;
}

/** Methods and patterns are few; more than this means a bug, and is not counted. */
const maxSeries = 500;
const longRunning =
  /^\/(exec|attach|portForward|run|containerLogs|logs|debug)\//;

/** `/exec/{namespace}/…` is counted as `exec`, as at the reference. */
function pathLabel(pattern: string): string {
  return trimEnd(pattern.split("{", 1)[0]!, "/?").replace(/^\//, "") || "root";
}

export function createRequestMetrics(view: NodeAgentView): RequestMetrics {
  const series = new Map<string, Series>();

  function seriesOf(
    method: string,
    pattern: string,
    server: string,
  ): Series | undefined {
    const key = `${server} ${method} ${pattern}`;
    const found = series.get(key);
    if (found !== undefined || series.size >= maxSeries) return found;
    const labels = {
      long_running: String(longRunning.test(pattern)),
      method,
      path: pathLabel(pattern),
      server_type: server,
    };
    const made = {
      labels,
      count: 0,
      inFlight: 0,
      took: new Histogram(usualSeconds),
    };
    series.set(key, made);
    return made;
  }

  return {
    begin(method, pattern, server) {
      const one = seriesOf(method, pattern, server);
      if (one === undefined) return () => undefined;
      const start = performance.now();
      one.count++;
      one.inFlight++;
      return () => {
        one.inFlight--;
        one.took.observe((performance.now() - start) / 1000);
      };
    },

    families() {
      const requests = new Family(
        "kubelet_http_requests_total",
        "counter",
        "[ALPHA] Number of the http requests received since the server started",
      );
      const inFlight = new Family(
        "kubelet_http_inflight_requests",
        "gauge",
        "[ALPHA] Number of the inflight http requests",
      );
      const spent = new Family(
        "kubelet_http_requests_duration_seconds",
        "histogram",
        "[ALPHA] Duration in seconds to serve http requests",
      );
      for (const one of series.values()) {
        requests.add(one.labels, one.count);
        inFlight.add(one.labels, one.inFlight);
        if (one.took.count > 0) spent.addHistogram(one.labels, one.took);
      }
      return [requests, inFlight, spent, ...podFamilies(view)];
    },
  };
}

/** What runs on the node, and what was ended for its sake. */
function podFamilies(view: NodeAgentView): Family[] {
  const name = new Family(
    "kubelet_node_name",
    "gauge",
    "[ALPHA] The node's name. The count is always 1.",
  );
  name.add({ node: view.nodeName }, 1);
  const runningPods = new Family(
    "kubelet_running_pods",
    "gauge",
    "[ALPHA] Number of pods that have a running pod sandbox",
  );
  const containers = new Family(
    "kubelet_running_containers",
    "gauge",
    "[ALPHA] Number of containers currently running",
  );
  const pods = view.pods();
  runningPods.add(
    {},
    pods.filter(({ status }) => status?.phase === "Running").length,
  );
  const states = { created: 0, running: 0, exited: 0 };
  for (const { status } of pods)
    for (const { state } of [
      ...(status?.initContainerStatuses ?? []),
      ...(status?.containerStatuses ?? []),
    ])
      if (state?.running !== undefined) states.running++;
      else if (state?.terminated !== undefined) states.exited++;
      else states.created++;
  for (const [state, count] of Object.entries(states))
    containers.add({ container_state: state }, count);
  const evictions = new Family(
    "kubelet_evictions",
    "counter",
    "[ALPHA] Cumulative number of pod evictions by eviction signal",
  );
  for (const [signal, count] of view.evictions())
    evictions.add({ eviction_signal: signal }, count);
  return [name, runningPods, containers, evictions, ...view.metrics()];
}
