// What the node agent's ports serve, over its view of itself. Static pods can be named with their uid in the path, as the
// reference does: the uid has to be the pod's (or the mirrored file's).
import type { NodeAgentView } from "../api/contracts.ts";
import { versionInfo } from "../api/facts/version.ts";
import {
  metricsContentType,
  metricsText,
  type Family,
} from "../api/metrics/family.ts";
import type { Pod } from "../api/types/core-v1.ts";
import { HealthResults } from "../http-kit/health-results.ts";
import { HttpError } from "../http-kit/http-error.ts";
import type { PortRequest, PortRoute } from "../http-kit/port.ts";
import { zpages, type ZpageOptions } from "../http-kit/zpages.ts";
import { nodeLogRoutes, type NodeLogOptions } from "./node-logs/node-logs.ts";
import { serveCheckpoint } from "./checkpoint.ts";
import {
  debuggingDisabledRoutes,
  debugRoutes,
  type DebugRouteOptions,
} from "./debug-routes.ts";
import { serveHealth, type HealthCheck } from "./health.ts";
import { serveContainerLogs } from "./logs.ts";
import { cadvisorMetrics } from "./cadvisor.ts";
import { readSummary, resourceMetrics } from "./metrics.ts";
import { inWholeSeconds } from "./summary-times.ts";
import { serveRun } from "./run.ts";
import {
  remoteCommandOptions,
  serveExec,
  servePortForward,
  type StreamServing,
} from "./streams.ts";

interface AgentRoute extends PortRoute {
  /** Also on the read-only port. */
  readonly readOnly?: boolean;
}

export interface AgentRouteOptions extends DebugRouteOptions {
  view: NodeAgentView;
  serving: StreamServing;
  /** Text of /metrics. */
  metrics(): Promise<string>;
  extraChecks?: readonly HealthCheck[];
  /** Default true; false: requests that look into containers or run in them are answered 405. */
  debuggingHandlers?: boolean;
  /** Absent: /logs/ is not served. */
  logs?: NodeLogOptions;
  /** /flagz and /statusz; default: none. */
  zpages?: ZpageOptions;
  /** Standard output and error can be read alone (gate PodLogsQuerySplitStreams). */
  logStreams?: boolean;
  /** Containers can be checkpointed (gate ContainerCheckpoint). */
  checkpoints?: boolean;
}

/** kubelet's annotation that ties a mirror pod to the static pod's hash, which is its uid there. */
const mirrorAnnotation = "kubernetes.io/config.mirror";
const hashAnnotation = "kubernetes.io/config.hash";

function podList(pods: readonly Pod[]): object {
  return { kind: "PodList", apiVersion: "v1", metadata: {}, items: pods };
}

function answerMetrics(
  request: PortRequest,
  families: readonly Family[],
): void {
  request.answer(200, metricsContentType, metricsText(families));
}

/** The pod of the path; 404 when the node has none of that name (and uid). */
function podOf(
  view: NodeAgentView,
  { namespace, pod, uid }: Readonly<Record<string, string>>,
): { name: string; namespace: string; uid: string } {
  const found = view.pod(namespace!, pod!);
  const annotations = found?.metadata.annotations ?? {};
  const uids = [
    found?.metadata.uid,
    annotations[mirrorAnnotation],
    annotations[hashAnnotation],
  ];
  if (found === undefined || (uid !== undefined && !uids.includes(uid)))
    throw new HttpError(404, "pod does not exist");
  return { name: pod!, namespace: namespace!, uid: found.metadata.uid ?? "" };
}

export function agentHealthChecks(
  view: NodeAgentView,
  extra: readonly HealthCheck[] = [],
): HealthCheck[] {
  return [
    { name: "ping", check: () => Promise.resolve() },
    { name: "log", check: () => Promise.resolve() },
    { name: "syncloop", check: () => view.healthy() },
    ...extra,
  ];
}

export function healthRoutes(
  checks: readonly HealthCheck[],
  results: HealthResults,
): AgentRoute[] {
  return [
    {
      methods: ["GET"],
      pattern: "/healthz",
      readOnly: true,
      serve: (request) => serveHealth(request, checks, results, undefined),
    },
    {
      methods: ["GET"],
      pattern: "/healthz/{check}",
      readOnly: true,
      serve: (request) =>
        serveHealth(request, checks, results, request.parameters["check"]),
    },
  ];
}

/** What a node without an API server has beside its pods, and the deletion of pods there; the reference has no such paths. */
function directoryRoutes({ directory }: NodeAgentView): AgentRoute[] {
  if (!directory) return [];
  return [
    {
      methods: get,
      pattern: "/directory/{resource}",
      serve(request) {
        const { resource } = request.parameters;
        const items = directory.objects(resource!);
        if (!items) throw new HttpError(404, "404 page not found\n");
        request.json({ kind: "List", apiVersion: "v1", metadata: {}, items });
      },
    },
    {
      methods: ["DELETE"],
      pattern: "/pods/{namespace}/{pod}",
      async serve(request) {
        const { namespace, pod } = request.parameters;
        await directory.deletePod(namespace!, pod!);
        request.json({ kind: "Status", apiVersion: "v1", status: "Success" });
      },
    },
  ];
}

const get = ["GET"];
const stream = ["GET", "POST"];

export function agentRoutes(options: AgentRouteOptions): AgentRoute[] {
  const { view } = options;
  const results = new HealthResults();
  return [
    ...podRoutes(view),
    ...directoryRoutes(view),
    ...metricRoutes(options),
    // The reference's agent reports its version in /metrics and its Node alone.
    {
      methods: get,
      pattern: "/version",
      serve: (request) => request.json(versionInfo),
    },
    ...healthRoutes(agentHealthChecks(view, options.extraChecks), results),
    {
      methods: get,
      pattern: "/metrics/slis",
      readOnly: true,
      serve: (request) => answerMetrics(request, results.families()),
    },
    ...(options.zpages ? zpages(options.zpages) : []).map((page) => ({
      methods: get,
      pattern: page.path,
      serve: ({ exchange }: PortRequest) => page.serve(exchange),
    })),
    ...(options.debuggingHandlers === false
      ? debuggingDisabledRoutes()
      : debuggingRoutes(options)),
    {
      methods: get,
      pattern: "/",
      serve: (request) => request.text("404 page not found\n", 404),
    },
  ];
}

/** What is there with the debugging handlers alone, as at the reference. */
function debuggingRoutes(options: AgentRouteOptions): AgentRoute[] {
  const { view } = options;
  return [
    {
      methods: get,
      pattern: "/configz",
      serve: (request) => request.json({ kubeletconfig: view.config() }),
    },
    {
      methods: get,
      pattern: "/runningpods/?",
      serve: async (request) => request.json(podList(await view.runningPods())),
    },
    ...containerRoutes(options),
    ...(options.checkpoints ? checkpointRoutes(view) : []),
    ...(options.logs ? nodeLogRoutes(options.logs) : []),
    ...debugRoutes(options),
  ];
}

function podRoutes(view: NodeAgentView): AgentRoute[] {
  const summary = async (request: PortRequest): Promise<void> =>
    request.json(
      inWholeSeconds(
        await view.statsSummary(
          /^(1|t|true)$/i.test(request.query.get("only_cpu_and_memory") ?? ""),
        ),
      ),
    );

  return [
    {
      methods: get,
      pattern: "/pods/?",
      readOnly: true,
      serve: (request) => request.json(podList(view.pods())),
    },
    { methods: get, pattern: "/stats/?", readOnly: true, serve: summary },
    {
      methods: ["GET", "POST"],
      pattern: "/stats/summary",
      readOnly: true,
      serve: summary,
    },
  ];
}

function metricRoutes({ view, metrics }: AgentRouteOptions): AgentRoute[] {
  return [
    {
      methods: get,
      pattern: "/metrics",
      readOnly: true,
      serve: async (request) =>
        request.answer(200, metricsContentType, await metrics()),
    },
    {
      methods: get,
      pattern: "/metrics/resource",
      readOnly: true,
      serve: async (request) => {
        const { summary, failed } = await readSummary(view);
        answerMetrics(request, resourceMetrics(summary, failed));
      },
    },
    {
      methods: get,
      pattern: "/metrics/cadvisor",
      readOnly: true,
      serve: async (request) =>
        answerMetrics(
          request,
          cadvisorMetrics(
            await view.containerFigures(),
            await view.machineFigures(),
          ),
        ),
    },
    {
      methods: get,
      pattern: "/metrics/probes",
      readOnly: true,
      serve: (request) => answerMetrics(request, view.probeMetrics()),
    },
  ];
}

/** What looks into containers or runs in them. */
function containerRoutes(options: AgentRouteOptions): AgentRoute[] {
  const { view, serving, logStreams = false } = options;

  async function exec(request: PortRequest): Promise<void> {
    const { parameters, query } = request;
    const pod = podOf(view, parameters);
    const container = parameters["container"]!;
    const streams = remoteCommandOptions(query);
    const command = query.getAll("command");
    if (command.length === 0)
      throw new HttpError(400, "you must specify a command");
    await serveExec(
      request,
      serving,
      streams,
      () =>
        view.exec(pod.namespace, pod.name, { container, command, ...streams }),
      "executing command in container",
    );
  }

  async function attach(request: PortRequest): Promise<void> {
    const pod = podOf(view, request.parameters);
    const container = request.parameters["container"]!;
    const streams = remoteCommandOptions(request.query);
    const open = (): ReturnType<NodeAgentView["attach"]> =>
      view.attach(pod.namespace, pod.name, { container, ...streams });
    await serveExec(request, serving, streams, open, "attaching to container");
  }

  async function portForward(request: PortRequest): Promise<void> {
    const pod = podOf(view, request.parameters);
    await servePortForward(request, serving, {
      connect: (port) => view.portForward(pod.namespace, pod.name, port),
      clock: serving.clock,
      pod: `${pod.name}_${pod.namespace}`,
      uid: pod.uid,
    });
  }

  return [
    {
      methods: get,
      pattern: "/containerLogs/{namespace}/{pod}/{container}",
      serve: (request) => serveContainerLogs(request, view, logStreams),
    },
    {
      methods: stream,
      pattern: "/exec/{namespace}/{pod}/{container}",
      serve: exec,
    },
    {
      methods: stream,
      pattern: "/exec/{namespace}/{pod}/{uid}/{container}",
      serve: exec,
    },
    {
      methods: stream,
      pattern: "/attach/{namespace}/{pod}/{container}",
      serve: attach,
    },
    {
      methods: stream,
      pattern: "/attach/{namespace}/{pod}/{uid}/{container}",
      serve: attach,
    },
    {
      methods: stream,
      pattern: "/portForward/{namespace}/{pod}",
      serve: portForward,
    },
    {
      methods: stream,
      pattern: "/portForward/{namespace}/{pod}/{uid}",
      serve: portForward,
    },
    {
      methods: ["POST"],
      pattern: "/run/{namespace}/{pod}/{container}",
      serve: (request) => {
        podOf(view, request.parameters);
        return serveRun(request, view);
      },
    },
    {
      methods: ["POST"],
      pattern: "/run/{namespace}/{pod}/{uid}/{container}",
      serve: (request) => {
        podOf(view, request.parameters);
        return serveRun(request, view);
      },
    },
  ];
}

function checkpointRoutes(view: NodeAgentView): AgentRoute[] {
  return [
    {
      methods: ["POST"],
      pattern: "/checkpoint/{namespace}/{pod}/{container}",
      serve: (request) => serveCheckpoint(request, view),
    },
  ];
}
